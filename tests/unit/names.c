/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names and directories of segments: which are accepted, created, refused, swept. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "segment/names.h"
#include "segment/reader.h"

static char base[64];

static int
set_up(void **state)
{
    (void)state;
    strcpy(base, "/dev/shm/memtop-test-XXXXXX");
    return mkdtemp(base) != NULL ? 0 : -1;
}

static int
tear_down(void **state)
{
    (void)state;
    return rmdir(base); /* every test cleans up, so it must be empty */
}

static void
test_names(void **state)
{
    static const char *const wrong[] = {
        "",        ".",    "..",    "1",    "1.",           ".1",
        "0.0",     "01.0", "1.00",  "1.01", "-1.0",         "+1.0",
        " 1.0",    "1.0 ", "1.0.0", "1,0",  "2147483648.0", "99999999999999999999.0",
        "1.10000", "1.0x", "0x1.0", "1.-1",
    };
    char name[24];
    pid_t pid;
    uint32_t generation;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (segment_name_parse(wrong[i], &pid, &generation))
            fail_msg("\"%s\" was accepted", wrong[i]);
    for (uint64_t i = 1; i <= INT32_MAX; i = i * 3 + 1) {
        segment_name(name, (pid_t)i, (uint32_t)(i % 10000));
        assert_true(segment_name_parse(name, &pid, &generation));
        assert_int_equal(i, pid);
        assert_int_equal(i % 10000, generation);
    }
    segment_name(name, INT32_MAX, UINT32_MAX);
    assert_string_equal("2147483647.4294967295", name);
}

static void
test_directory(void **state)
{
    char path[SEGMENT_PATH_MAX], wanted[128], longest[400];
    int fd;

    (void)state;
    snprintf(wanted, sizeof wanted, "%s/made", base);
    fd = segment_directory(wanted, NULL, path);
    assert_true(fd >= 0);
    assert_string_equal(wanted, path);
    assert_int_equal(FD_CLOEXEC, fcntl(fd, F_GETFD));
    close(fd);
    fd = segment_directory(wanted, NULL, path); /* exists now */
    assert_true(fd >= 0);
    assert_string_equal(wanted, path);
    close(fd);
    /* Others may read the directory, so it is not used. */
    assert_int_equal(0, chmod(wanted, 0750));
    fd = segment_directory(wanted, NULL, path);
    assert_string_not_equal(wanted, path);
    close(fd);
    rmdir(wanted);
    memset(longest, 'x', sizeof longest - 1);
    longest[0] = '/';
    longest[sizeof longest - 1] = '\0';
    fd = segment_directory(longest, NULL, path);
    assert_true(fd < 0 || strlen(path) < SEGMENT_PATH_MAX);
    close(fd);
}

/* On a disk nothing is created, not even briefly: the time of the parent directory would
   show it. */
static void
test_disk(void **state)
{
    const struct timespec long_ago[2] = {{1000, 0}, {1000, 0}};
    char disk[] = "/var/tmp/memtop-test-XXXXXX", missing[64], path[SEGMENT_PATH_MAX];
    struct statfs fs;
    struct stat st;
    int fd;

    (void)state;
    assert_non_null(mkdtemp(disk));
    assert_int_equal(0, statfs(disk, &fs));
    snprintf(missing, sizeof missing, "%s/missing", disk);
    assert_int_equal(0, utimensat(AT_FDCWD, disk, long_ago, 0));
    fd = segment_directory(missing, NULL, path);
    close(fd);
    assert_int_equal(-EMEDIUMTYPE, segment_directory_refused(missing));
    assert_int_equal(-EMEDIUMTYPE, segment_directory_refused(disk));
    assert_int_equal(0, stat(disk, &st));
    rmdir(missing);
    rmdir(disk);
    if (fs.f_type == TMPFS_MAGIC)
        skip();
    assert_int_equal(1000, st.st_mtim.tv_sec);
}

