/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A real pty, raw or like a terminal, with this test on both sides. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <cmocka.h>

#include "system/capture.h"

/* Opens a pty; *slave is its other side. */
static int
open_pair(int *slave)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    char name[64];

    assert_true(master >= 0);
    assert_int_equal(0, grantpt(master));
    assert_int_equal(0, unlockpt(master));
    assert_int_equal(0, ptsname_r(master, name, sizeof name));
    *slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(*slave >= 0);
    return master;
}

/* Reads until the pty is closed, waiting like the display's loop. */
static void
read_to_end(struct capture *capture)
{
    struct pollfd readable = {.fd = capture_fd(capture), .events = POLLIN};
    enum capture_state state;

    while ((state = capture_read(capture)) != CAPTURE_CLOSED)
        if (state == CAPTURE_IDLE)
            assert_int_equal(1, poll(&readable, 1, 10000));
}

/* The file's contents from its beginning. */
static char *
contents(int file, size_t *size)
{
    struct stat st;
    char *bytes;

    assert_int_equal(0, fstat(file, &st));
    *size = (size_t)st.st_size;
    bytes = calloc(1, *size + 1);
    assert_int_equal(*size, pread(file, bytes, *size, 0));
    return bytes;
}

static int
temporary(void)
{
    int file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    assert_true(file >= 0);
    return file;
}

static void
test_lines_and_replay(void **state)
{
    int slave, file = temporary();
    struct capture *capture = capture_new(open_pair(&slave));
    size_t size;
    char *bytes;

    (void)state;
    assert_int_equal(CAPTURE_IDLE, capture_read(capture));
    assert_int_equal(17, write(slave, "one\n\033[1mtwo\033[m\nt", 17));
    close(slave);
    read_to_end(capture);
    assert_int_equal(capture_line_count(capture), 3);
    assert_memory_equal(capture_line(capture, 1, &size), "two", 3);
    assert_int_equal(size, 3);
    assert_false(capture_full_screen(capture));
    assert_int_equal(capture_bytes(capture), 19);
    assert_int_equal(0, capture_replay(capture, file));
    bytes = contents(file, &size);
    assert_string_equal(bytes, "one\r\n\033[1mtwo\033[m\r\nt");
    free(bytes);
    close(file);
    capture_free(capture);
}

/* On a terminal that adds carriage returns, the program's bytes arrive as they would
   without memtop in between. */
static void
test_replay_to_terminal(void **state)
{
    static const char printed[] = "a\nb\r\r\nprogress\rdone\n\r";
    int slave, terminal, direct;
    struct capture *capture = capture_new(open_pair(&slave));
    struct capture *replayed = capture_new(open_pair(&terminal));
    struct capture *straight = capture_new(open_pair(&direct));
    size_t a, b;
    int file_a = temporary(), file_b = temporary();
    char *bytes_a, *bytes_b;

    (void)state;
    assert_int_equal(sizeof printed - 1, write(slave, printed, sizeof printed - 1));
    assert_int_equal(sizeof printed - 1, write(direct, printed, sizeof printed - 1));
    close(slave);
    close(direct);
    read_to_end(capture);
    assert_int_equal(0, capture_replay(capture, terminal));
    close(terminal);
    read_to_end(replayed);
    read_to_end(straight);
    capture_replay(replayed, file_a);
    capture_replay(straight, file_b);
    bytes_a = contents(file_a, &a);
    bytes_b = contents(file_b, &b);
    assert_string_equal(bytes_a, bytes_b);
    free(bytes_a);
    free(bytes_b);
    close(file_a);
    close(file_b);
    capture_free(capture);
    capture_free(replayed);
    capture_free(straight);
}

/* 43 MB of numbered lines from a child: the first and the last arrive, the note says how
   much is missing, and memory holds 2000 lines. */
