/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When the slots do not suffice every two become one: then half of them are in use. */
#include "config.h"

#include "monitor/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/figures.h"

struct timeline *
timeline_new(size_t most, uint64_t width)
{
    struct timeline *timeline =
        calloc(1, sizeof *timeline + most * sizeof *timeline->slots);

    if (timeline == NULL)
        return NULL;
    timeline->most = most;
    timeline->width = width;
    return timeline;
}

void
timeline_free(struct timeline *timeline)
{
    free(timeline);
}

/* ---- adding ---- */

static void
merge(struct timeline_slot *slot, const struct timeline_slot *later)
{
    if (!later->known)
        return;
    for (unsigned i = 0; i < TIMELINE_LINES; i++)
        raise_to(&slot->max[i], later->max[i]);
    memcpy(slot->last, later->last, sizeof slot->last);
    slot->calls += later->calls;
    slot->known = true;
}

static void
double_width(struct timeline *timeline)
{
    const struct timeline_slot nothing = {.known = false};
    size_t kept = 0;

    for (size_t i = 0; i < timeline->count; i += 2) {
        struct timeline_slot slot = timeline->slots[i];

        if (i + 1 < timeline->count)
            merge(&slot, &timeline->slots[i + 1]);
        timeline->slots[kept++] = slot;
    }
    for (size_t i = kept; i < timeline->count; i++)
        timeline->slots[i] = nothing;
    timeline->count = kept;
    timeline->width *= 2;
}

bool
timeline_reach(struct timeline *timeline, uint64_t x)
{
    size_t before = timeline->count;

    while (x / timeline->width >= timeline->most)
        double_width(timeline);
    if (timeline->count <= x / timeline->width)
        timeline->count = x / timeline->width + 1;
    return timeline->count != before;
}

void
timeline_add(struct timeline *timeline, uint64_t x, uint64_t heap, uint64_t stack,
             bool called)
{
    struct timeline_slot slot = {.known = true,
                                 .calls = called,
                                 .last = {heap, stack, add_saturating(heap, stack)}};

    memcpy(slot.max, slot.last, sizeof slot.max);
    for (unsigned i = 0; i < TIMELINE_LINES; i++)
        if (timeline->count == 0 || slot.last[i] > timeline->peak[i]) {
            timeline->peak[i] = slot.last[i];
            timeline->peak_x[i] = x;
        }
    timeline_reach(timeline, x);
    timeline->calls += called;
    merge(&timeline->slots[timeline->count - 1], &slot);
}

/* ---- reading ---- */

bool
timeline_peak(const struct timeline *timeline, enum timeline_line line, uint64_t *value,
              uint64_t *x)
{
    *value = timeline->peak[line];
    *x = timeline->peak_x[line];
    return timeline->calls > 0;
}

/* Fills gaps: between calls the values do not change. */
static void
fill_gaps(struct column *columns, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (!columns[i].known && columns[i - 1].known)
            columns[i] = (struct column){columns[i - 1].last, columns[i - 1].last, true};
}

void
timeline_columns(const struct timeline *timeline, enum timeline_line line, uint64_t end,
                 struct column *columns, size_t count)
{
    memset(columns, 0, count * sizeof *columns);
    for (uint64_t i = 0; i < timeline->count && end > 0; i++) {
        const struct timeline_slot *slot = &timeline->slots[i];
        double place = (double)(i * timeline->width) / (double)end * (double)count;
        size_t at = place < (double)count ? (size_t)place : count - 1;

        if (!slot->known)
            continue;
        raise_to(&columns[at].max, slot->max[line]);
        columns[at].last = slot->last[line];
        columns[at].known = true;
    }
    fill_gaps(columns, count);
}

/* ---- as a history ---- */

/* What a slot adds to a history; sample holds the one before it, or zeros. */
static void
next_sample(struct sample *sample, const struct timeline_slot *slot, uint64_t to_ns,
            bool rates, bool stack)
{
    static const enum timeline_line lines[] = {
        [SERIES_HEAP] = TIMELINE_HEAP, [SERIES_STACK] = TIMELINE_STACK};
    uint64_t ns = to_ns - (uint64_t)sample->time_ns;

    for (enum series i = SERIES_HEAP; i <= SERIES_STACK; i++) {
        sample->max[i] = sample->last[i]; /* as it begins */
        if (slot->known) {
            raise_to(&sample->max[i], slot->max[lines[i]]);
            sample->last[i] = slot->last[lines[i]];
        }
    }
    sample->time_ns = (int64_t)to_ns;
    if (!stack)
        sample->max[SERIES_STACK] = sample->last[SERIES_STACK] = HISTORY_UNKNOWN;
    sample->max[SERIES_RSS] = sample->last[SERIES_RSS] = HISTORY_UNKNOWN;
    sample->max[SERIES_CALLS] = sample->last[SERIES_CALLS] =
        rates && ns > 0 ? (uint64_t)((double)slot->calls * 1e9 / (double)ns)
                        : HISTORY_UNKNOWN;
}

/* Does a sample of the history end with the slot?  Slots in which nothing happened are
   one sample. */
static bool
ends_sample(const struct timeline *timeline, size_t index)
{
    return timeline->slots[index].known || index + 1 == timeline->count
           || timeline->slots[index + 1].known;
}

struct history *
timeline_history(const struct timeline *timeline, uint64_t end_ns, bool rates, bool stack)
{
    struct sample *samples = calloc(timeline->count + 1, sizeof *samples), sample = {0};
    struct history *history;
    size_t count = 0;

    if (samples == NULL)
        return NULL;
    for (size_t i = 0; i < timeline->count; i++) {
        uint64_t until_ns = (i + 1) * timeline->width;

        if (!ends_sample(timeline, i) || (count == 0 && !timeline->slots[i].known))
            continue;
        if (i + 1 == timeline->count)
            until_ns = end_ns > i * timeline->width ? end_ns : i * timeline->width;
        next_sample(&sample, &timeline->slots[i], until_ns, rates, stack);
        samples[count++] = sample;
    }
    history = history_restore(0, samples, count);
    free(samples);
    return history;
}