static void
test_refused(void **state)
{
    char wanted[128];

    (void)state;
    assert_int_equal(0, segment_directory_refused(NULL));
    assert_int_equal(0, segment_directory_refused(""));
    assert_int_equal(-EINVAL, segment_directory_refused("relative"));
    assert_int_equal(-ENOENT, segment_directory_refused("/nonexistent/deep/path"));
    assert_int_equal(-ENOTDIR, segment_directory_refused("/dev/null"));
    snprintf(wanted, sizeof wanted, "%s/made/", base); /* in memory, so it is created */
    assert_int_equal(0, segment_directory_refused(wanted));
    assert_int_equal(0, chmod(wanted, 0755));
    assert_int_equal(-EPERM, segment_directory_refused(wanted));
    assert_int_equal(0, rmdir(wanted));
}

static void
test_paths(void **state)
{
    char path[SEGMENT_PATH_MAX], longest[SEGMENT_PATH_MAX + 1];

    (void)state;
    assert_int_equal(0, segment_directory_path(0, "/a b", NULL, path));
    assert_string_equal("/a b", path);
    assert_int_equal(0, segment_directory_path(2, NULL, "/run/x", path));
    assert_string_equal("/run/x/memtop", path);
    assert_int_equal(-ENOENT, segment_directory_path(0, NULL, NULL, path));
    assert_int_equal(-ENOENT, segment_directory_path(2, NULL, "relative", path));
    assert_int_equal(-ENOENT, segment_directory_path(DIRECTORIES, "/a", "/a", path));
    memset(longest, '/', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(-ENAMETOOLONG, segment_directory_path(0, longest, NULL, path));
}

static void
test_create(void **state)
{
    int directory = open(base, O_RDONLY | O_DIRECTORY);
    char path[128];
    struct stat st;

    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t generation;
        int fd = segment_create(directory, 4711, 2, 0, false, &generation);
        assert_true(fd >= 0);
        assert_int_equal(i, generation);
        assert_int_equal(0, fstat(fd, &st));
        assert_int_equal(SEGMENT_SIZE, st.st_size);
        assert_int_equal(0600, st.st_mode & 07777);
        /* Sparse: what need not be there is not. */
        assert_true(st.st_blocks * 512 <= 64 << 10);
        assert_true(st.st_blocks * 512 >= 2 * SHARD_NEAR_SIZE + SEGMENT_HEAD_SIZE);
        close(fd);
    }
    for (uint32_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/4711.%u", base, i);
        assert_int_equal(0, unlink(path));
    }
    close(directory);
}

/* Nothing is left behind, and there is no SIGXFSZ. */
static void
test_file_limit(void **state)
{
    int directory = open(base, O_RDONLY | O_DIRECTORY);
    struct rlimit before, small;
    uint32_t generation;

    (void)state;
    getrlimit(RLIMIT_FSIZE, &before);
    small = (struct rlimit){SEGMENT_SIZE - 1, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    assert_int_equal(-EFBIG, segment_create(directory, 4711, 2, 0, false, &generation));
    setrlimit(RLIMIT_FSIZE, &before);
    close(directory);
}

static void
test_prepare(void **state)
{
    int directory = open(base, O_RDONLY | O_DIRECTORY);
    char path[SEGMENT_PATH_MAX];
    struct reader *reader;
    struct identity identity;

    (void)state;
    assert_int_equal(0, segment_prepare(directory, base, 1, 0, false, path));
    assert_int_equal(0, reader_open(path, getuid(), geteuid(), &reader));
    assert_int_equal(0, reader_identity(reader, &identity));
    assert_int_equal(SEGMENT_PREPARED, identity.state);
    assert_int_equal(getpid(), identity.pid);
    assert_int_equal(1, identity.keeper);
    reader_close(reader);
    unlink(path);
    close(directory);
}

static void
test_namespace(void **state)
{
    struct stat st;

    (void)state;
    assert_int_equal(0, stat("/proc/self/ns/pid", &st));
    assert_int_equal(st.st_ino, segment_pid_namespace());
}

/* Killed before its header was written: removed, but not while it may still be
   written. */
static void
test_unfinished(void **state)
{
    const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    int directory = open(base, O_RDONLY | O_DIRECTORY);
    uint64_t here = segment_pid_namespace();
    const pid_t nobody = INT32_MAX;
    uint32_t generation;
    int fd = segment_create(directory, nobody, 2, 0, false, &generation);

    (void)state;
    assert_true(fd >= 0);
    segment_sweep(directory, here, 16, false);
    assert_false(segment_unlink_abandoned(directory, nobody, 0, here));
    assert_int_equal(0, futimens(fd, old));
    segment_sweep(directory, here, 16, false);
    assert_int_equal(-1, openat(directory, "2147483647.0", O_RDONLY));
    assert_int_equal(ENOENT, errno);
    close(fd);
    close(directory);
}

/* A child that has ended but was not waited for. */
static pid_t
make_zombie(void)
{
    siginfo_t info;
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    assert_int_equal(0, waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT));
    return pid;
}

