/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts as the counters are defined (doc/PROTOCOL): realloc()'s row has the bytes by
 * which blocks grew, free's the bytes given back.  A realloc() is two events: the first
 * removes the block from the heap, the second adds it again.
 */
#include "config.h"

#include "files/ledger.h"

#include <errno.h>
#include <stdlib.h>

#include "monitor/blockmap.h"
#include "base/array.h"
#include "base/figures.h"

/* Live blocks, if events do not have the sizes of freed blocks. */
struct ledger_blocks {
    struct blockmap places; /* index in sizes, by address */
    uint64_t *sizes;        /* sizes of blocks; in a free element the index of the next
                               free one, or NONE */
    size_t count, room;
    uint32_t free;
};

bool
ledger_init(struct ledger *ledger, uint64_t baseline_bytes, bool sizes_known,
            bool with_sizes)
{
    *ledger = (struct ledger){.now = {.live_bytes = baseline_bytes,
                                      .peak_bytes = baseline_bytes}};
    if (with_sizes)
        ledger->sizes = calloc(1, sizeof *ledger->sizes);
    if (!sizes_known)
        ledger->blocks = calloc(1, sizeof *ledger->blocks);
    if (ledger->blocks != NULL)
        ledger->blocks->free = BLOCKMAP_NONE;
    return (ledger->sizes != NULL || !with_sizes)
           && (ledger->blocks != NULL || sizes_known);
}

void
ledger_fini(struct ledger *ledger)
{
    if (ledger->blocks != NULL) {
        blockmap_fini(&ledger->blocks->places);
        free(ledger->blocks->sizes);
    }
    free(ledger->blocks);
    free(ledger->sizes);
    free(ledger->threads);
    *ledger = (struct ledger){0};
}

/* ---- blocks whose sizes must be remembered ---- */

static bool
remember(struct ledger_blocks *blocks, uint64_t address, uint64_t size)
{
    uint32_t place = blocks->free, before;

    if (place != BLOCKMAP_NONE) {
        blocks->free = (uint32_t)blocks->sizes[place];
    } else {
        if (blocks->count >= BLOCKMAP_NONE
            || !ARRAY_GROW(blocks->sizes, blocks->room, blocks->count + 1))
            return false;
        place = (uint32_t)blocks->count++;
    }
    blocks->sizes[place] = size;
    if (!blockmap_set(&blocks->places, address, place, &before))
        return false;
    if (before != BLOCKMAP_NONE) { /* its free is missing */
        blocks->sizes[before] = blocks->free;
        blocks->free = before;
    }
    return true;
}

/* Returns false if the block is not known. */
static bool
recall(struct ledger_blocks *blocks, uint64_t address, uint64_t *size)
{
    uint32_t place = blockmap_take(&blocks->places, address);

    if (place == BLOCKMAP_NONE)
        return false;
    *size = blocks->sizes[place];
    blocks->sizes[place] = blocks->free;
    blocks->free = place;
    return true;
}

/* ---- effects of calls ---- */

static struct ledger_thread *
thread_of(struct ledger *ledger, uint32_t number)
{
    if (!ARRAY_GROW(ledger->threads, ledger->thread_room, (size_t)number + 1))
        return NULL;
    if (number >= ledger->thread_count)
        ledger->thread_count = (size_t)number + 1;
    return &ledger->threads[number];
}

static void
comes(struct ledger *ledger, uint64_t size)
{
    ledger->now.live_bytes = add_saturating(ledger->now.live_bytes, size);
    ledger->now.live_blocks++;
    raise_to(&ledger->now.peak_bytes, ledger->now.live_bytes);
    if (ledger->sizes == NULL)
        return;
    ledger->sizes->allocated[histogram_cell(size)]++;
    ledger->sizes->live[histogram_coarse(size)]++;
}

static void
goes(struct ledger *ledger, uint64_t size)
{
    uint64_t *live;

    ledger->now.live_bytes = subtract_floor(ledger->now.live_bytes, size);
    ledger->now.live_blocks = subtract_floor(ledger->now.live_blocks, 1);
    if (ledger->sizes == NULL)
        return;
    live = &ledger->sizes->live[histogram_coarse(size)];
    *live = subtract_floor(*live, 1);
}

static void
count_bytes(struct ledger *ledger, struct ledger_thread *thread,
            enum segment_function row, uint64_t bytes)
{
    ledger->now.bytes[row] = add_saturating(ledger->now.bytes[row], bytes);
    if (row == FN_FREE) {
        thread->counters.freed = add_saturating(thread->counters.freed, bytes);
        return;
    }
    thread->counters.allocated = add_saturating(thread->counters.allocated, bytes);
    ledger->now.total_bytes = add_saturating(ledger->now.total_bytes, bytes);
}

