/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the interposed functions have in common: what is asked of the real allocator
   in the mode of the process, and what becomes of its answer. */
#ifndef MEMTOP_BLOCKS_H
#define MEMTOP_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/log/log.h"
#include "preload/memprof/profile.h"
#include "preload/state.h"
#include "preload/trailer.h"

/* The usual mode: trailers, no events.  The fast paths are for it. */
static inline bool
usual_mode(void)
{
    return likely(mt_guard.mode == ACCOUNTING_REQUESTED);
}

static inline bool
with_trailers(void)
{
    return likely((mt_guard.mode & MODE_ACCOUNTING) == ACCOUNTING_REQUESTED);
}

static inline bool
with_events(void)
{
    return unlikely((mt_guard.mode & MODE_EVENTS) != 0);
}

/* With room for the trailer; a size that would overflow is left to the real
   allocator to refuse. */
static inline size_t
with_room(size_t size)
{
    return likely(size <= SIZE_MAX - TRAILER_BYTES) ? size + TRAILER_BYTES : size;
}

/* What to ask the real allocator for. */
static inline size_t
padded(size_t size)
{
    return with_trailers() ? with_room(size) : size;
}

/* The real allocator answered a call of fn for size bytes with block, which has the
   room that padded() asked for, or with NULL: counts it, in any mode.  alignment: asked
   for, or 0.  Returns block. */
void *mt_made(enum segment_function fn, void *block, size_t size, size_t alignment);

/* Writes the trailer of a new block of ours; returns its usable size. */
size_t mt_seal(void *block, size_t size);

/* Takes the trailer off a block of ours that is about to go: its size, what it occupies
   and is besides, a set of BLOCK_*; false if it is not ours. */
bool mt_unseal(void *block, uint64_t *size, size_t *usable, unsigned *flags);

/* Reads the size, if the block of so many usable bytes has a trailer of any kind. */
bool mt_trailer_there(void *block, size_t usable, uint64_t *size);

/* Says of a block, whose trailer is written, what it is besides, if anything. */
void mt_flag(void *block, uint64_t size, unsigned flags);

/* A block that is no business of the program's (ours.h). */
void mt_made_ours(void *block, size_t size);

/* A block that is counted and, if there are trailers, has one: should it be followed?
   caller: see mt_unwind(). */
void mt_look_at(enum segment_function fn, void *block, uint64_t size, const void *caller);

/* A call that allocates is complete: its line in the log and what the program's profiles
   are told of it, if there are any.  other is calloc's count, or an alignment; caller:
   see mt_unwind(). */
static inline void *
told_called(enum logalloc_call call, size_t other, size_t size, void *block,
            const void *caller)
{
    if (mt_logging())
        mt_log_made(call, other, size, block);
    if (mt_profiled() && call == LOGALLOC_CALLOC)
        mt_profile_made(MEMPROF_NORMAL, block, other * size, caller);
    else if (mt_profiled())
        mt_profile_made(call == LOGALLOC_MALLOC ? MEMPROF_NORMAL : MEMPROF_ALIGNED, block,
                        size, caller);
    return block;
}

static inline void *
told(enum logalloc_call call, size_t other, size_t size, void *block)
{
    return told_called(call, other, size, block, NULL);
}

#endif
