/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Captures what the program prints on its pty: the latest lines for the output view, and
 * every byte for the terminal when the display ends.
 */
#ifndef MEMTOP_CAPTURE_H
#define MEMTOP_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture;

enum capture_state {
    CAPTURE_IDLE,   /* nothing more for now */
    CAPTURE_MORE,   /* there may be more: call again */
    CAPTURE_CLOSED  /* no process has the terminal open: stop polling */
};

/* Takes over the master side of a pty.  Returns NULL if memory is short. */
struct capture *capture_new(int pty);
void capture_free(struct capture *capture);

/* Makes a capture of saved output: without a pty, only lines that are fed.  Returns NULL
   if memory is short. */
struct capture *capture_new_saved(void);

/* Adds lines as if the program had printed them; they are not replayed. */
void capture_feed(struct capture *capture, const char *bytes, size_t count);

/* The descriptor to poll() for POLLIN; -1: none. */
int capture_fd(const struct capture *capture);

/* Reads what is available: never blocks, at most 256 KiB a call. */
enum capture_state capture_read(struct capture *capture);

/* Sends keys to the program; never blocks.  Returns how many bytes the pty took (its
   buffer may be full). */
size_t capture_write(struct capture *capture, const void *bytes, size_t count);

/* The latest lines; 0 is the oldest kept, the last one may be unfinished.  Escape
   sequences and control bytes are removed, except tabs; other bytes are as printed, not
   NUL-terminated, and borrowed until the next capture_read(). */
size_t capture_line_count(const struct capture *capture);
const char *capture_line(const struct capture *capture, size_t index, size_t *length);

/* The number of lines that are no longer kept, which is the number of line 0. */
uint64_t capture_lines_dropped(const struct capture *capture);

/* Bytes read so far. */
uint64_t capture_bytes(const struct capture *capture);

/* True once the program has switched to the alternate screen: it wants a terminal of its
   own. */
bool capture_full_screen(const struct capture *capture);

/*
 * Writes everything read so far to fd, in order, as the program meant it for a terminal.
 * If it is more than 16 MiB the middle is left out, and a note says how much.  Returns 0
 * or -errno.
 */
int capture_replay(struct capture *capture, int fd);

/*
 * Leaves a running program: a separate process keeps the pty and copies what the program
 * prints to fd until its end.  Replay first.  Afterwards the capture can only be freed.
 * Returns 0 or -errno.
 */
int capture_leave(struct capture *capture, int fd);

/*
 * For a copy of memtop that has crashed: writes what was read to fd, unless it was very
 * much, then keeps the pty and copies until the program's end.  Does only what a signal
 * handler may do.  Does not return.
 */
_Noreturn void capture_take_over(struct capture *capture, int fd);

#endif
