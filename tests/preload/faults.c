/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that lack memory or are in danger: filters that kill, limits, SIGKILL at any
 * moment, other libraries that interfere.  They must behave as they do without the
 * library.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "segment/names.h"
#include "watch.h"

/* ---- a filter that kills ---- */

static void
test_filter_alone(void **state)
{
    struct watched what;

    (void)state;
    if (!watch_possible(NULL, "sandbox.run", "alone"))
        skip();
    watch_case("sandbox.run", "alone", "", &what);
    assert_int_equal(watch_number(&what, "pairs"),
                     watch_last(&what)->snapshot.calls[FN_MALLOC]);
    assert_int_equal(SEGMENT_EXITED, watch_last(&what)->identity.state);
    assert_true(watch_last(&what)->recorded_count >= 1);
    watch_free(&what);
}

/* A filter that is not announced by prctl(): allocation goes on without system calls;
   exit(), new threads and new processes do not work (libmemtop(7)). */
static void
test_filter_raw(void **state)
{
    struct watched what;

    (void)state;
    if (!watch_possible(NULL, "sandbox.run", "raw") || watch_mode("log")) /* the log
                                                                             makes system
                                                                             calls */
        skip();
    watch_case("sandbox.run", "raw", "", &what);
    assert_int_equal(1000 + watch_number(&what, "pairs"),
                     watch_last(&what)->snapshot.calls[FN_MALLOC]);
    watch_free(&what);
}

/* Threads that start later share a shard, and are counted to the last call. */
static void
test_filter_threads(void **state)
{
    struct watched what;

    (void)state;
    if (!watch_possible(NULL, "sandbox.run", "threads"))
        skip();
    watch_case("sandbox.run", "threads", "", &what);
    assert_int_equal(4000, watch_last(&what)->snapshot.calls[FN_MALLOC]);
    assert_int_equal(4, watch_last(&what)->snapshot.threads_merged);
    assert_int_equal(0, watch_last(&what)->snapshot.unmatched);
    watch_free(&what);
}

/* Children have no segment, because that takes system calls. */
static void
test_filter_children(void **state)
{
    struct watched what;

    (void)state;
    if (!watch_possible(NULL, "sandbox.run", "children"))
        skip();
    watch_case("sandbox.run", "children", "", &what);
    assert_int_equal(1, what.count);
    assert_int_equal(1000, watch_last(&what)->snapshot.calls[FN_MALLOC]);
    watch_free(&what);
}

/* ---- limits ---- */

static void
test_exhausted(void **state)
{
    static char *const names[] = {"addresses", "data"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct watched what;
        const struct snapshot *seen;

        print_message("  %s\n", names[i]);
        watch_case("faults.run", names[i], "", &what);
        seen = &watch_last(&what)->snapshot;
        assert_int_equal(1, seen->failed[FN_MALLOC]);
        assert_int_equal(1, seen->failed[FN_CALLOC]);
        assert_int_equal(1, seen->failed[FN_REALLOC]);
        assert_true(seen->peak_bytes > 10 << 20);
        assert_in_range(seen->live_bytes, 0, 10000);
        watch_free(&what);
    }
}

static void
test_limited(void **state)
{
    static char *const names[] = {"descriptors", "file_size"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct watched what;

        print_message("  %s\n", names[i]);
        watch_case("faults.run", names[i], "", &what);
        assert_true(watch_last(&what)->snapshot.calls[FN_MALLOC] >= 2000);
        assert_int_equal(1, what.count); /* no child has room for a segment */
        watch_free(&what);
    }
}

static void
test_locked(void **state)
{
    struct watched what;

    (void)state;
    if (!watch_possible(NULL, "faults.run", "locked"))
        skip();
    watch_case("faults.run", "locked", "", &what);
    assert_int_equal(2, what.count);
    watch_free(&what);
}

/* ---- no memory: the control group's OOM killer ---- */

static char group[512];

static bool
write_in_group(const char *file, const char *text)
{
    char path[600];
    int fd;
    bool written;

    snprintf(path, sizeof path, "%s/%s", group, file);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    written = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return written;
}

/* Makes a control group below the test's own, limited to 32 MiB; false if that is not
   allowed. */
static bool
make_group(void)
{
    char line[256];
    FILE *file = fopen("/proc/self/cgroup", "r");
    const char *root = NULL, *own = "";

    while (file != NULL && root == NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strstr(line, ":memory:") != NULL)
            root = "/sys/fs/cgroup/memory", own = strstr(line, ":memory:") + 8;
        else if (strncmp(line, "0::", 3) == 0)
            root = "/sys/fs/cgroup", own = line + 3;
    }
    if (file != NULL)
        fclose(file);
    if (root == NULL)
        return false;
    snprintf(group, sizeof group, "%s%s/memtop-test-XXXXXX", root, own);
    if (mkdtemp(group) == NULL) { /* in a namespace the group may have another path */
        snprintf(group, sizeof group, "%s/memtop-test-XXXXXX", root);
        if (mkdtemp(group) == NULL)
            return false;
    }
    write_in_group("memory.swap.max", "0");
    return write_in_group("memory.limit_in_bytes", "33554432")
           || write_in_group("memory.max", "33554432");
}

