/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The master side of the program's pty.  Each call reads a bounded amount and never
 * waits; memory is bounded by the ring of lines, the file by the spool.  So a program
 * that prints without end can neither stall memtop nor fill its memory.
 *
 * The pty ends lines with \r\n, as its settings (copied from the terminal) say.  A
 * terminal that does the same would turn this into \r\r\n.  So for a terminal \r\n is
 * changed to \n, which the terminal turns back; any other output gets the bytes
 * unchanged.
 */
#include "config.h"

#include "system/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/i18n.h"
#include "system/lines.h"
#include "system/spool.h"

#define LINES 2000
#define SPOOL_ROOM (UINT64_C(16) << 20)
#define READ_MAX (256u << 10)

struct capture {
    int pty;
    uint64_t bytes;
    struct line_ring *lines;
    struct spool *spool;
};

struct capture *
capture_new(int pty)
{
    struct capture *capture = calloc(1, sizeof *capture);

    if (capture == NULL)
        return NULL;
    capture->pty = pty;
    capture->lines = lines_new(LINES);
    capture->spool = spool_new(SPOOL_ROOM);
    if (capture->lines == NULL || capture->spool == NULL) {
        capture->pty = -1;
        capture_free(capture);
        return NULL;
    }
    fcntl(pty, F_SETFL, fcntl(pty, F_GETFL) | O_NONBLOCK);
    return capture;
}

struct capture *
capture_new_saved(void)
{
    struct capture *capture = calloc(1, sizeof *capture);

    if (capture == NULL)
        return NULL;
    capture->pty = -1;
    capture->lines = lines_new(LINES);
    if (capture->lines == NULL) {
        free(capture);
        return NULL;
    }
    return capture;
}

void
capture_feed(struct capture *capture, const char *bytes, size_t count)
{
    capture->bytes += count;
    lines_feed(capture->lines, bytes, count);
}

void
capture_free(struct capture *capture)
{
    if (capture == NULL)
        return;
    if (capture->pty >= 0)
        close(capture->pty);
    lines_free(capture->lines);
    spool_free(capture->spool);
    free(capture);
}

int
capture_fd(const struct capture *capture)
{
    return capture->pty;
}

enum capture_state
capture_read(struct capture *capture)
{
    char buffer[16384];
    size_t taken = 0;

    while (taken < READ_MAX) {
        ssize_t got = read(capture->pty, buffer, sizeof buffer);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return CAPTURE_IDLE;
        if (got <= 0) /* EIO: the other side is closed */
            return CAPTURE_CLOSED;
        taken += (size_t)got;
        capture->bytes += (uint64_t)got;
        spool_append(capture->spool, buffer, (size_t)got);
        lines_feed(capture->lines, buffer, (size_t)got);
    }
    return CAPTURE_MORE;
}

size_t
capture_write(struct capture *capture, const void *bytes, size_t count)
{
    ssize_t written;

    do
        written = write(capture->pty, bytes, count);
    while (written < 0 && errno == EINTR);
    return written > 0 ? (size_t)written : 0;
}

size_t
capture_line_count(const struct capture *capture)
{
    return lines_count(capture->lines);
}

const char *
capture_line(const struct capture *capture, size_t index, size_t *length)
{
    return lines_get(capture->lines, index, length);
}

uint64_t
capture_lines_dropped(const struct capture *capture)
{
    return lines_dropped(capture->lines);
}

uint64_t
capture_bytes(const struct capture *capture)
{
    return capture->bytes;
}

bool
capture_full_screen(const struct capture *capture)
{
    return lines_full_screen(capture->lines);
}

/* ---- to the terminal ---- */

struct capture_output {
    int fd;
    bool adds_returns; /* a terminal that makes \r\n of \n */
    bool held_return;  /* a \r that may belong to a \n to come */
};

static struct capture_output
output_open(int fd)
{
    struct capture_output output = {.fd = fd};
    struct termios attributes;

    if (tcgetattr(fd, &attributes) == 0)
        output.adds_returns =
            (attributes.c_oflag & OPOST) && (attributes.c_oflag & ONLCR);
    return output;
}

