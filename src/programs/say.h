/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memtop's messages on the standard error. */
#ifndef MEMTOP_SAY_H
#define MEMTOP_SAY_H

#include <stdint.h>

/* Prints the name memtop was called by, a colon, the formatted text with control
   characters made harmless, and a newline. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* While the display uses the terminal, messages are passed to show(), and printed by
   say_release(). */
void say_hold(void (*show)(void *context, const char *text), void *context);
void say_release(void);

/* ---- progress ---- */

/* A line that shows how much of a file has been read, on a terminal only, and only if
   reading takes a while. */
struct progress {
    const char *path;
    int64_t since_ns; /* < 0: not a terminal */
    int shown;        /* percent; < 0: nothing shown yet */
};

void progress_begin(struct progress *progress, const char *path);

/* Shows that `done` of `all` is read (all 0: not known). context is the struct
   progress. */
void progress_tell(void *context, uint64_t done, uint64_t all);

/* Removes the line. */
void progress_end(const struct progress *progress);

#endif