static void
enter_group(void)
{
    if (!write_in_group("cgroup.procs", "0"))
        _exit(77);
}

static void
test_no_memory(void **state)
{
    struct preload_watch how = {.argv = WATCH_ARGV("faults.run", "devour"),
                                .prepare = enter_group};
    struct watched what;
    bool made = make_group();

    (void)state;
    if (made)
        watch_run(&how, &what);
    rmdir(group);
    if (!made)
        skip();
    if (WIFEXITED(what.status) && WEXITSTATUS(what.status) == 77) {
        watch_free(&what);
        skip();
    }
    assert_int_equal(SIGKILL, WTERMSIG(what.status));
    assert_string_equal("begun\n", what.out);
    assert_in_range(watch_last(&what)->snapshot.live_bytes, 20 << 20, 40 << 20);
    assert_int_equal(0, watch_last(&what)->snapshot.torn);
    watch_free(&what);
}

/* ---- SIGKILL at any moment ---- */

#define KILLS 40

static void
kill_soon(pid_t pid, const char *directory)
{
    static unsigned seed = 1;
    struct timespec moment = {0, 0};

    (void)directory;
    seed = seed * 1103515245u + 12345u;
    moment.tv_nsec = (long)(seed >> 12) % 20000000;
    nanosleep(&moment, NULL); /* not a wait: the random moment is what is tested */
    kill(pid, SIGKILL);
}

/* Checks that every segment is complete or was never finished; returns the number of
   unfinished ones. */
static unsigned
check_segments(const char *directory)
{
    const struct timespec long_ago[2] = {{1, 0}, {1, 0}};
    DIR *dir = opendir(directory);
    unsigned unfinished = 0;
    char path[512];

    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        struct reader *reader;
        struct snapshot seen;
        int error;

        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        error = reader_open(path, geteuid(), geteuid(), &reader);
        if (error != 0) {
            assert_in_set(-error, ((const uintmax_t[]){EPROTO, EMSGSIZE}), 2);
            assert_int_equal(0, utimensat(AT_FDCWD, path, long_ago, 0));
            unfinished++;
            continue;
        }
        error = reader_snapshot(reader, &seen);
        assert_true(error == 0);
        assert_in_range(seen.live_bytes, 0, 1 << 20);
        assert_in_range(seen.torn, 0, 4);
        assert_in_range(seen.unmatched, 0, 1);
        reader_close(reader);
    }
    closedir(dir);
    return unfinished;
}

static void
test_killed(void **state)
{
    char directory[] = "/dev/shm/memtop-test-XXXXXX";
    struct preload_watch how = {.argv = WATCH_ARGV("faults.run", "until_killed"),
                                .unkept = true,
                                .directory = directory,
                                .gone = true,
                                .meanwhile = kill_soon};
    struct watched what;
    unsigned unfinished = 0;

    (void)state;
    assert_non_null(mkdtemp(directory));
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphaned children become children of the test */
    for (int i = 0; i < KILLS; i++) {
        watch_run(&how, &what);
        assert_int_equal(SIGKILL, WTERMSIG(what.status));
        assert_string_equal("", what.err);
        watch_free(&what);
        unfinished += check_segments(directory);
    }
    print_message("  %zu segments at the end, %u were unfinished\n",
                  watch_entries(directory), unfinished);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    /* The next process that starts removes them. */
    how.argv = WATCH_ARGV("harm.run", "work");
    how.meanwhile = NULL;
    for (int i = 0; i < 3 || (i < 20 && watch_entries(directory) > 0); i++) {
        watch_run(&how, &what);
        watch_free(&what);
    }
    assert_int_equal(0, watch_entries(directory));
    assert_int_equal(0, rmdir(directory));
}

/* ---- other libraries and the program's surroundings ---- */

/* Signals, timers, threads and identity are the same as without the library. */
static void
test_untouched(void **state)
{
    struct preload_watch how = {.argv = WATCH_ARGV("faults.run", "untouched")};
    struct watched ours, plain;

    (void)state;
    watch_run(&how, &ours);
    how.plain = true;
    watch_run(&how, &plain);
    watch_assert_success(&ours);
    assert_non_null(strstr(plain.out, "Threads:\t1"));
    assert_string_equal(plain.out, ours.out);
    watch_free(&ours);
    watch_free(&plain);
}

static void
no_rights(void)
{
    umask(0777);
}