static int
take_made(struct ledger *ledger, struct ledger_thread *thread,
          const struct trace_event *event)
{
    if (ledger->blocks != NULL && !remember(ledger->blocks, event->address, event->size))
        return -ENOMEM;
    count_bytes(ledger, thread, event->kind, event->size);
    comes(ledger, event->size);
    return 1;
}

/* A block is removed: by free(), or at the beginning of realloc(). */
static int
take_gone(struct ledger *ledger, struct ledger_thread *thread,
          const struct trace_event *event)
{
    uint64_t size = event->size;

    if (ledger->blocks != NULL && !recall(ledger->blocks, event->address, &size)) {
        ledger->now.unmatched++;
        size = 0;
    } else {
        goes(ledger, size);
    }
    if (event->kind == FN_FREE) {
        count_bytes(ledger, thread, FN_FREE, size);
        return 1;
    }
    thread->resized = event->address;
    thread->resized_size = size;
    return 0;
}

static int
take_resized(struct ledger *ledger, struct ledger_thread *thread,
             const struct trace_event *event)
{
    uint64_t before = thread->resized_size;
    bool failed = event->kind == EVENT_REALLOC_KEPT;
    uint64_t size = failed ? before : event->size;
    /* In a log this event does not repeat the block's address. */
    uint64_t address = failed ? thread->resized : event->address;

    if (ledger->blocks != NULL && !remember(ledger->blocks, address, size))
        return -ENOMEM;
    if (failed) {
        ledger->now.failed[FN_REALLOC]++;
        ledger->now.live_bytes = add_saturating(ledger->now.live_bytes, size);
        ledger->now.live_blocks++;
        if (ledger->sizes != NULL)
            ledger->sizes->live[histogram_coarse(size)]++;
        return 0;
    }
    count_bytes(ledger, thread, FN_REALLOC, subtract_floor(size, before));
    thread->counters.freed =
        add_saturating(thread->counters.freed, subtract_floor(before, size));
    ledger->now.realloc_dec += size < before;
    ledger->now.realloc_inplace += event->address == thread->resized;
    comes(ledger, size);
    return 1;
}

static void
take_custom(struct snapshot *now, const struct trace_event *event)
{
    if (event->kind == EVENT_CUSTOM_MADE) {
        now->custom_made++;
        now->custom_live++;
        now->custom_made_bytes = add_saturating(now->custom_made_bytes, event->size);
        now->custom_live_bytes = add_saturating(now->custom_live_bytes, event->size);
    } else {
        now->custom_freed++;
        now->custom_live = subtract_floor(now->custom_live, 1);
        now->custom_freed_bytes = add_saturating(now->custom_freed_bytes, event->size);
        now->custom_live_bytes = subtract_floor(now->custom_live_bytes, event->size);
    }
}

/* Counts each call once: a realloc() by its second event. */
static void
count_call(struct ledger *ledger, struct ledger_thread *thread,
           enum segment_function row, uint32_t depth)
{
    ledger->now.calls[row]++;
    thread->counters.calls++;
    thread->counters.stack_now = depth;
    raise_to(&thread->counters.stack_peak, depth);
    ledger->now.stack_now = depth;
    raise_to(&ledger->now.stack_peak, depth);
}

int
ledger_take(struct ledger *ledger, const struct trace_event *event)
{
    struct ledger_thread *thread;

    if (event->kind == EVENT_CUSTOM_MADE || event->kind == EVENT_CUSTOM_FREED)
        take_custom(&ledger->now, event);
    if (event->kind >= FN_COUNT
        && (event->kind < EVENT_REALLOC_FROM || event->kind > EVENT_REALLOC_KEPT))
        return 0;
    thread = thread_of(ledger, event->thread);
    if (thread == NULL)
        return -ENOMEM;
    if (event->kind == EVENT_REALLOC_FROM)
        return take_gone(ledger, thread, event);
    count_call(ledger, thread, event->kind < FN_COUNT ? event->kind : FN_REALLOC,
               event->depth);
    if (event->kind == FN_FREE)
        return take_gone(ledger, thread, event);
    if (event->kind < FN_COUNT)
        return take_made(ledger, thread, event);
    if (event->kind != EVENT_REALLOC_FREED)
        return take_resized(ledger, thread, event);
    ledger->now.realloc_freed++;
    count_bytes(ledger, thread, FN_FREE, thread->resized_size);
    return 1;
}