static void
test_lives(void **state)
{
    uint64_t now = (uint64_t)clock_ns(CLOCK_BOOTTIME);
    pid_t zombie = make_zombie();

    (void)state;
    assert_true(segment_process_lives(getpid(), now));
    assert_true(segment_process_lives(getpid(), 0));
    /* Made long before this process started, so by another one with the same pid. */
    assert_false(segment_process_lives(getpid(), 1));
    assert_false(segment_process_lives(INT32_MAX, 0));
    assert_int_equal(0, kill(zombie, 0));
    assert_false(segment_process_lives(zombie, now));
    waitpid(zombie, NULL, 0);
}

/* Makes a segment of pid that looks as if made at that time. */
static void
leave_segment(int directory, pid_t pid, uint64_t created_ns)
{
    struct segment_header header = {.pid_namespace = segment_pid_namespace(),
                                    .created_boottime_ns = created_ns};
    uint32_t generation;
    int fd = segment_create(directory, pid, 2, 0, false, &generation);

    segment_header_init(&header, 0, false);
    assert_int_equal(sizeof header, pwrite(fd, &header, sizeof header, 0));
    close(fd);
}

static void
test_thorough_sweep(void **state)
{
    int directory = open(base, O_RDONLY | O_DIRECTORY);
    uint64_t now = (uint64_t)clock_ns(CLOCK_BOOTTIME);
    pid_t zombie = make_zombie();
    char left[24], reused[24], living[24];

    (void)state;
    leave_segment(directory, zombie, now);
    leave_segment(directory, getpid(), now);
    leave_segment(directory, getpid(), 1);
    segment_name(left, zombie, 0);
    segment_name(living, getpid(), 0);
    segment_name(reused, getpid(), 1);
    segment_sweep(directory, segment_pid_namespace(), 16, false);
    assert_int_equal(0, faccessat(directory, left, F_OK, 0));
    assert_int_equal(0, faccessat(directory, reused, F_OK, 0));
    segment_sweep(directory, segment_pid_namespace(), 16, true);
    assert_int_equal(-1, faccessat(directory, left, F_OK, 0));
    assert_int_equal(-1, faccessat(directory, reused, F_OK, 0));
    assert_int_equal(0, faccessat(directory, living, F_OK, 0));
    unlinkat(directory, living, 0);
    waitpid(zombie, NULL, 0);
    close(directory);
}

/* Looking for directories creates none. */
static void
test_next_directory(void **state)
{
    char path[SEGMENT_PATH_MAX], missing[SEGMENT_PATH_MAX];
    unsigned which = 0;
    int fd;

    (void)state;
    snprintf(missing, sizeof missing, "%s/missing", base);
    fd = segment_directory_next(&which, base, missing, path);
    assert_true(fd >= 0);
    assert_string_equal(base, path);
    close(fd);
    while ((fd = segment_directory_next(&which, base, missing, path)) >= 0) {
        assert_string_not_equal(base, path);
        close(fd);
    }
    assert_int_equal(-1, access(missing, F_OK));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_names),      TEST(test_directory), TEST(test_create),
        TEST(test_file_limit), TEST(test_prepare),   TEST(test_namespace),
        TEST(test_unfinished), TEST(test_lives), TEST(test_thorough_sweep),
        TEST(test_next_directory), TEST(test_paths),
        TEST(test_next_directory), TEST(test_disk), TEST(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
