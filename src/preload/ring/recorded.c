/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the core calls of the rings.  In the mode in which calls are recorded, with sizes
 * as they are asked for and the TSC as the clock, malloc and free are whole here:
 * counting a call and writing its event is one piece of code.
 */
#include "config.h"

#include "preload/ring/recorded.h"

#include "preload/account.h"
#include "preload/blocks.h"
#include "preload/hooks.h"
#include "preload/real.h"
#include "preload/ring/ring.h"
#include "preload/sizes.h"

/* Like mt_event_made() and mt_event_freed(), with the TSC as the clock. */
static inline void
made_tsc(enum segment_function fn, const void *block, uint64_t size, uint64_t usable)
{
    struct shard *shard = mt_thread.shard;
    struct ring *ring = mt_ring_own();
    uint64_t before;

    if (unlikely(!mt_event_begin(shard, ring, &before))) {
        mt_event_made(fn, block, size, usable, 0);
        return;
    }
    count_made(shard, fn, size, usable, false);
    mt_event_write(ring, fn, block, size, 0, true);
    update_end_grown(shard, before, size);
}

static inline void
freed_tsc(const void *block, uint64_t size, uint64_t usable)
{
    struct shard *shard = mt_thread.shard;
    struct ring *ring = mt_ring_own();
    uint64_t before;

    if (unlikely(!mt_event_begin(shard, ring, &before))) {
        mt_event_freed(block, size, usable);
        return;
    }
    count_freed(shard, size, usable, false);
    mt_event_write(ring, FN_FREE, block, size, 0, true);
    update_end_shrunk(shard, before, size);
}

static void *
malloc_recorded(size_t size)
{
    void *block = mt_real.malloc(padded(size));
    size_t usable;

    if (unlikely(block == NULL) || mt_is_ours())
        return mt_made(FN_MALLOC, block, size, 0);
    if (likely(size_note(block, size, &usable)))
        made_tsc(FN_MALLOC, block, size, usable);
    return block;
}

static void
free_recorded(void *block)
{
    uint64_t size;
    size_t usable;
    unsigned flags;

    if (unlikely(!size_take(block, &size, &usable, &flags)))
        mt_count_unmatched();
    else if (likely((flags & BLOCK_OURS) == 0))
        freed_tsc(block, size, usable);
    mt_real.free(block);
}

static const struct mt_event_hooks hooks = {
    .malloc = malloc_recorded,
    .free = free_recorded,
    .made = mt_event_made,
    .freed = mt_event_freed,
    .write = mt_event,
};

void
mt_recorded_start(void)
{
    mt_ring_start();
    mt_hooks.events = &hooks;
}
