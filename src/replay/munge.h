/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes a recorded allocation log (logalloc.h) independent of the run it comes from.
 * Processes, their threads and, per process, the slots of its blocks are numbered in the
 * order in which they appear; the slot that has been free longest is reused first.
 * Memory is needed only for live blocks.
 *
 * Unlike the original it mends some cases: NULL is slot 0; a block whose realloc() fails
 * stays live; realloc() to 0 that returns NULL frees; an address handed out while it is
 * live has two blocks, until a realloc() recorded late refers to the older one, or a
 * free() is added for it.
 */
#ifndef MEMTOP_MUNGE_H
#define MEMTOP_MUNGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/logalloc.h"

enum munge_verdict {
    MUNGE_GOOD,
    MUNGE_MALFORMED, /* not a line of a log, or wrong arguments or result */
    MUNGE_UNKNOWN,   /* no such call */
    MUNGE_UNSEEN,    /* a block whose allocation was not seen */
    MUNGE_FAILED,    /* an allocation that failed: nothing to replay */
    MUNGE_NO_RESULT, /* an allocation without a result */
    MUNGE_NO_MEMORY, /* the line may be lost, and others too */
};

struct munge_options {
    bool original; /* do not mend */
    /* Called with the munged line, rarely after some frees. */
    void (*put)(void *context, const struct logalloc_line *line);
    void *context;
};

struct munge;

/* Returns NULL if memory is short. */
struct munge *munge_new(const struct munge_options *options);

/* Takes a line of any bytes, without the newline.  A bad line has no effect. */
enum munge_verdict munge_line(struct munge *munge, const char *text, size_t length);

/* The same for a parsed line of a recorded log. */
enum munge_verdict munge_call(struct munge *munge, const struct logalloc_line *line);

/* Reports for each process but the first how many of its lines were MUNGE_UNSEEN, if any:
   the blocks it freed may come from a parent that is in the log. */
void munge_tell_unseen(const struct munge *munge,
                       void (*tell)(uint64_t pid, uint64_t lines));

void munge_free(struct munge *munge);

#endif