/* A strange umask must not leave files that nobody can use or remove. */
static void
test_umask(void **state)
{
    char base[] = "/dev/shm/memtop-test-XXXXXX", directory[64], segment[96];
    struct preload_watch how = {.argv = WATCH_ARGV("harm.run", "work"),
                                .directory = directory,
                                .gone = true,
                                .prepare = no_rights};
    struct watched what;
    struct stat st;

    (void)state;
    assert_non_null(mkdtemp(base));
    snprintf(directory, sizeof directory, "%s/new", base);
    watch_run(&how, &what);
    watch_assert_success(&what);
    assert_int_equal(0, stat(directory, &st));
    assert_int_equal(0700, st.st_mode & 07777);
    snprintf(segment, sizeof segment, "%s/%d.0", directory, (int)what.pid);
    assert_int_equal(0, stat(segment, &st));
    assert_int_equal(0600, st.st_mode & 07777);
    unlink(segment);
    rmdir(directory);
    rmdir(base);
    watch_free(&what);
}

static void
test_threads(void **state)
{
    struct watched what;

    (void)state;
    watch_case("faults.run", "small_stacks", "", &what);
    assert_int_equal(101, watch_last(&what)->snapshot.threads_started);
    assert_int_equal(0, watch_last(&what)->snapshot.unmatched);
    watch_free(&what);
    watch_case("faults.run", "cancelled", "", &what);
    assert_int_equal(1, watch_last(&what)->snapshot.threads);
    assert_int_equal(0, watch_last(&what)->snapshot.torn);
    assert_int_equal(0, watch_last(&what)->snapshot.unmatched);
    watch_free(&what);
}

/* Opened as a plugin the library interposes nothing, and can be closed safely. */
static void
test_plugged(void **state)
{
    struct preload_watch how = {
        .argv = WATCH_ARGV("faults.run", "plugged", (char *)watch_path("libmemtop.so")),
        .plain = true};
    struct watched what;

    (void)state;
    watch_run(&how, &what);
    watch_assert_success(&what);
    assert_string_equal("", what.err);
    watch_free(&what);
}

/* Two copies of the library under different names; each takes the other for the
   allocator. */
static void
test_twice(void **state)
{
    char copy[] = "/tmp/memtop-test-XXXXXX", command[1200];
    struct preload_watch how = {.argv = WATCH_ARGV("heap.run", "heap"),
                                .preload_after = copy};
    struct watched what;
    int fd = mkstemp(copy);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    snprintf(command, sizeof command, "cp %s %s", watch_path("libmemtop.so"), copy);
    assert_int_equal(0, system(command));
    watch_run(&how, &what);
    watch_assert_success(&what);
    assert_string_equal("", what.err);
    watch_free(&what);
    how.argv = WATCH_ARGV("forks.run", "storm");
    how.unkept = true;
    watch_run(&how, &what);
    watch_assert_success(&what);
    watch_free(&what);
    unlink(copy);
}

/* Libraries whose open, mmap, getenv ... allocate under a lock. */
static void
test_meddled(void **state)
{
    static char *const runs[][2] = {{"heap.run", "heap"}, {"forks.run", "simple"},
                                    {"threads.run", "busy"}, {"harm.run", "work"}};

    (void)state;
    for (size_t i = 0; i < 8; i++) {
        struct preload_watch how = {.argv = WATCH_ARGV(runs[i / 2][0], runs[i / 2][1])};
        struct watched what;

        print_message("  %s %s\n", runs[i / 2][0], i % 2 ? "after" : "before");
        if (i % 2)
            how.preload_after = watch_program("meddler.plugin");
        else
            how.preload_before = watch_program("meddler.plugin");
        watch_run(&how, &what);
        watch_assert_success(&what);
        assert_string_equal("", what.err);
        assert_true(watch_last(&what)->snapshot.calls[FN_MALLOC] > 0);
        assert_int_equal(0, watch_last(&what)->snapshot.unmatched);
        watch_free(&what);
    }
}

/* memusage's blocks have a header, so their sizes cannot be asked for. */
static void
test_memusage(void **state)
{
    struct preload_watch how = {.argv = WATCH_ARGV("harm.run", "work"),
                                .preload_after = "libmemusage.so"};
    struct watched what;

    (void)state;
    if (!watch_can_preload("libmemusage.so"))
        skip();
    watch_run(&how, &what);
    watch_assert_success(&what);
    assert_int_equal(REASON_NO_USABLE_SIZE, watch_last(&what)->identity.reason);
    assert_non_null(strstr(what.err, "Memory usage summary"));
    watch_free(&what);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter_alone),    cmocka_unit_test(test_filter_raw),
        cmocka_unit_test(test_filter_threads),
        cmocka_unit_test(test_filter_children), cmocka_unit_test(test_exhausted),
        cmocka_unit_test(test_limited),         cmocka_unit_test(test_locked),
        cmocka_unit_test(test_no_memory),       cmocka_unit_test(test_killed),
        cmocka_unit_test(test_untouched),       cmocka_unit_test(test_umask),
        cmocka_unit_test(test_threads),         cmocka_unit_test(test_plugged),
        cmocka_unit_test(test_twice),           cmocka_unit_test(test_meddled),
        cmocka_unit_test(test_memusage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
