/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Profiles that the program makes of itself (memtop/memprof.h): which blocks are
 * sampled, and what is called of them.  While there is one, mt_guard.mode has
 * MODE_PROFILED set, which leads to the slow paths of all wrappers, and these tell here
 * what they do.  Nothing of it has to do with what memtop samples for itself.
 */
#ifndef MEMTOP_PROFILE_H
#define MEMTOP_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMPROF_NO_STUBS
#include <memtop/memprof.h>

#include "preload/ours.h"
#include "preload/state.h"
#include "preload/memprof/table.h"

/* Is there a profile of the program's own? */
static inline bool
mt_profiled(void)
{
    return unlikely((mt_guard.mode & MODE_PROFILED) != 0) && !mt_is_ours();
}

/* The program has got a block; a call of realloc or mremap that made no new one tells
   of it as a resize.  caller: see mt_unwind(). */
void mt_profile_made(enum memprof_source source, void *block, uint64_t size,
                     const void *caller);

/* It is about to give one up, which may be any address. */
void mt_profile_freed(enum memprof_source source, void *block);

/* What a resize has to remember of the block. */
struct profile_resize {
    struct mt_place place;   /* if it was tracked */
    void *block;
    uint64_t size;           /* if it was not */
};

/* A block of so many bytes is about to be resized, and was: to *made of size bytes; made
   NULL and size 0: it was freed; NULL else: it is there as before. */
struct profile_resize mt_profile_resize_begin(void *block, uint64_t size);
void mt_profile_resize_end(const struct profile_resize *resize, enum memprof_source source,
                           void *made, uint64_t size);

/* The parts of memprof_start() and so on that need not know whether calls are
   counted; each returns 0 or a positive errno. */
int mt_profile_start(const struct memprof_tracker *tracker, void *ctx, double rate,
                     int frames, memprof_t **out);
int mt_profile_stop(void);
int mt_profile_discard(memprof_t *profile);

/* The thread ends in the midst of a callback, which is over. */
void mt_profile_left(void);

/* In a forked child: there is none. */
void mt_profile_forget(void);

#endif
