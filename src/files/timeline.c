/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A slot without a call keeps the values at the end of the slot before. */
#include "config.h"

#include "files/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/figures.h"

/* 8192 of them are a run of a tenth of a second. */
#define FIRST_NS 16384u

void
timeline_init(struct timeline *timeline)
{
    timeline->slot_ns = FIRST_NS;
    timeline->count = 0;
}

static struct timeline_slot
joined(const struct timeline_slot *first, const struct timeline_slot *second)
{
    struct timeline_slot slot = *second;

    raise_to(&slot.heap_max, first->heap_max);
    raise_to(&slot.stack_max, first->stack_max);
    slot.calls += first->calls;
    return slot;
}

static void
double_slots(struct timeline *timeline)
{
    size_t kept = 0;

    for (size_t i = 0; i < timeline->count; i += 2)
        timeline->slots[kept++] =
            i + 1 < timeline->count
                ? joined(&timeline->slots[i], &timeline->slots[i + 1])
                : timeline->slots[i];
    timeline->count = kept;
    timeline->slot_ns *= 2;
}

/* Opens the next slot. */
static void
advance(struct timeline *timeline)
{
    struct timeline_slot slot = {0};

    if (timeline->count > 0) {
        const struct timeline_slot *last = &timeline->slots[timeline->count - 1];

        slot.heap_max = slot.heap_last = last->heap_last;
        slot.stack_max = slot.stack_last = last->stack_last;
    }
    timeline->slots[timeline->count++] = slot;
}

bool
timeline_reach(struct timeline *timeline, uint64_t time_ns)
{
    size_t before = timeline->count;

    while (time_ns / timeline->slot_ns >= TIMELINE_SLOTS)
        double_slots(timeline);
    while (timeline->count <= time_ns / timeline->slot_ns)
        advance(timeline);
    return timeline->count != before;
}

void
timeline_set(struct timeline *timeline, uint64_t heap, uint64_t stack, bool called)
{
    struct timeline_slot *slot = &timeline->slots[timeline->count - 1];

    slot->heap_last = heap;
    slot->stack_last = stack;
    raise_to(&slot->heap_max, heap);
    raise_to(&slot->stack_max, stack);
    slot->calls += called;
}

static struct sample
sample_of(const struct timeline_slot *slot, uint64_t from_ns, uint64_t to_ns, bool rates,
          bool stack)
{
    struct sample sample = {.time_ns = (int64_t)to_ns};

    for (enum series i = 0; i < SERIES_COUNT; i++)
        sample.max[i] = sample.last[i] = HISTORY_UNKNOWN;
    sample.max[SERIES_HEAP] = slot->heap_max;
    sample.last[SERIES_HEAP] = slot->heap_last;
    if (stack) {
        sample.max[SERIES_STACK] = slot->stack_max;
        sample.last[SERIES_STACK] = slot->stack_last;
    }
    if (rates && to_ns > from_ns)
        sample.max[SERIES_CALLS] = sample.last[SERIES_CALLS] =
            (uint64_t)((double)slot->calls * 1e9 / (double)(to_ns - from_ns));
    return sample;
}

struct history *
timeline_history(const struct timeline *timeline, uint64_t end_ns, bool rates,
                 bool stack)
{
    struct sample *samples = calloc(timeline->count + 1, sizeof *samples);
    struct history *history;
    uint64_t at_ns = 0;

    if (samples == NULL)
        return NULL;
    for (size_t i = 0; i < timeline->count; i++) {
        uint64_t until_ns = (i + 1) * timeline->slot_ns;

        if (i + 1 == timeline->count && end_ns > i * timeline->slot_ns)
            until_ns = end_ns;
        samples[i] = sample_of(&timeline->slots[i], at_ns, until_ns, rates, stack);
        at_ns = until_ns;
    }
    history = history_restore(0, samples, timeline->count);
    free(samples);
    return history;
}
