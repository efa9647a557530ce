/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Real programs, started as memtop does: environment, arguments, descriptors, terminal,
 * exit.  The segments are in a separate directory.  Instead of libmemtop.so the C
 * library is preloaded, which every program uses anyway.
 */
#include "config.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <poll.h>
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
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <cmocka.h>

#include "system/capture.h"
#include "system/launch.h"
#include "system/signals.h"
#include "segment/reader.h"

static char directory[] = "/dev/shm/memtop-test-XXXXXX";
static char libc_path[PATH_MAX];

#define ARGV(...) ((char *[]){__VA_ARGS__, NULL})

/* Runs argv with its standard output in a pipe; output receives what it printed. */
static int
run(struct launch_options *options, struct launched *launched, char *output, size_t size)
{
    int out[2], saved = dup(STDOUT_FILENO), result;
    size_t used = 0;
    ssize_t got;
    const char *stage;

    fflush(stdout);
    fcntl(saved, F_SETFD, FD_CLOEXEC);
    assert_int_equal(0, pipe2(out, O_CLOEXEC));
    dup2(out[1], STDOUT_FILENO);
    result = launch_program(options, launched, &stage);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(out[1]);
    while (result == 0 && (got = read(out[0], output + used, size - 1 - used)) > 0)
        used += (size_t)got;
    output[used] = '\0';
    close(out[0]);
    return result;
}

/* Returns the program's wait status and cleans up. */
static int
finish(struct launched *launched)
{
    int status = -1;

    assert_int_equal(launched->pid, waitpid(launched->pid, &status, 0));
    if (launched->segment[0])
        unlink(launched->segment);
    if (launched->pidfd >= 0)
        close(launched->pidfd);
    return status;
}

static unsigned
segments_left(void)
{
    DIR *dir = opendir(directory);
    struct dirent *entry;
    unsigned count = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void
test_environment(void **state)
{
    struct launch_options options = {
        .argv =
            ARGV("sh", "-c", "echo \"$LD_PRELOAD|$MEMTOP_OPTIONS|$MEMUSAGE_PROG_NAME\""),
        .library = libc_path,
        .memtop_options = "mmap,exact",
        .progname = "sh",
    };
    struct launched launched;
    char output[1000], expected[3 * PATH_MAX];

    (void)state;
    assert_int_equal(0, run(&options, &launched, output, sizeof output));
    snprintf(expected, sizeof expected, "%s|mmap,exact,keep=%d,segment=%s/%d.0|sh\n",
             libc_path, getpid(), directory, launched.pid);
    assert_string_equal(output, expected);
    assert_string_equal(launched.directory, directory);
    assert_string_equal(launched.why_no_segment, "");
    assert_int_equal(0, finish(&launched));

    setenv("LD_PRELOAD", libc_path, 1);
    setenv("MEMTOP_OPTIONS", "accounting=usable", 1);
    options.memtop_options = "";
    options.progname = NULL;
    assert_int_equal(0, run(&options, &launched, output, sizeof output));
    unsetenv("LD_PRELOAD");
    unsetenv("MEMTOP_OPTIONS");
    snprintf(expected, sizeof expected,
             "%s:%s|accounting=usable,keep=%d,segment=%s/%d.0|\n", libc_path, libc_path,
             getpid(), directory, launched.pid);
    assert_string_equal(output, expected);
    assert_int_equal(0, finish(&launched));
    assert_int_equal(0, segments_left());
}

/* Options make a child with AddressSanitizer start, unless the user has set them
   otherwise. */
static void
test_sanitizers_start(void **state)
{
    static const struct {
        const char *before, *after;
    } cases[] = {
        {NULL, "verify_asan_link_order=0\n"},
        {"", "verify_asan_link_order=0\n"},
        {"log_path=x", "log_path=x:verify_asan_link_order=0\n"},
        {"verify_asan_link_order=1", "verify_asan_link_order=1\n"},
    };
    struct launch_options options = {.argv = ARGV("sh", "-c", "echo \"$ASAN_OPTIONS\""),
                                     .library = libc_path};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct launched launched;
        char output[1000];

        unsetenv("ASAN_OPTIONS");
        if (cases[i].before != NULL)
            setenv("ASAN_OPTIONS", cases[i].before, 1);
        assert_int_equal(0, run(&options, &launched, output, sizeof output));
        assert_string_equal(output, cases[i].after);
        assert_int_equal(0, finish(&launched));
    }
    unsetenv("ASAN_OPTIONS");
}