static void
test_flood(void **state)
{
    int slave, file = temporary();
    struct capture *capture = capture_new(open_pair(&slave));
    size_t size, length;
    char *bytes, *note, *after;
    uint64_t left_out;
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        FILE *out = fdopen(slave, "w");

        for (int i = 0; i < 1000000; i++)
            fprintf(out, "line %07d of a chatty program.........\n", i);
        fclose(out);
        _exit(0);
    }
    close(slave);
    read_to_end(capture);
    assert_int_equal(pid, waitpid(pid, NULL, 0));
    assert_int_equal(capture_bytes(capture), UINT64_C(43000000));
    assert_int_equal(capture_line_count(capture), 2000);
    assert_int_equal(capture_lines_dropped(capture), 998000);
    assert_memory_equal(capture_line(capture, 1999, &length), "line 0999999", 12);
    assert_int_equal(0, capture_replay(capture, file));
    bytes = contents(file, &size);
    assert_memory_equal(bytes, "line 0000000", 12);
    note = strstr(bytes, "\n[memtop: ");
    assert_non_null(note);
    left_out = strtoull(note + 10, NULL, 10);
    assert_int_equal(left_out, UINT64_C(43000000) - (16 << 20));
    assert_int_equal(note - bytes, 8 << 20);
    after = strstr(note, "]\n");
    assert_int_equal(bytes + size - (after + 2), 8 << 20);
    assert_memory_equal(bytes + size - 43, "line 0999999", 12);
    free(bytes);
    close(file);
    capture_free(capture);
}

/* One call takes a limited amount, however much there is. */
static void
test_call_is_bounded(void **state)
{
    int slave;
    struct capture *capture = capture_new(open_pair(&slave));
    pid_t pid = fork();
    struct pollfd readable = {.fd = capture_fd(capture), .events = POLLIN};

    (void)state;
    if (pid == 0) {
        char block[4096];

        memset(block, 'x', sizeof block);
        for (;;)
            if (write(slave, block, sizeof block) < 0)
                _exit(0);
    }
    close(slave);
    for (int i = 0; i < 20; i++) {
        uint64_t before = capture_bytes(capture);

        poll(&readable, 1, 10000);
        assert_int_not_equal(CAPTURE_CLOSED, capture_read(capture));
        assert_true(capture_bytes(capture) - before <= (256 << 10) + 16384);
    }
    kill(pid, SIGKILL);
    assert_int_equal(pid, waitpid(pid, NULL, 0));
    capture_free(capture);
}

static void
test_keys(void **state)
{
    int slave;
    struct capture *capture = capture_new(open_pair(&slave));
    static char many[1 << 20];
    char line[16];

    (void)state;
    assert_int_equal(3, capture_write(capture, "hi\n", 3));
    assert_int_equal(3, read(slave, line, sizeof line));
    assert_memory_equal(line, "hi\n", 3);
    /* Nobody reads, and writing does not wait. */
    memset(many, 'x', sizeof many);
    assert_true(capture_write(capture, many, sizeof many) < sizeof many);
    close(slave);
    capture_free(capture);
}

/* The helper copies later output to its end, and is not a child of this process. */
static void
test_leave(void **state)
{
    int slave, out[2];
    struct capture *capture = capture_new(open_pair(&slave));
    char text[64] = "";
    size_t used = 0;
    ssize_t got;

    (void)state;
    assert_int_equal(0, pipe2(out, O_CLOEXEC));
    assert_int_equal(0, capture_leave(capture, out[1]));
    capture_free(capture);
    close(out[1]);
    assert_int_equal(-1, waitpid(-1, NULL, WNOHANG));
    assert_int_equal(ECHILD, errno);
    assert_int_equal(6, write(slave, "later\n", 6));
    assert_int_equal(4, write(slave, "end\n", 4));
    close(slave);
    while ((got = read(out[0], text + used, sizeof text - 1 - used)) > 0)
        used += (size_t)got;
    assert_string_equal(text, "later\r\nend\r\n");
    close(out[0]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_and_replay),
        cmocka_unit_test(test_replay_to_terminal),
        cmocka_unit_test(test_flood),
        cmocka_unit_test(test_call_is_bounded),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
