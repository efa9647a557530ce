/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes a recorded allocation log (logalloc.h) independent of the run it comes
 * from: processes, their threads, and per process the slots its blocks lie in,
 * are numbered in the order they appear; a slot that was left longest ago is
 * the next to be used.  Memory is needed for live blocks only.
 *
 * Mended, which the original does not do: NULL is slot 0; a block whose
 * realloc() fails lives on; realloc() to 0 that returns NULL frees; an address
 * that is handed out while it is live has two blocks, until a realloc() that is
 * recorded late is about the older one, or a free() is added for it.
 */
#ifndef MEMTOP_MUNGE_H
#define MEMTOP_MUNGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/logalloc.h"

enum munge_verdict {
    MUNGE_GOOD,
    MUNGE_MALFORMED, /* no line of a log, or wrong arguments or result */
    MUNGE_UNKNOWN,   /* no such call */
    MUNGE_UNSEEN,    /* a block of which no allocation was seen */
    MUNGE_FAILED,    /* an allocation that failed: there is nothing to replay */
    MUNGE_NO_RESULT, /* an allocation without result */
    MUNGE_NO_MEMORY, /* the line may be lost, and others with it */
};

struct munge_options {
    bool original; /* not mended */
    /* Gets what becomes of a line, rarely with some frees before it. */
    void (*put)(void *context, const struct logalloc_line *line);
    void *context;
};

struct munge;

/* NULL if memory is short. */
struct munge *munge_new(const struct munge_options *options);

/* Any bytes, without the newline.  A line that is not good leaves no trace. */
enum munge_verdict munge_line(struct munge *munge, const char *text, size_t length);

/* The same of a line of a recorded log, parsed. */
enum munge_verdict munge_call(struct munge *munge, const struct logalloc_line *line);

/* Tells of each process but the first how many of its lines were MUNGE_UNSEEN, if any:
   what it gave up may have come from a parent that is in the log. */
void munge_tell_unseen(const struct munge *munge,
                       void (*tell)(uint64_t pid, uint64_t lines));

void munge_free(struct munge *munge);

#endif
