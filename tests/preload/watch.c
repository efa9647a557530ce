/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The harness of the library's tests.  It waits for events (end of output, end of the
 * process), never for time; the only clock is the limit after which a hanging program is
 * killed.
 */
#include "config.h"

#include "watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "segment/names.h"

#define CAP_MS 120000 /* long enough for busy machines */
#define DIRECTORY_MAX 256

/* ---- paths ---- */

const char *
watch_path(const char *relative)
{
    static char buffers[8][PATH_MAX];
    static unsigned turn;
    char *buffer = buffers[turn++ % 8];
    size_t length;

    assert_non_null(getcwd(buffer, PATH_MAX));
    length = strlen(buffer);
    snprintf(buffer + length, PATH_MAX - length, "/%s", relative);
    return buffer;
}

const char *
watch_program(const char *name)
{
    char relative[256];

    snprintf(relative, sizeof relative, "tests/preload/programs/%s", name);
    return watch_path(relative);
}

/* ---- the child ---- */

#define MAX_ENVIRONMENT 32

static char *
format(const char *pattern, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, pattern);
    if (vasprintf(&text, pattern, arguments) < 0)
        text = NULL;
    va_end(arguments);
    assert_non_null(text);
    return text;
}

/* ---- modes ---- */

bool
watch_mode(const char *name)
{
    const char *words = getenv("MEMTOP_TEST_MODE");

    return words != NULL && strncmp(words, name, strlen(name)) == 0;
}

/* In mode "dormant": the second run of a test, or a run without the library. */
static bool awake;

/* Options of the test followed by those of the mode, unless the test sets the same
   ones. */
static char *
words_of(const struct preload_watch *how)
{
    const char *options = how->options != NULL ? how->options : "";
    const char *mode = getenv("MEMTOP_TEST_MODE");
    char name[16];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(mode != NULL ? mode : "", "=,"),
             mode != NULL ? mode : "");
    if (name[0] == '\0' || (awake && watch_mode("dormant")) || watch_mode("log")
        || strstr(options, name) != NULL)
        return format("%s", options);
    return format("%s%s%s", options, *options != '\0' ? "," : "", mode);
}

static void
fill_environment(const struct preload_watch *how, const char *directory, pid_t keeper,
                 char **envp)
{
    const char *before = how->preload_before != NULL ? how->preload_before : "";
    const char *after = how->preload_after != NULL ? how->preload_after : "";
    const char *options = words_of(how);
    size_t used = 0;

    envp[used++] = "PATH=/usr/bin:/bin";
    envp[used++] = "LC_ALL=C";
    envp[used++] = format("MEMTOP_DIR=%s", directory);
    envp[used++] = format("LD_PRELOAD=%s%s%s%s%s", before, *before != '\0' ? ":" : "",
                          how->plain ? "" : watch_path("libmemtop.so"),
                          *after != '\0' ? ":" : "", after);
    if (how->unkept)
        envp[used++] = format("MEMTOP_OPTIONS=%s", options);
    else
        envp[used++] = format("MEMTOP_OPTIONS=%s%skeep=%d", options,
                              *options != '\0' ? "," : "", (int)keeper);
    if (watch_mode("log"))
        envp[used++] = "MALLOC_LOG=/dev/null";
    for (char *const *more = how->environment; more != NULL && *more != NULL; more++)
        envp[used++] = *more;
    envp[used] = NULL;
}

static void
become(const struct preload_watch *how, const char *directory, pid_t keeper,
       const int out[2], const int err[2])
{
    char *envp[MAX_ENVIRONMENT];
    const char *program = how->argv[0];

    fill_environment(how, directory, keeper, envp);
    if (strchr(program, '/') == NULL)
        program = watch_program(program);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    if (how->prepare != NULL)
        how->prepare();
    execve(program, how->argv, envp);
    dprintf(STDERR_FILENO, "%s: %s\n", program, strerror(errno));
    _exit(127);
}

/* ---- the wait ---- */

static int64_t
now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct watch_sink {
    char *bytes;
    size_t used;
};

/* Reads all that is available; returns false at the end of the file. */
static bool
drain(int fd, struct watch_sink *sink)
{
    char *larger = realloc(sink->bytes, sink->used + 4096);
    ssize_t got;

    assert_non_null(larger);
    sink->bytes = larger;
    got = read(fd, sink->bytes + sink->used, 4095);
    if (got > 0)
        sink->used += (size_t)got;
    sink->bytes[sink->used] = '\0';
    return got > 0;
}