/* The segment exists, is prepared, belongs to the child, and memtop keeps it. */
static void
test_prepared_segment(void **state)
{
    struct launch_options options = {
        .argv = ARGV("cat"), .library = libc_path, .memtop_options = ""};
    struct launched launched;
    struct reader *reader;
    struct identity identity;
    const char *stage;
    int in[2], saved = dup(STDIN_FILENO);

    (void)state;
    assert_int_equal(0, pipe2(in, O_CLOEXEC));
    dup2(in[0], STDIN_FILENO);
    assert_int_equal(0, launch_program(&options, &launched, &stage));
    dup2(saved, STDIN_FILENO);
    close(saved);
    assert_int_equal(0, reader_open(launched.segment, getuid(), geteuid(), &reader));
    assert_int_equal(0, reader_identity(reader, &identity));
    assert_int_equal(SEGMENT_PREPARED, identity.state);
    assert_int_equal(launched.pid, identity.pid);
    assert_int_equal(getpid(), identity.keeper);
    reader_close(reader);
    close(in[0]);
    close(in[1]);
    assert_int_equal(0, finish(&launched));
}

static void
test_arguments_and_status(void **state)
{
    struct launch_options options = {
        .argv = ARGV("sh", "-c", "printf '<%s>' \"$@\"; exit 3", "x", "", " a b ", "\n",
                     "*$HOME", "\xFF\x01", "--"),
        .library = libc_path,
    };
    struct launched launched;
    char output[1000];
    int status;

    (void)state;
    assert_int_equal(0, run(&options, &launched, output, sizeof output));
    assert_string_equal(output, "<>< a b ><\n><*$HOME><\xFF\x01><-->");
    status = finish(&launched);
    assert_int_equal(3, launch_exit_status(status));
    options.argv = ARGV("sh", "-c", "kill -SEGV $$");
    assert_int_equal(0, run(&options, &launched, output, sizeof output));
    assert_int_equal(128 + SIGSEGV, launch_exit_status(finish(&launched)));
    assert_int_equal(0, segments_left());
}

static void
test_exec_failures(void **state)
{
    struct launch_options options = {.library = libc_path};
    struct launched launched;
    const char *stage;

    (void)state;
    /* A directory that may not be searched would give EACCES. */
    setenv("PATH", "/usr/bin:/bin", 1);
    options.argv = ARGV("memtop-no-such-program");
    assert_int_equal(-ENOENT, launch_program(&options, &launched, &stage));
    assert_string_equal(stage, "exec");
    options.argv = ARGV("/etc/passwd");
    assert_int_equal(-EACCES, launch_program(&options, &launched, &stage));
    options.argv = ARGV("/");
    assert_int_equal(-EACCES, launch_program(&options, &launched, &stage));
    assert_int_equal(-1, waitpid(-1, NULL, WNOHANG));
    assert_int_equal(0, segments_left());
}

/* A script without #! is given to /bin/sh, as execvp() does. */
static void
test_script_without_interpreter(void **state)
{
    char path[] = "/tmp/memtop-test-XXXXXX", output[100];
    struct launch_options options = {.library = libc_path, .argv = ARGV(path, "x y")};
    struct launched launched;
    int script = mkostemp(path, O_CLOEXEC);

    (void)state;
    assert_true(script >= 0);
    dprintf(script, "echo \"[$1]\"\n");
    fchmod(script, 0700);
    close(script);
    assert_int_equal(0, run(&options, &launched, output, sizeof output));
    unlink(path);
    assert_string_equal(output, "[x y]\n");
    assert_int_equal(0, finish(&launched));
}

/* The program has exactly the descriptors that memtop inherited. */
static void
test_no_descriptor_leaks(void **state)
{
    struct launch_options options = {.library = libc_path,
                                     .argv = ARGV("sh", "-c", "exec ls /proc/self/fd")};
    struct launched launched;
    char without[1000], with[1000];
    int mine;

    (void)state;
    assert_int_equal(0, signals_open());
    options.library = NULL;
    assert_int_equal(0, run(&options, &launched, without, sizeof without));
    assert_string_equal(launched.directory, "");
    assert_int_equal(0, finish(&launched));
    options.library = libc_path;
    assert_int_equal(0, run(&options, &launched, with, sizeof with));
    assert_int_equal(0, finish(&launched));
    assert_string_equal(with, without);
    /* A descriptor without close-on-exec belongs to the user and is passed on. */
    mine = fcntl(STDIN_FILENO, F_DUPFD, 77);
    assert_int_equal(mine, 77);
    assert_int_equal(0, run(&options, &launched, with, sizeof with));
    assert_int_equal(0, finish(&launched));
    assert_non_null(strstr(with, "\n77\n"));
    close(mine);
    signals_close();
}

static void
test_signals_are_inherited(void **state)
{
    struct launch_options options = {
        .library = libc_path, .argv = ARGV("grep", "^Sig[BI]", "/proc/self/status")};
    struct launched launched;
    char without[1000], with[1000];

    (void)state;
    assert_int_equal(0, run(&options, &launched, without, sizeof without));
    assert_int_equal(0, finish(&launched));
    assert_int_equal(0, signals_open());
    assert_int_equal(0, run(&options, &launched, with, sizeof with));
    assert_int_equal(0, finish(&launched));
    signals_close();
    assert_string_equal(with, without);
}

