/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The flight recorder.
 *
 * The open slot lives in the process block, and all threads raise its values.  The first
 * thread that reads a clock past the slot's end takes the owner flag and closes the slot:
 * into level 0, from there into the slot of level 1 that covers it, and whenever that
 * one's period is over into level 2, and so on, like the carries of a binary counter, and
 * finally into the overview.  Nobody waits: a thread that finds the flag taken goes on.
 */
#include "config.h"

#include "preload/recorder.h"

#include <time.h>

#include "preload/state.h"
#include "segment/live.h"
#include "segment/seqlock.h"

/* A thread adds its calls when the coarse clock has moved (every 1 to 10 ms), or after
   this many calls. */
#define CALLS_AT_MOST 4096u

/* The slot each level is filling; only the flag's owner touches it. */
static struct recorder_slot open_slots[RECORDER_OVERVIEW];

static struct recorder_slot *
slot_of(unsigned level, uint64_t period)
{
    struct recorder_slot *slots =
        (void *)(mt_segment.recorder + (size_t)level * RECORDER_LEVEL_SIZE);

    return &slots[(period - 1) % RECORDER_SLOTS];
}

/* Readers skip a slot whose period changes while they copy it. */
static void
write_slot(struct recorder_slot *slot, const struct recorder_slot *value)
{
    word_store(&slot->period, 0);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    word_store(&slot->calls, value->calls);
    word_store(&slot->heap_last, value->heap_last);
    word_store(&slot->heap_max, value->heap_max);
    word_store(&slot->stack_max, value->stack_max);
    __atomic_store_n(&slot->period, value->period, __ATOMIC_RELEASE);
}

static void
merge_slot(struct recorder_slot *into, const struct recorder_slot *later)
{
    into->calls += later->calls;
    into->heap_last = later->heap_last;
    if (into->heap_max < later->heap_max)
        into->heap_max = later->heap_max;
    if (into->stack_max < later->stack_max)
        into->stack_max = later->stack_max;
}

/* ---- the overview ---- */

static struct recorder_slot *
overview_at(uint64_t index)
{
    return slot_of(RECORDER_OVERVIEW, index + 1);
}

/* Merges slots 2i and 2i + 1 into slot i. */
static void
merge_neighbours(uint64_t index)
{
    struct recorder_slot merged = *overview_at(2 * index);
    const struct recorder_slot *later = overview_at(2 * index + 1);

    if (merged.period == 0)
        merged = *later;
    else if (later->period != 0)
        merge_slot(&merged, later);
    if (merged.period != 0)
        merged.period = index + 1;
    write_slot(overview_at(index), &merged);
}

static void
halve_overview(struct segment_process *process)
{
    const struct recorder_slot empty = {0, 0, 0, 0, 0};

    __atomic_add_fetch(&process->overview_sequence, 1, __ATOMIC_ACQ_REL);
    for (uint64_t index = 0; index < RECORDER_SLOTS / 2; index++)
        merge_neighbours(index);
    for (uint64_t index = RECORDER_SLOTS / 2; index < RECORDER_SLOTS; index++)
        write_slot(overview_at(index), &empty);
    word_store(&process->overview_ns, 2 * process->overview_ns);
    __atomic_add_fetch(&process->overview_sequence, 1, __ATOMIC_ACQ_REL);
}

/* Adds a closed slot of the coarsest ring. */
static void
add_to_overview(struct recorder_slot closed)
{
    struct segment_process *process = mt_segment.process;
    uint64_t begin = (closed.period - 1) * (OVERVIEW_NS_MIN / 2);
    struct recorder_slot slot;

    while (begin / process->overview_ns >= RECORDER_SLOTS) {
        if (process->overview_ns >= OVERVIEW_NS_MAX)
            return;
        halve_overview(process);
    }
    slot = *overview_at(begin / process->overview_ns);
    if (slot.period != 0) {
        merge_slot(&slot, &closed);
    } else {
        slot = closed;
        slot.period = begin / process->overview_ns + 1;
    }
    write_slot(overview_at(begin / process->overview_ns), &slot);
}

/* ---- closing slots ---- */

/* Merges a slot closed at level 0 into each level above. */
static void
carry(struct recorder_slot closed)
{
    for (unsigned level = 1; level < RECORDER_OVERVIEW; level++) {
        struct recorder_slot *open = &open_slots[level];
        uint64_t period = (closed.period - 1) / 2 + 1;
        struct recorder_slot full = *open;
        bool over = open->period != period;

        if (over) {
            *open = closed;
            open->period = period;
        } else {
            merge_slot(open, &closed);
        }
        write_slot(slot_of(level, period), open);
        if (!over || full.period == 0)
            return;
        closed = full;
    }
    add_to_overview(closed);
}

