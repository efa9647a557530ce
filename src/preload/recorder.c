/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The flight recorder.
 *
 * The open slot lives in the process block, and all threads raise its values.  The first
 * thread that reads a clock past the slot's end takes the owner flag and closes the slot:
 * into level 0, from there into the slot of level 1 that covers it, and whenever that
 * one's period is over into level 2, and so on, like the carries of a binary counter, and
 * finally into the overview.  Nobody waits: a thread that finds the flag taken goes on.
 *
 * Most processes end soon, so a level gets memory when the one below it is full, and
 * begins with what that one holds: one system call each time the recorder doubles its
 * reach.  A level for which there is no memory passes on what it is given and keeps
 * nothing.
 */
#include "config.h"

#include "preload/recorder.h"

#include <time.h>

#include "preload/clock.h"
#include "preload/publish.h"
#include "preload/shard.h"
#include "preload/state.h"
#include "segment/live.h"
#include "segment/seqlock.h"

/* A thread adds its calls when the coarse clock has moved (every 1 to 10 ms), or after
   this many calls. */
#define CALLS_AT_MOST 4096u

/* The slot each level is filling; only the flag's owner touches it, and what follows. */
static struct recorder_slot open_slots[RECORDER_OVERVIEW];

static unsigned levels;      /* that have begun */
static bool first_extended;  /* level 0 was to get more than its first page */
static bool all_present;     /* all pages are, whether they are used or not */

/* Whether a dormant process has fallen asleep before it had a page of slots. */
static bool sleep_unwritten;

/* ---- the slots' memory ---- */

static struct recorder_slot *
slot_at(unsigned level, uint64_t index)
{
    struct recorder_slot *slots =
        (void *)(mt_segment.recorder + (size_t)level * RECORDER_LEVEL_SIZE);

    return &slots[index];
}

static uint32_t
reach_of(unsigned level)
{
    return mt_segment.process->recorder_reach[level];
}

/* Gives a level that many slots, if there is memory for them. */
static bool
reach_to(unsigned level, uint32_t slots)
{
    if (!all_present
        && (mt_sandboxed
            || !mt_make_present(slot_at(level, 0), slots * sizeof(struct recorder_slot))))
        return false;
    __atomic_store_n(&mt_segment.process->recorder_reach[level], slots, __ATOMIC_RELEASE);
    return true;
}

void
mt_recorder_complete(void)
{
    if (!all_present)
        all_present =
            mt_make_present(slot_at(0, 0), (size_t)RECORDER_LEVELS * RECORDER_LEVEL_SIZE);
}

/* ---- a slot ---- */

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

/* Puts a slot into its place in a level. */
static void
keep_slot(unsigned level, const struct recorder_slot *value)
{
    uint32_t reach = reach_of(level);

    if (reach > 0)
        write_slot(slot_at(level, (value->period - 1) % reach), value);
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
    return slot_at(RECORDER_OVERVIEW, index);
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
    uint32_t reach = reach_of(RECORDER_OVERVIEW);

    __atomic_add_fetch(&process->overview_sequence, 1, __ATOMIC_ACQ_REL);
    for (uint64_t index = 0; index < reach / 2; index++)
        merge_neighbours(index);
    for (uint64_t index = reach / 2; index < reach; index++)
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
    uint32_t reach = reach_of(RECORDER_OVERVIEW);
    struct recorder_slot slot;

    while (begin / process->overview_ns >= reach) {
        if (reach == 0 || process->overview_ns >= OVERVIEW_NS_MAX)
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

static void begin_level(unsigned level);

/* Called before a level keeps the slot of period: it may overwrite another one. */
static void
make_way(unsigned level, uint64_t period)
{
    if (level == 0 && period > reach_of(0) && !first_extended) {
        first_extended = true;
        reach_to(0, RECORDER_SLOTS);
    }
    if (period > reach_of(level) && levels == level + 1)
        begin_level(level + 1);
}

/* Merges a slot closed at the level below into this level and, as their slots are over,
   those above. */
static void
carry(unsigned level, struct recorder_slot closed)
{
    for (; level < levels && level < RECORDER_OVERVIEW; level++) {
        struct recorder_slot *open = &open_slots[level];
        uint64_t period = (closed.period - 1) / 2 + 1;
        struct recorder_slot full = *open;
        bool over = open->period != period;

        if (over) {
            make_way(level, period);
            *open = closed;
            open->period = period;
        } else {
            merge_slot(open, &closed);
        }
        keep_slot(level, open);
        if (!over || full.period == 0)
            return;
        closed = full;
    }
    if (level < levels)
        add_to_overview(closed);
}

/* Begins a level with what the one below it holds, but for its open slot.  That one has
   never overwritten a slot, so its slots are in order. */
static void
begin_level(unsigned level)
{
    unsigned below = level - 1;
    uint64_t open = below > 0 ? open_slots[below].period : 0;
    uint32_t count = reach_of(below);

    levels = level + 1;
    if (!reach_to(level, RECORDER_SLOTS))
        reach_to(level, RECORDER_PAGE_SLOTS);
    for (uint32_t i = 0; i < count; i++) {
        struct recorder_slot slot = *slot_at(below, i);
        if (slot.period != 0 && slot.period != open)
            carry(level, slot);
    }
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
    make_way(0, slot.period);
    keep_slot(0, &slot);
    carry(1, slot);
}

/* Opens the slot that contains the time now. */
static void
open_slot(uint64_t now)
{
    uint64_t start = mt_segment.header->created_ns;

    word_store(&mt_segment.process->recorder_end,
               start + ((now - start) / RECORDER_SLOT_NS + 1) * RECORDER_SLOT_NS);
}

/* What the owner flag is while this thread has it. */
static uint32_t
own_flag(void)
{
    return mt_own_shard() + 1;
}

bool
mt_recorder_take(void)
{
    uint32_t nobody = 0;

    return __atomic_compare_exchange_n(&mt_segment.process->recorder_owner, &nobody,
                                       own_flag(), false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

void
mt_recorder_give(void)
{
    __atomic_store_n(&mt_segment.process->recorder_owner, 0, __ATOMIC_RELEASE);
}

void
mt_recorder_left(void)
{
    struct segment_process *process = mt_segment.process;

    if (__atomic_load_n(&process->recorder_owner, __ATOMIC_RELAXED) != own_flag())
        return;
    if (process->overview_sequence & 1)
        __atomic_add_fetch(&process->overview_sequence, 1, __ATOMIC_ACQ_REL);
    mt_recorder_give();
}

void
mt_recorder_ready(void)
{
    if (reach_of(0) == 0)
        reach_to(0, RECORDER_PAGE_SLOTS);
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
    sleep_unwritten = reach_of(0) == 0;
    if (!sleep_unwritten)
        close_slot(true);
    word_store(&process->recorder_end, UINT64_MAX);
}

void
mt_recorder_wake(uint64_t now)
{
    struct segment_process *process = mt_segment.process;

    mt_recorder_ready();
    if (sleep_unwritten) {
        word_store(&process->recorder_end, slept_from);
        close_slot(true);
        sleep_unwritten = false;
    }
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
    levels = 1;
    first_extended = sleep_unwritten = false;
    all_present = !mt_present_later(); /* then they are from the start */
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