/* Reads both until they are closed; returns false if that takes too long. */
static bool
gather(int out, int err, struct watch_sink sinks[2])
{
    struct pollfd fds[2] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
    int64_t end = now_ms() + CAP_MS;

    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        int64_t left = end - now_ms();
        if (left <= 0 || poll(fds, 2, (int)left) == 0)
            return false;
        for (int i = 0; i < 2; i++)
            if (fds[i].fd >= 0 && fds[i].revents != 0 && !drain(fds[i].fd, &sinks[i]))
                fds[i].fd = -1;
    }
    return true;
}

/* ---- the segments ---- */

static int
by_age(const void *left, const void *right)
{
    const struct watched_segment *a = left, *b = right;

    if (a->identity.created_boottime_ns != b->identity.created_boottime_ns)
        return a->identity.created_boottime_ns < b->identity.created_boottime_ns ? -1 : 1;
    return (int)a->generation - (int)b->generation;
}

/* Reading must not make pages of the segment exist that the process has not written. */
static void
read_segment(const char *path, struct watched_segment *segment)
{
    struct reader *reader;
    struct stat st, after;
    int error;

    assert_int_equal(0, stat(path, &st));
    assert_int_equal(0, reader_open(path, st.st_uid, st.st_uid, &reader));
    assert_int_equal(0, reader_identity(reader, &segment->identity));
    assert_int_equal(0, reader_executed(reader, &segment->executed));
    assert_int_equal(0, reader_snapshot(reader, &segment->snapshot));
    assert_int_equal(0, reader_histogram(reader, &segment->histogram));
    assert_int_equal(0, reader_recorded(reader, &segment->recorded,
                                        &segment->recorded_count));
    assert_int_equal(0, reader_life(reader, &segment->life_ns));
    assert_int_equal(0, reader_log_error(reader, &segment->log_error));
    error = sites_read(reader, &segment->sites);
    assert_true(error == 0 || error == -ENODATA);
    reader_close(reader);
    segment->allocated = (uint64_t)st.st_blocks * 512;
    assert_int_equal(0, stat(path, &after));
    assert_int_equal(st.st_blocks, after.st_blocks);
}

static void
collect(const char *directory, bool remove_files, struct watched *what)
{
    DIR *dir = opendir(directory);
    struct dirent *entry;
    char path[DIRECTORY_MAX + NAME_MAX + 2];

    what->segments = calloc(WATCH_SEGMENTS, sizeof *what->segments);
    assert_non_null(what->segments);
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        struct watched_segment *segment = &what->segments[what->count];
        pid_t pid;
        uint32_t generation;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        what->files++;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (what->count < WATCH_SEGMENTS
            && segment_name_parse(entry->d_name, &pid, &generation)) {
            segment->pid = pid;
            segment->generation = generation;
            read_segment(path, segment);
            what->count++;
        }
        if (remove_files)
            unlink(path);
    }
    closedir(dir);
    qsort(what->segments, what->count, sizeof *what->segments, by_age);
}

/* ---- one run ---- */

static void
make_directory(const struct preload_watch *how, char directory[DIRECTORY_MAX])
{
    if (how->directory != NULL) {
        snprintf(directory, DIRECTORY_MAX, "%s", how->directory);
        return;
    }
    snprintf(directory, DIRECTORY_MAX, "/dev/shm/memtop-test-XXXXXX");
    assert_non_null(mkdtemp(directory));
}

static void
run(const struct preload_watch *how, struct watched *what)
{
    char directory[DIRECTORY_MAX];
    struct watch_sink sinks[2] = {0};
    pid_t keeper = getpid();
    int out[2], err[2];
    bool ended;

    *what = (struct watched){0};
    make_directory(how, directory);
    assert_int_equal(0, pipe2(out, O_CLOEXEC));
    assert_int_equal(0, pipe2(err, O_CLOEXEC));
    fflush(NULL);
    what->pid = fork();
    assert_true(what->pid >= 0);
    if (what->pid == 0)
        become(how, directory, keeper, out, err);
    close(out[1]);
    close(err[1]);
    if (how->meanwhile != NULL)
        how->meanwhile(what->pid, directory);
    ended = gather(out[0], err[0], sinks);
    if (!ended)
        kill(what->pid, SIGKILL);
    close(out[0]);
    close(err[0]);
    assert_int_equal(what->pid, waitpid(what->pid, &what->status, 0));
    what->out = sinks[0].bytes != NULL ? sinks[0].bytes : strdup("");
    what->err = sinks[1].bytes != NULL ? sinks[1].bytes : strdup("");
    if (!how->gone)
        collect(directory, how->directory == NULL, what);
    if (how->directory == NULL)
        rmdir(directory);
    if (!ended)
        fail_msg("%s hung", how->argv[0]);
}

