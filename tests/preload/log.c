/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text log: its lines, the file they go to, and that the program is not
   disturbed. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "files/logalloc.h"
#include "watch.h"

/* ---- a directory for logs ---- */

static char scratch[] = "/tmp/memtop-log-XXXXXX";

static int
make_scratch(void **state)
{
    (void)state;
    return mkdtemp(scratch) != NULL ? 0 : -1;
}

static int
remove_scratch(void **state)
{
    (void)state;
    return rmdir(scratch);
}

static const char *
in_scratch(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", scratch, name);
    return path;
}

static void
enter_scratch(void)
{
    if (chdir(scratch) < 0)
        _exit(98);
}

/* Reads the whole file and removes it; "" if there is none. */
static char *
take_file(const char *name)
{
    FILE *file = fopen(in_scratch(name), "r");
    char *text = NULL;
    size_t size = 0;

    if (file == NULL)
        return strdup("");
    if (getdelim(&text, &size, '\0', file) < 0) {
        free(text);
        text = strdup("");
    }
    fclose(file);
    unlink(in_scratch(name));
    return text;
}

/* Runs a case with the log in TARGET; the program must not notice. */
static void
run(char *name, char *target, void (*prepare)(void), struct watched *what)
{
    char variable[160];
    const struct preload_watch how = {
        .argv = WATCH_ARGV("log.run", name),
        .environment = (char *[]){variable, NULL},
        .prepare = prepare,
    };

    snprintf(variable, sizeof variable, "MALLOC_LOG=%s", target);
    watch_run(&how, what);
    watch_assert_success(what);
    assert_string_equal("", what->err);
}

/* Checks the error that ended the log, as the segment gives it; 0 if there was none. */
static void
ended_by(struct watched *what, int error)
{
    assert_int_equal(error, watch_last(what)->log_error);
    watch_free(what);
}

/* ---- the lines ---- */

static const char *
next_line(const char **text, struct logalloc_line *line)
{
    const char *start = *text, *end = strchr(start, '\n');

    if (*start == '\0')
        return NULL;
    assert_non_null(end);
    if (logalloc_parse(start, (size_t)(end - start), LOGALLOC_RAW, line) != LOGALLOC_GOOD)
        fail_msg("not a line: %.*s", (int)(end - start), start);
    *text = end + 1;
    return start;
}

static size_t
count_lines(const char *text)
{
    struct logalloc_line line;
    size_t count = 0;

    while (next_line(&text, &line) != NULL)
        count++;
    return count;
}

/* The calls, with p for an address and 0 for NULL. */
static char *
without_numbers(const char *text)
{
    char *result = NULL;
    size_t size;
    FILE *out = open_memstream(&result, &size);
    struct logalloc_line line;
    const char *start;

    while ((start = next_line(&text, &line)) != NULL) {
        char formatted[LOGALLOC_LINE_MAX];
        size_t length = logalloc_format(formatted, LOGALLOC_RAW, &line);

        assert_memory_equal(start, formatted, length);
        line.block = line.block != 0 ? 0xb : 0;
        line.result = line.result != 0 ? 0xb : 0;
        assert_int_equal(line.pid, line.tid);
        line.pid = line.tid = 1;
        logalloc_format(formatted, LOGALLOC_RAW, &line);
        fputs(formatted + strlen("1 1 "), out);
    }
    fclose(out);
    return result;
}

#define TOO_MUCH "9223372036854775808"
#define FREED "free(0xb)\n"
#define BEGINNING                                                                        \
    "malloc(11)=0xb\n"                                                                   \
    "realloc(0xb,2000)=0xb\n" FREED "calloc(3,13)=0xb\n" FREED
#define END                                                                              \
    "jemalloc_stats()\n"                                                                 \
    "realloc(0x0,18)=0xb\n" FREED "malloc(19)=0xb\n"                                     \
    "realloc(0xb," TOO_MUCH ")=0x0\n"                                                    \
    "realloc(0xb,0)=0x0\n"                                                               \
    "free(0x0)\n"                                                                        \
    "malloc(" TOO_MUCH ")=0x0\n"                                                         \
    "calloc(" TOO_MUCH ",2)=0x0\n"                                                       \
    "realloc(0x0,20)=0xb\n" FREED

static void
test_lines(void **state)
{
    const long page = sysconf(_SC_PAGESIZE);
    char *log, *calls, *expected;
    struct watched what;

    (void)state;
    run((char *)"every", (char *)"log", enter_scratch, &what);
    watch_free(&what);
    log = take_file("log");
    calls = without_numbers(log);
    assert_true(asprintf(&expected,
                         BEGINNING "posix_memalign(64,14)=0xb\n" FREED
                                   "memalign(128,15)=0xb\n" FREED
                                   "aligned_alloc(256,256)=0xb\n" FREED
                                   "valloc(16)=0xb\n" FREED "valloc(%ld)=0xb\n" FREED END,
                         page)
                > 0);
    assert_string_equal(expected, calls);
    free(expected);
    free(calls);
    free(log);
}

