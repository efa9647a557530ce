/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a row of the table consists of: sizes, lifetimes, ages.  Only the stacks are
   filtered, because it shows everything about the row that was chosen.  Snapshots keep
   only sums, so for the past there are neither lifetimes nor ages. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/profile-table-private.h"

static void
add(struct site_figures *sum, const struct site_figures *part)
{
    sum->bytes += part->bytes;
    sum->objects += part->objects;
    sum->blocks += part->blocks;
    sum->samples += part->samples;
}

/* Replaces the time if this one is earlier (or later). */
static void
take_time(int64_t *time, int64_t begin_ns, uint64_t ns, bool later)
{
    int64_t run_ns;

    if (ns == 0 || ns > (uint64_t)INT64_MAX / 2)
        return;
    run_ns = begin_ns + (int64_t)ns;
    if (*time < 0 || (later ? run_ns > *time : run_ns < *time))
        *time = run_ns;
}

/* past: figures as of that snapshot; NULL: as of the last reading. */
static void
add_site(struct profile_detail *detail, const struct profile *profile,
         const struct profile_checkpoint *past, size_t index)
{
    const struct site *site = &profile->reading.sites[index];
    const struct site_then then = figures_site_at(profile, past, index);
    unsigned bucket = site->bucket < HISTOGRAM_COARSE ? site->bucket : HISTOGRAM_COARSE;
    struct profile_size *size = &detail->sizes[bucket];

    add(&size->made, &then.made);
    add(&size->live, &then.live);
    add(&size->at_peak, &then.at_peak);
    for (unsigned i = 0; !past && i < SITE_LIFETIMES; i++)
        add(&detail->freed_after[i], &site->freed_after[i]);
    if (past && then.made.blocks == 0)
        return;
    take_time(&detail->first_ns, profile->begin_ns, site->first_ns, false);
    take_time(&detail->last_ns, profile->begin_ns, site->last_ns, true);
}

static void
add_ages(struct profile_detail *detail, const struct profile *profile,
         const bool *members)
{
    const struct sites_reading *reading = &profile->reading;

    for (size_t i = 0; reading->rate > 0 && i < reading->block_count; i++) {
        const struct sampled_block *block = &reading->blocks[i];
        unsigned class;
        double weight;

        if (block->site >= profile->site_count
            || !members[profile->sites[block->site].stack])
            continue;
        weight = sites_weight(reading->rate, block->size);
        class = site_lifetime((uint64_t)profile_block_age(profile, block));
        add(&detail->alive_for[class],
            &(struct site_figures){weight * (double)block->size, weight, 1,
                                   block->samples});
    }
}

/* Drops the sizes for which there is nothing. */
static void
drop_empty(struct profile_detail *detail)
{
    for (unsigned bucket = 0; bucket <= HISTOGRAM_COARSE; bucket++) {
        struct profile_size size = detail->sizes[bucket];

        if (size.made.blocks == 0 && size.live.blocks == 0 && size.at_peak.blocks == 0)
            continue;
        size.from = bucket < HISTOGRAM_COARSE ? histogram_coarse_floor(bucket) : 0;
        size.to = bucket + 1 < HISTOGRAM_COARSE ? histogram_coarse_floor(bucket + 1) - 1
                                                : UINT64_MAX;
        detail->sizes[detail->size_count++] = size;
    }
}

bool
profile_table_detail(const struct profile_table *table, const struct profile *profile,
                     size_t row, struct profile_detail *detail)
{
    const struct profile_row *chosen = table->rows + row;
    const int64_t past_ns = table->query.past_ns;
    const struct profile_checkpoint *past =
        past_ns >= 0 ? profile_find_checkpoint(profile, past_ns) : NULL;
    bool *members;

    memset(detail, 0, sizeof *detail);
    detail->first_ns = detail->last_ns = -1;
    if (row >= table->count || !(members = calloc(profile->stack_count + 1, 1)))
        return false;
    for (size_t i = chosen->begin; i < chosen->begin + chosen->stacks; i++)
        members[table->work->order[i]] = true;
    for (size_t i = 0; i < profile->site_count; i++)
        if (members[profile->sites[i].stack])
            add_site(detail, profile, past, i);
    /* An allocation after the snapshot hides when the last one before it was. */
    if (past && detail->last_ns > past->run_ns)
        detail->last_ns = -1;
    if (!past)
        add_ages(detail, profile, members);
    drop_empty(detail);
    free(members);
    return true;
}