/* A dormant process counts nothing, so there is nothing to compare.  The program runs
   once dormant, for its status and messages, and then again as usual. */
void
watch_run(const struct preload_watch *how, struct watched *what)
{
    struct watched asleep;

    awake = how->plain;
    if (!watch_mode("dormant") || how->plain) {
        run(how, what);
        return;
    }
    run(how, &asleep);
    awake = true;
    run(how, what);
    awake = false;
    if (asleep.status != what->status
        || (asleep.err[0] == '\0') != (what->err[0] == '\0'))
        fail_msg("dormant: status %#x, not %#x; stderr: %s", (unsigned)asleep.status,
                 (unsigned)what->status, asleep.err);
    watch_free(&asleep);
}

void
watch_free(struct watched *what)
{
    for (size_t i = 0; i < what->count; i++) {
        free(what->segments[i].recorded);
        sites_free(&what->segments[i].sites);
    }
    free(what->segments);
    free(what->out);
    free(what->err);
    *what = (struct watched){0};
}

const struct watched_segment *
watch_last(const struct watched *what)
{
    const struct watched_segment *last = NULL;

    for (size_t i = 0; i < what->count; i++)
        if (what->segments[i].pid == what->pid)
            last = &what->segments[i];
    if (last == NULL)
        fail_msg("no segment of the process; it printed: %s%s", what->out, what->err);
    return last;
}

void
watch_assert_success(const struct watched *what)
{
    if (what->status != 0)
        fail_msg("status %#x, stderr: %s", (unsigned)what->status, what->err);
}

void
watch_case(char *program, char *name, const char *options, struct watched *what)
{
    struct preload_watch how = {.argv = WATCH_ARGV(program, name), .options = options};

    watch_run(&how, what);
    watch_assert_success(what);
    assert_string_equal("", what->err);
}

uint64_t
watch_number(const struct watched *what, const char *key)
{
    const char *found = what->out;
    size_t length = strlen(key);

    while ((found = strstr(found, key)) != NULL) {
        if ((found == what->out || found[-1] == '\n' || found[-1] == ' ')
            && found[length] == '=')
            return strtoull(found + length + 1, NULL, 0);
        found += length;
    }
    fail_msg("no %s= in: %s", key, what->out);
    return 0;
}

/* This does not use dlopen, because static TLS may be used up. */
bool
watch_possible(const char *allocator, char *program, char *name)
{
    struct preload_watch how = {
        .argv = WATCH_ARGV(program, name), .preload_after = allocator, .plain = true};
    struct watched what;
    bool passed;

    watch_run(&how, &what);
    passed = what.status == 0;
    watch_free(&what);
    return passed;
}

size_t
watch_entries(const char *directory)
{
    DIR *dir = opendir(directory);
    size_t count = 0;

    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

bool
watch_can_preload(const char *soname)
{
    struct preload_watch how = {
        .argv = WATCH_ARGV("/bin/true"), .preload_after = soname, .plain = true};
    struct watched what;
    bool found;

    watch_run(&how, &what);
    found = strstr(what.err, "cannot be preloaded") == NULL;
    watch_free(&what);
    return found;
}

/* ---- file systems of a test's own ---- */

bool
watch_own_mounts(void)
{
    return unshare(CLONE_NEWNS) == 0
           && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

void
watch_run_on(const char *size, const char *words, char *program, char *name,
             struct watched *what)
{
    char directory[] = "/dev/shm/memtop-test-XXXXXX", options[64];
    struct preload_watch how = {
        .argv = WATCH_ARGV(program, name), .options = words, .directory = directory};

    assert_non_null(mkdtemp(directory));
    snprintf(options, sizeof options, "size=%s,mode=0700", size);
    assert_int_equal(0, mount("none", directory, "tmpfs", 0, options));
    watch_run(&how, what);
    umount(directory);
    rmdir(directory);
    watch_assert_success(what);
    assert_string_equal("", what->err);
}
