/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the interposed functions have in common: what is asked of the real allocator
   in the mode of the process, and what becomes of its answer. */
#ifndef MEMTOP_BLOCKS_H
#define MEMTOP_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/log.h"
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
   room that padded() asked for, or with NULL: counts it, in any mode.  Returns block. */
void *mt_made(enum segment_function fn, void *block, size_t size);

/* A call that allocates is complete: its line in the log, if there is one. */
static inline void *
logged(enum logalloc_call call, size_t other, size_t size, void *block)
{
    if (mt_logging())
        mt_log_made(call, other, size, block);
    return block;
}

#endif
