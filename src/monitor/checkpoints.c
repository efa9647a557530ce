/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Snapshots of the run, in an array ordered by time, all of it allocated at the start
 * (pages appear as they are used).  Thinning keeps snapshots as they were: nothing is
 * merged or interpolated, because what is shown for a time must have been read at that
 * time.
 */
#include "config.h"

#include "monitor/checkpoints.h"

#include <stdlib.h>
#include <string.h>

#include "base/figures.h"

struct checkpoint {
    int64_t run_ns;
    enum process_state state;
    bool measured, os_known;
    unsigned missing, children, generations;
    struct snapshot now;
    struct rates rates;
    struct procfs_memory os;
    struct rss_breakdown breakdown;
    uint64_t heap_peak, rss_anon_peak, rss_peak, stack_touched;
    uint64_t allocated[HISTOGRAM_COARSE];
    uint64_t live[HISTOGRAM_COARSE];
};

struct checkpoints {
    size_t capacity, count;
    int64_t spacing_ns;
    struct checkpoint *items;
};

struct checkpoints *
checkpoints_new(size_t capacity)
{
    struct checkpoints *checkpoints = calloc(1, sizeof *checkpoints);

    if (checkpoints == NULL)
        return NULL;
    checkpoints->capacity = capacity < 4 ? 4 : capacity;
    checkpoints->items = calloc(checkpoints->capacity, sizeof *checkpoints->items);
    if (checkpoints->items == NULL) {
        free(checkpoints);
        return NULL;
    }
    return checkpoints;
}

void
checkpoints_free(struct checkpoints *checkpoints)
{
    if (checkpoints == NULL)
        return;
    free(checkpoints->items);
    free(checkpoints);
}

/* Drops every other one but the last, so that the next one follows without a gap. */
static void
thin(struct checkpoints *checkpoints)
{
    struct checkpoint *items = checkpoints->items;
    size_t last = checkpoints->count - 1, kept = 0;

    checkpoints->spacing_ns = (items[last].run_ns - items[0].run_ns)
                              / (int64_t)(checkpoints->capacity / 2);
    for (size_t i = 0; i <= last; i++)
        if (i % 2 == 0 || i == last)
            items[kept++] = items[i];
    checkpoints->count = kept;
}

static void
keep_sizes(struct checkpoint *item, const struct histogram *sizes)
{
    memset(item->allocated, 0, sizeof item->allocated);
    for (unsigned cell = 0; cell < HISTOGRAM_CELLS; cell++) {
        uint64_t *sum = &item->allocated[histogram_cell_coarse(cell)];

        *sum = add_saturating(*sum, sizes->allocated[cell]);
    }
    memcpy(item->live, sizes->live, sizeof item->live);
}

void
checkpoints_add(struct checkpoints *checkpoints, const struct process *process)
{
    struct checkpoint *item = checkpoints->items + checkpoints->count;

    if (checkpoints->count > 0 && process->run_ns <= item[-1].run_ns) {
        item--;
    } else if (checkpoints->count == checkpoints->capacity) {
        thin(checkpoints);
        item = checkpoints->items + checkpoints->count++;
    } else {
        checkpoints->count++;
    }
    item->run_ns = process->run_ns;
    item->state = process->state;
    item->measured = process->measured;
    item->missing = process->missing;
    item->os_known = process->os_known;
    item->children = process->children;
    item->generations = process->generations;
    item->now = process->now;
    item->rates = process->rates;
    item->os = process->os;
    item->breakdown = process->breakdown;
    item->heap_peak = process->heap_peak;
    item->rss_anon_peak = process->rss_anon_peak;
    item->rss_peak = process->rss_peak;
    item->stack_touched = process->stack_touched;
    keep_sizes(item, &process->sizes);
}

int64_t
checkpoints_spacing(const struct checkpoints *checkpoints)
{
    return checkpoints->spacing_ns;
}

size_t
checkpoints_count(const struct checkpoints *checkpoints)
{
    return checkpoints->count;
}

int64_t
checkpoints_time(const struct checkpoints *checkpoints, size_t index)
{
    return checkpoints->items[index].run_ns;
}

bool
checkpoints_find(const struct checkpoints *checkpoints, int64_t run_ns, size_t *index)
{
    size_t below = 0, above = checkpoints->count;

    /* Items before below are not later than run_ns, items from above on are. */
    while (below < above) {
        size_t middle = below + (above - below) / 2;

        if (checkpoints->items[middle].run_ns <= run_ns)
            below = middle + 1;
        else
            above = middle;
    }
    if (below == 0)
        return false;
    *index = below - 1;
    return true;
}

void
checkpoints_restore(const struct checkpoints *checkpoints, size_t index,
                    struct process *process)
{
    const struct checkpoint *item = &checkpoints->items[index];
    uint32_t flags = process->identity.flags;

    if (item->generations != process->generations) {
        process->identity = (struct identity){0};
        process->identity.flags = flags; /* they describe memtop's options */
    }
    process->run_ns = item->run_ns;
    process->state = item->state;
    process->ended = false;
    process->measured = item->measured;
    process->missing = item->missing;
    process->os_known = item->os_known;
    process->children = item->children;
    process->generations = item->generations;
    process->now = item->now;
    process->rates = item->rates;
    process->os = item->os;
    process->breakdown = item->breakdown;
    process->heap_peak = item->heap_peak;
    process->rss_anon_peak = item->rss_anon_peak;
    process->rss_peak = item->rss_peak;
    process->stack_touched = item->stack_touched;
    memset(process->sizes.allocated, 0, sizeof process->sizes.allocated);
    for (unsigned bucket = 0; bucket < HISTOGRAM_COARSE; bucket++)
        process->sizes.allocated[histogram_cell(histogram_coarse_floor(bucket))] =
            item->allocated[bucket];
    memcpy(process->sizes.live, item->live, sizeof item->live);
}
