/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Profiles that the program makes of itself (memtop/memprof.h): which blocks are sampled,
 * and which callbacks are called about them.  While there is one, mt_guard.mode has
 * MODE_PROFILED set: all wrappers take their slow paths and report here what they do.
 * This is unrelated to what memtop samples for itself.
 */
#ifndef MEMTOP_OWN_PROFILE_H
#define MEMTOP_OWN_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMPROF_NO_STUBS
#include <memtop/memprof.h>

#include "preload/internal.h"
#include "preload/state.h"
#include "preload/memprof/table.h"

/* Does the program have a profile of its own? */
static inline bool
mt_profiled(void)
{
    return unlikely((mt_guard.mode & MODE_PROFILED) != 0) && !mt_is_ours();
}

/* The program got a block.  A realloc or mremap that made no new block reports a resize
   instead.  caller: see mt_unwind(). */
void mt_profile_made(enum memprof_source source, void *block, uint64_t size,
                     const void *caller);

/* The program is about to free a block; any address may be passed. */
void mt_profile_freed(enum memprof_source source, void *block);

/* What a resize remembers about the block. */
struct profile_resize {
    struct mt_place place;   /* if it was tracked */
    void *block;
    uint64_t size;           /* if it was not */
};

/* Call before and after a block of size bytes is resized.  The end is told the outcome:
   to *made of size bytes; made NULL and size 0 means freed; made NULL otherwise means
   that the block is unchanged. */
struct profile_resize mt_profile_resize_begin(void *block, uint64_t size);
void mt_profile_resize_end(const struct profile_resize *resize,
                           enum memprof_source source, void *made, uint64_t size);

/* The parts of memprof_start() etc. that need not know whether calls are counted; each
   returns 0 or a positive errno. */
int mt_profile_start(const struct memprof_tracker *tracker, void *ctx, double rate,
                     int frames, memprof_t **out);
int mt_profile_stop(void);
int mt_profile_discard(memprof_t *profile);

/* The thread ends during a callback, which is over. */
void mt_profile_left(void);

/* In a forked child: it has no profile. */
void mt_profile_forget(void);

#endif
