/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events (segment/layout.h).  They are written only if that was asked for at the start;
 * mt_guard.mode then has MODE_EVENTS set.
 */
#ifndef MEMTOP_RING_H
#define MEMTOP_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "preload/account.h"
#include "preload/state.h"
#include "preload/ticks.h"
#include "preload/windows.h"
#include "segment/layout.h"

/*
 * Writes an event into the calling thread's ring.  A free calls this before the real
 * free, an allocation after the real call: so an address never appears to be handed out
 * twice.  If the ring is full it waits, a second at most, or the event counts as lost.
 * Keeps errno.
 */
void mt_event(unsigned kind, const void *address, uint64_t size);

/*
 * mt_count_made() and mt_count_freed() (account.h) together with the event, in
 * one update of the shard if nothing is in the way.  alignment: asked for, or 0.
 */
void mt_event_made(enum segment_function fn, const void *block, uint64_t size,
                   uint64_t usable, size_t alignment);
void mt_event_freed(const void *block, uint64_t size, uint64_t usable);

static inline struct ring *
mt_ring_own(void)
{
    return (struct ring *)(void *)((char *)mt_guard.rings + mt_thread.ring_place);
}

/* Begins an update in which a call is counted and its event written.  Returns false if
   there is no space, or no update may begin. */
static inline __attribute__((always_inline)) bool
mt_event_begin(struct shard *shard, const struct ring *ring, uint64_t *before)
{
    if (unlikely(!update_begin(shard, before)))
        return false;
    if (likely(ring->head < ring->full_at)) /* only this thread writes them */
        return true;
    update_close(shard);
    return false;
}

/* Writes an event into the thread's own ring, inside an update. */
static inline __attribute__((always_inline)) void
mt_event_write(struct ring *ring, unsigned kind, const void *address, uint64_t size,
               unsigned alignment, bool tsc)
{
    struct event *event = &mt_thread.events[ring->head & mt_guard.ring_mask];
    uint64_t depth;

    mt_ticks_write(&event->ticks, tsc);
    depth = mt_thread.stack_base - stack_pointer();
    event->address = (uintptr_t)address;
    event->size = size;
    event->depth = depth <= mt_thread.stack_limit ? (uint32_t)depth : 0;
    event->mark = 0;
    event->kind = (uint8_t)kind;
    event->alignment = (uint8_t)alignment;
    word_add_release(&ring->head, 1);
}

/* Called once in a process that is to write events, after its segment is mapped. */
void mt_ring_start(void);

#endif