/* A library whose path LD_PRELOAD cannot hold is reached through a link. */
static void
test_odd_library_path(void **state)
{
    char folder[] = "/tmp/memtop test:$x XXXXXX";
    char path[PATH_MAX + 20], output[1000], expected[600];
    struct launch_options options = {.argv = ARGV("sh", "-c", "echo \"$LD_PRELOAD\"")};
    struct launched launched;
    char target[PATH_MAX] = "";

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/lib c.so", folder);
    assert_int_equal(0, symlink(libc_path, path));
    options.library = path;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(0, run(&options, &launched, output, sizeof output));
        assert_int_equal(0, finish(&launched));
        snprintf(expected, sizeof expected, "%s/libmemtop-", directory);
        assert_memory_equal(output, expected, strlen(expected));
        output[strcspn(output, "\n")] = '\0';
        assert_true(readlink(output, target, sizeof target - 1) > 0);
        assert_string_equal(target, path);
    }
    unlink(output);
    unlink(path);
    rmdir(folder);
    assert_int_equal(0, segments_left());
}

/* The program also runs without a usable directory, or without room for segments. */
static void
test_no_directory(void **state)
{
    struct launch_options options = {.library = libc_path,
                                     .argv = ARGV("sh", "-c", "echo \"[$LD_PRELOAD]\"")};
    struct launched launched;
    char spaced[] = "/dev/shm/memtop test XXXXXX", output[100];

    (void)state;
    /* The link's path has a space, too, so LD_PRELOAD cannot hold it either. */
    assert_non_null(mkdtemp(spaced));
    setenv("MEMTOP_DIR", spaced, 1);
    options.library = "/no where/lib.so";
    assert_int_equal(0, run(&options, &launched, output, sizeof output));
    assert_string_equal(output, "[]\n");
    assert_string_not_equal(launched.why_no_segment, "");
    assert_string_equal(launched.segment, "");
    assert_int_equal(0, finish(&launched));
    setenv("MEMTOP_DIR", directory, 1);
    rmdir(spaced);
}

static void
test_file_size_limit(void **state)
{
    struct launch_options options = {.library = libc_path,
                                     .argv = ARGV("sh", "-c", "ulimit -f")};
    struct launched launched;
    struct rlimit before, low;
    char output[100];

    (void)state;
    assert_int_equal(0, getrlimit(RLIMIT_FSIZE, &before));
    low = (struct rlimit){10240, before.rlim_max};
    assert_int_equal(0, setrlimit(RLIMIT_FSIZE, &low));
    assert_int_equal(0, run(&options, &launched, output, sizeof output));
    setrlimit(RLIMIT_FSIZE, &before);
    assert_string_equal(output, "20\n");
    assert_string_not_equal(launched.segment, "");
    assert_int_equal(0, finish(&launched));
}

/* ---- with a terminal: in a child whose descriptors 0, 1, 2 are a pty of the test
   ---- */

#define REQUIRE(condition)                                                               \
    do {                                                                                 \
        if (!(condition))                                                                \
            _exit(__LINE__ % 200 + 20);                                                  \
    } while (0)

static void
collect(struct capture *capture)
{
    struct pollfd readable = {.fd = capture_fd(capture), .events = POLLIN};
    enum capture_state state;

    while ((state = capture_read(capture)) != CAPTURE_CLOSED)
        if (state == CAPTURE_IDLE)
            REQUIRE(poll(&readable, 1, 10000) == 1);
}

static bool
has_line(struct capture *capture, const char *text)
{
    for (size_t i = 0; i < capture_line_count(capture); i++) {
        size_t length;
        const char *bytes = capture_line(capture, i, &length);

        if (length == strlen(text) && memcmp(bytes, text, length) == 0)
            return true;
    }
    return false;
}