static void
test_minimal(void **state)
{
    const long page = sysconf(_SC_PAGESIZE);
    const struct preload_watch how = {
        .argv = WATCH_ARGV("log.run", "every"),
        .environment = (char *[]){"MALLOC_LOG=log", "MALLOC_LOG_MINIMAL=", NULL},
        .prepare = enter_scratch,
    };
    char *log, *calls, *expected;
    struct watched what;

    (void)state;
    watch_run(&how, &what);
    watch_assert_success(&what);
    watch_free(&what);
    log = take_file("log");
    calls = without_numbers(log);
    assert_true(asprintf(&expected,
                         BEGINNING "memalign(64,14)=0xb\n" FREED
                                   "memalign(128,15)=0xb\n" FREED
                                   "memalign(256,256)=0xb\n" FREED
                                   "memalign(%ld,16)=0xb\n" FREED
                                   "memalign(%ld,%ld)=0xb\n" FREED END,
                         page, page, page)
                > 0);
    assert_string_equal(expected, calls);
    free(expected);
    free(calls);
    free(log);
}

/* The log is the same in a dormant process, with usable sizes, and with rings. */
static void
test_whatever_is_counted(void **state)
{
    static const char *const options[] = {"accounting=usable", "dormant", "exact,mmap",
                                          "rings=4096,drop"};
    char *environment[] = {"MALLOC_LOG=log", "MEMUSAGE_PROG_NAME=another", NULL};
    struct preload_watch how = {.argv = WATCH_ARGV("log.run", "work"),
                                .prepare = enter_scratch};
    struct watched what;

    (void)state;
    for (size_t i = 0; i <= sizeof options / sizeof *options; i++) {
        bool counted = i < sizeof options / sizeof *options;
        how.options = counted ? options[i] : "";
        how.environment = counted ? (char *[]){"MALLOC_LOG=log", NULL} : environment;
        watch_run(&how, &what);
        watch_assert_success(&what);
        if (counted)
            assert_true(watch_last(&what)->snapshot.calls[FN_REALLOC] >= 1000);
        watch_free(&what);
        char *log = take_file("log");
        assert_int_equal(3000, count_lines(log));
        free(log);
    }
}

/* ---- where the lines go ---- */

/* Opens files of that name as descriptors 3 and 2. */
static void
open_three(void)
{
    enter_scratch();
    int fd = open("three", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || dup2(fd, 3) != 3)
        _exit(98);
}

static void
test_targets(void **state)
{
    static const struct {
        char *target;
        const char *file;
        size_t lines;
        int error;
    } cases[] = {
        {"3", "three", 3000, 0}, {"00003", "three", 3000, 0},
        {"0", "0", 0, 0},        {"000", "000", 0, 0},
        {"", "three", 0, 0},     {"10000", "10000", 3000, 0},
        {"3x", "3x", 3000, 0},   {"9999", "9999", 0, EBADF},
        {"-1", "-1", 3000, 0},   {"none/such", "none", 0, ENOENT},
    };
    struct watched what;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        print_message("  MALLOC_LOG=%s\n", cases[i].target);
        run((char *)"work", cases[i].target, open_three, &what);
        ended_by(&what, cases[i].error);
        char *log = take_file(cases[i].file);
        assert_int_equal(cases[i].lines, count_lines(log));
        free(log);
        unlink(in_scratch("three"));
    }
}

static void
test_appended(void **state)
{
    struct watched what;
    struct stat st;

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        run((char *)"work", (char *)"log", enter_scratch, &what);
        watch_free(&what);
    }
    assert_int_equal(0, stat(in_scratch("log"), &st));
    assert_int_equal(0, st.st_mode & 0133);
    char *log = take_file("log");
    assert_int_equal(6000, count_lines(log));
    free(log);
}

static void
test_standard_output(void **state)
{
    struct watched what;

    (void)state;
    run((char *)"work", (char *)"1", NULL, &what);
    assert_int_equal(3000, count_lines(what.out));
    watch_free(&what);
}

/* ---- many at once ---- */

struct log_block {
    uint64_t pid, address;
};

static struct log_block blocks[1u << 16];

/* Returns the element of a block, or the free element where it belongs. */
static struct log_block *
find(uint64_t pid, uint64_t address)
{
    size_t at = (pid * 31 + (address >> 4)) * UINT64_C(0x9e3779b97f4a7c15) >> 48;

    while (blocks[at].pid != 0
           && (blocks[at].pid != pid || (blocks[at].address | 1) != (address | 1)))
        at = (at + 1) % (sizeof blocks / sizeof *blocks);
    return &blocks[at];
}

/* A freed block keeps its element, with an odd address. */
static bool
is_live(const struct log_block *block)
{
    return block->pid != 0 && (block->address & 1) == 0;
}