/* Closes the open slot; last: it is the last one before a sleep. */
static void
close_slot(bool last)
{
    struct segment_process *process = mt_segment.process;
    uint64_t start = mt_segment.header->created_ns;
    uint64_t calls = word_load(&process->recorder_calls);
    int64_t heap = __atomic_load_n(&process->current, __ATOMIC_RELAXED);
    struct recorder_slot slot = {
        .period = (process->recorder_end - start) / RECORDER_SLOT_NS,
        .calls = calls - process->recorder_calls_before,
        .heap_last = heap > 0 ? (uint64_t)heap : 0,
        .heap_max = word_load(&process->recorder_heap_max),
        .stack_max = word_load(&process->recorder_stack_max),
    };

    if (slot.heap_max < slot.heap_last)
        slot.heap_max = slot.heap_last;
    word_store(&process->recorder_calls_before, calls);
    word_store(&process->recorder_heap_max, slot.heap_last);
    word_store(&process->recorder_stack_max, 0);
    if (last)
        slot.heap_last = RECORDER_ASLEEP;
    write_slot(slot_of(0, slot.period), &slot);
    carry(slot);
}

/* Opens the slot that contains the time now. */
static void
open_slot(uint64_t now)
{
    uint64_t start = mt_segment.header->created_ns;

    word_store(&mt_segment.process->recorder_end,
               start + ((now - start) / RECORDER_SLOT_NS + 1) * RECORDER_SLOT_NS);
}

bool
mt_recorder_take(void)
{
    uint32_t nobody = 0;

    return __atomic_compare_exchange_n(&mt_segment.process->recorder_owner, &nobody, 1,
                                       false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void
mt_recorder_give(void)
{
    __atomic_store_n(&mt_segment.process->recorder_owner, 0, __ATOMIC_RELEASE);
}

/* Where the last slot before the sleep ended. */
static uint64_t slept_from;

void
mt_recorder_sleep(uint64_t now)
{
    struct segment_process *process = mt_segment.process;

    if (now >= word_load(&process->recorder_end)) {
        close_slot(false);
        open_slot(now);
    }
    slept_from = word_load(&process->recorder_end);
    close_slot(true);
    word_store(&process->recorder_end, UINT64_MAX);
}

void
mt_recorder_wake(uint64_t now)
{
    struct segment_process *process = mt_segment.process;

    word_store(&process->recorder_calls_before, word_load(&process->recorder_calls));
    word_store(&process->recorder_heap_max, 0);
    word_store(&process->recorder_stack_max, 0);
    open_slot(now < slept_from ? slept_from : now); /* one slot per period */
}

void
mt_recorder_start(void)
{
    struct segment_process *process = mt_segment.process;

    for (unsigned level = 0; level < RECORDER_OVERVIEW; level++)
        open_slots[level].period = 0;
    process->overview_ns = OVERVIEW_NS_MIN;
    __atomic_store_n(&process->recorder_end,
                     mt_segment.header->created_ns + RECORDER_SLOT_NS, __ATOMIC_RELEASE);
}

bool
mt_recorder_due(const struct shard *shard)
{
    uint64_t now;

    if (mt_segment.header->flags & SEGMENT_FLAG_NO_CLOCK)
        return false;
    now = mt_now_coarse();
    if (now == mt_thread.looked_ns
        && hot_calls_folded(&shard->hot) - mt_thread.looked_calls < CALLS_AT_MOST)
        return false;
    mt_thread.looked_ns = now;
    return true;
}

void
mt_recorder_look(const struct shard *shard, uint64_t depth)
{
    struct segment_process *process = mt_segment.process;
    uint64_t now = mt_thread.looked_ns, calls = hot_calls_folded(&shard->hot);

    word_add_shared(&process->recorder_calls, calls - mt_thread.looked_calls);
    mt_thread.looked_calls = calls;
    if (now >= word_load(&process->recorder_end) && mt_recorder_take()) {
        if (now >= word_load(&process->recorder_end)) {
            close_slot(false);
            open_slot(now);
        }
        mt_recorder_give();
    }
    word_max_shared(&process->recorder_stack_max, depth);
}