/* Writes everything, waiting if fd is in non-blocking mode. */
static int
write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(fd, bytes, count);
        struct pollfd writable = {.fd = fd, .events = POLLOUT};

        if (written < 0 && errno == EAGAIN)
            poll(&writable, 1, -1);
        else if (written < 0 && errno != EINTR)
            return -errno;
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        }
    }
    return 0;
}

/* Turns \r\n into \n; a \r at the end waits for what follows. */
static int
write_without_returns(struct capture_output *output, const char *bytes, size_t count)
{
    char buffer[4096];
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        if (output->held_return && bytes[i] != '\n')
            buffer[used++] = '\r';
        output->held_return = bytes[i] == '\r';
        if (!output->held_return)
            buffer[used++] = bytes[i];
        if (used + 2 > sizeof buffer || i + 1 == count) {
            int result = write_all(output->fd, buffer, used);

            if (result)
                return result;
            used = 0;
        }
    }
    return 0;
}

static int
output_write(void *context, const char *bytes, size_t count)
{
    struct capture_output *output = context;

    if (output->adds_returns)
        return write_without_returns(output, bytes, count);
    return write_all(output->fd, bytes, count);
}

static int
output_close(struct capture_output *output)
{
    bool held = output->held_return;

    output->held_return = false;
    return held ? write_all(output->fd, "\r", 1) : 0;
}

static int
output_gap(void *context, uint64_t bytes)
{
    struct capture_output *output = context;
    char note[160];

    snprintf(note, sizeof note,
             ngettext("\n[memtop: %" PRIu64 " byte of output left out]\n",
                      "\n[memtop: %" PRIu64 " bytes of output left out]\n",
                      plural(bytes)),
             bytes);
    output_close(output);
    return write_all(output->fd, note, strlen(note));
}

int
capture_replay(struct capture *capture, int fd)
{
    struct capture_output output = output_open(fd);
    const struct spool_reader reader = {output_write, output_gap, &output};
    int result = spool_read(capture->spool, &reader);

    return result ? result : output_close(&output);
}

/* ---- leaving ---- */

/* Copies until no process has the pty open.  If the terminal is gone the rest is dropped:
   the program must not block on a full pty. */
static void
copy_to_end(int pty, int fd)
{
    struct capture_output output = output_open(fd);
    struct pollfd readable = {.fd = pty, .events = POLLIN};
    char buffer[16384];
    bool writing = true;

    for (;;) {
        ssize_t got = read(pty, buffer, sizeof buffer);

        if (got < 0 && errno == EAGAIN)
            poll(&readable, 1, -1);
        else if (got == 0 || (got < 0 && errno != EINTR))
            break;
        if (got > 0 && writing)
            writing = output_write(&output, buffer, (size_t)got) == 0;
    }
    if (writing)
        output_close(&output);
}

/* Closes all other descriptors, so that no pipe waits for this process. */
static void
close_others(int pty, int fd)
{
    long limit = sysconf(_SC_OPEN_MAX);

    if (limit < 0 || limit > 65536)
        limit = 65536;
    for (int other = 0; other < limit; other++)
        if (other != pty && other != fd)
            close(other);
}

static _Noreturn void
run_helper(int pty, int fd)
{
    sigset_t all;

    /* A session of its own: neither ^C in our terminal nor its hang-up ends it, and it
       can write there without being in the foreground. */
    setsid();
    sigfillset(&all);
    sigdelset(&all, SIGTERM);
    sigprocmask(SIG_SETMASK, &all, NULL);
    close_others(pty, fd);
    (void)!chdir("/");
    copy_to_end(pty, fd);
    _exit(0);
}

_Noreturn void
capture_take_over(struct capture *capture, int fd)
{
    /* Only without a gap, because the note about it needs more than a handler may do. */
    if (capture->bytes <= SPOOL_ROOM)
        capture_replay(capture, fd);
    run_helper(capture->pty, fd);
}

int
capture_leave(struct capture *capture, int fd)
{
    /* Forks twice, so that the helper is init's child and not the caller's. */
    pid_t pid = fork();

    if (pid < 0)
        return -errno;
    if (pid == 0) {
        if (fork() == 0)
            run_helper(capture->pty, fd);
        _exit(0);
    }
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close(capture->pty);
    capture->pty = -1;
    return 0;
}