static void
check_captured(int redirected)
{
    static const char script[] =
        "test -t 0 && test -t 1 && test -t 2 && echo terminals; stty size; "
        "stty -a | grep -q 'erase = ^H' && echo attributes; "
        "(exec </dev/tty) && echo controlling; echo leaks $(ls -l /proc/self/fd | grep "
        "-c 'ptmx\\|anon_inode'); read x; echo \"<$x>\"; "
        "trap 'stty size; exit 5' WINCH; echo ready; while :; do sleep 0.02; done";
    struct launch_options options = {.argv =
                                         ARGV("bash", "-c", (char *)(uintptr_t)script),
                                     .library = libc_path,
                                     .capture = true,
                                     .rows = 33,
                                     .cols = 77};
    struct launched launched;
    struct capture *capture;
    struct pollfd readable;
    const char *stage;
    int status;

    (void)redirected;
    REQUIRE(launch_program(&options, &launched, &stage) == 0);
    REQUIRE(launched.captured[0] && launched.captured[1] && launched.captured[2]);
    capture = capture_new(launched.pty);
    REQUIRE(capture_write(capture, "key\n", 4) == 4);
    readable = (struct pollfd){.fd = launched.pty, .events = POLLIN};
    while (!has_line(capture, "ready")) {
        REQUIRE(poll(&readable, 1, 10000) == 1);
        REQUIRE(capture_read(capture) != CAPTURE_CLOSED);
    }
    launch_resize(launched.pty, 44, 99);
    collect(capture);
    REQUIRE(waitpid(launched.pid, &status, 0) == launched.pid);
    REQUIRE(launch_exit_status(status) == 5);
    REQUIRE(has_line(capture, "terminals"));
    REQUIRE(has_line(capture, "33 77"));
    REQUIRE(has_line(capture, "44 99"));
    REQUIRE(has_line(capture, "attributes"));
    REQUIRE(has_line(capture, "controlling"));
    REQUIRE(has_line(capture, "<key>"));
    REQUIRE(has_line(capture, "leaks 0"));
    unlink(launched.segment);
    capture_free(capture);
}

/* With its standard output redirected, the pty serves as the other two. */
static void
check_redirected(int file)
{
    struct launch_options options = {.argv = ARGV("sh", "-c", "echo out; echo err >&2"),
                                     .library = libc_path,
                                     .capture = true,
                                     .rows = 24,
                                     .cols = 80};
    struct launched launched;
    struct capture *capture;
    const char *stage;
    char text[10] = "";

    dup2(file, STDOUT_FILENO);
    REQUIRE(launch_program(&options, &launched, &stage) == 0);
    REQUIRE(launched.captured[0] && !launched.captured[1] && launched.captured[2]);
    capture = capture_new(launched.pty);
    collect(capture);
    REQUIRE(waitpid(launched.pid, NULL, 0) == launched.pid);
    REQUIRE(has_line(capture, "err") && !has_line(capture, "out"));
    REQUIRE(pread(file, text, sizeof text, 0) == 4 && strcmp(text, "out\n") == 0);
    unlink(launched.segment);
    capture_free(capture);
}

/* Runs check in a child with a new pty as its terminal. */
static void
in_terminal(void (*check)(int file))
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave, status;
    int file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    struct termios attributes;
    char name[64], said[1000];
    ssize_t got;
    pid_t pid;

    assert_int_equal(0, grantpt(master));
    assert_int_equal(0, unlockpt(master));
    assert_int_equal(0, ptsname_r(master, name, sizeof name));
    slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    tcgetattr(slave, &attributes);
    attributes.c_cc[VERASE] = 'H' & 31;
    tcsetattr(slave, TCSANOW, &attributes);
    pid = fork();
    if (pid == 0) {
        for (int fd = 0; fd < 3; fd++)
            dup2(slave, fd);
        check(file);
        _exit(0);
    }
    close(slave);
    close(file);
    while ((got = read(master, said, sizeof said)) > 0) /* for a sanitizer's report */
        print_message("%.*s", (int)got, said);
    assert_int_equal(pid, waitpid(pid, &status, 0));
    assert_true(WIFEXITED(status));
    assert_int_equal(0, WEXITSTATUS(status)); /* otherwise 20 + line % 200 */
    close(master);
    assert_int_equal(0, segments_left());
}

static void
test_captured(void **state)
{
    (void)state;
    in_terminal(check_captured);
}

static void
test_redirected(void **state)
{
    (void)state;
    in_terminal(check_redirected);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_sanitizers_start),
        cmocka_unit_test(test_prepared_segment),
        cmocka_unit_test(test_arguments_and_status),
        cmocka_unit_test(test_exec_failures),
        cmocka_unit_test(test_script_without_interpreter),
        cmocka_unit_test(test_no_descriptor_leaks),
        cmocka_unit_test(test_signals_are_inherited),
        cmocka_unit_test(test_odd_library_path),
        cmocka_unit_test(test_no_directory),
        cmocka_unit_test(test_file_size_limit),
        cmocka_unit_test(test_captured),
        cmocka_unit_test(test_redirected),
    };
    Dl_info libc;
    int failed;

    if (mkdtemp(directory) == NULL
        || !dladdr((void *)(uintptr_t)gnu_get_libc_version, &libc)
        || realpath(libc.dli_fname, libc_path) == NULL)
        return 1;
    setenv("MEMTOP_DIR", directory, 1);
    unsetenv("LD_PRELOAD");
    unsetenv("MEMTOP_OPTIONS");
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(directory);
    return failed;
}