static void
follow(const struct logalloc_line *line)
{
    struct log_block *block;

    if (logalloc_takes_block(line->call) && line->block != 0
        && is_live(block = find(line->pid, line->block)))
        block->address |= 1;
    if (!line->has_result || line->result == 0)
        return;
    block = find(line->pid, line->result);
    if (is_live(block))
        fail_msg("%#llx was handed out twice", (unsigned long long)line->result);
    *block = (struct log_block){line->pid, line->result};
}

static void
test_crowd(void **state)
{
    uint64_t first = 0, tids = 0, last = 0;
    struct logalloc_line line;
    struct watched what;
    size_t others = 0;

    (void)state;
    memset(blocks, 0, sizeof blocks);
    run((char *)"crowd", (char *)"log", enter_scratch, &what);
    watch_free(&what);
    char *log = take_file("log");
    for (const char *text = log; next_line(&text, &line) != NULL;) {
        follow(&line);
        if (first == 0)
            first = line.pid;
        others += line.pid != first;
        tids += line.tid != last;
        last = line.tid;
    }
    assert_true(others > 8 * 3000);
    assert_true(tids > 16);
    assert_true(count_lines(log) - others > 8 * 3000);
    free(log);
}

/* ---- the program does not notice ---- */

static void
test_descriptors(void **state)
{
    struct watched what;
    char *log;

    (void)state;
    run((char *)"descriptors_taken", (char *)"log", enter_scratch, &what);
    ended_by(&what, EBADF);
    log = take_file("log");
    assert_int_equal(3000, count_lines(log));
    free(log);
    unlink(in_scratch("own"));
}

static void
test_vforked(void **state)
{
    struct watched what;
    char *log;

    (void)state;
    run((char *)"vforked", (char *)"log", enter_scratch, &what);
    ended_by(&what, 0);
    log = take_file("log");
    assert_int_equal(6000, count_lines(log));
    free(log);
}

static void
test_redirected(void **state)
{
    struct watched what;

    (void)state;
    run((char *)"output_redirected", (char *)"1", enter_scratch, &what);
    assert_int_equal(6000, count_lines(what.out));
    watch_free(&what);
    unlink(in_scratch("own"));
}

/* Makes descriptor 9 a pipe that nobody reads. */
static void
break_pipe(void)
{
    int ends[2];

    if (pipe(ends) < 0 || dup2(ends[1], 9) != 9)
        _exit(98);
    close(ends[0]);
    close(ends[1]);
}

static void
full_device(void)
{
    int fd = open("/dev/full", O_WRONLY);

    if (fd < 0 || dup2(fd, 9) != 9)
        _exit(98);
}

/* Makes descriptor 9 a small pipe that does not block; a slow reader copies it to a
   file. */
static void
narrow_pipe(void)
{
    int ends[2];

    enter_scratch();
    if (pipe2(ends, O_CLOEXEC) < 0 || dup2(ends[1], 9) != 9)
        _exit(98);
    fcntl(9, F_SETPIPE_SZ, 4096);
    fcntl(9, F_SETFL, O_NONBLOCK);
    if (fork() == 0) {
        /* The test waits until all holders of its standard output have ended, this
           reader among them. */
        close(9);
        dup2(ends[0], 0);
        execlp("dd", "dd", "bs=64", "status=none", "of=log", NULL);
        _exit(98);
    }
}

static void
test_unwritable(void **state)
{
    struct watched what;

    (void)state;
    run((char *)"unwritable", (char *)"9", break_pipe, &what);
    ended_by(&what, EPIPE);
    run((char *)"unwritable", (char *)"/dev/full", full_device, &what);
    ended_by(&what, ENOSPC);
    run((char *)"pending", (char *)"9", break_pipe, &what);
    ended_by(&what, EPIPE);
}

static void
test_file_limit(void **state)
{
    struct watched what;
    struct stat st;

    (void)state;
    run((char *)"limited", (char *)"log", enter_scratch, &what);
    ended_by(&what, EFBIG);
    assert_int_equal(0, stat(in_scratch("log"), &st));
    assert_int_equal(10000, st.st_size);
    unlink(in_scratch("log"));
}

static void
test_full_pipe(void **state)
{
    struct watched what;

    (void)state;
    run((char *)"work", (char *)"9", narrow_pipe, &what);
    ended_by(&what, 0);
    char *log = take_file("log");
    assert_int_equal(3000, count_lines(log));
    free(log);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_minimal),
        cmocka_unit_test(test_whatever_is_counted),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_appended),
        cmocka_unit_test(test_standard_output),
        cmocka_unit_test(test_crowd),
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_vforked),
        cmocka_unit_test(test_redirected),
        cmocka_unit_test(test_unwritable),
        cmocka_unit_test(test_file_limit),
        cmocka_unit_test(test_full_pipe),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
