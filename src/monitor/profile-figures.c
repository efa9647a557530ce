/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Computes what a query asks about each call stack.  Most figures come from the sums of
 * sites.  Those that depend on ages come from the live sampled blocks, whose exact sizes
 * are known: their weights give their variance without approximation.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/profile-private.h"

double
profile_error(const struct profile_figures *figures)
{
    double bytes = fabs(figures->bytes);

    return bytes > 0 ? sqrt(figures->bytes_variance) / bytes : -1;
}

double
profile_age(const struct profile_figures *figures)
{
    return figures->age_objects > 0 ? figures->age_sum_ns / figures->age_objects : -1;
}

void
figures_add(struct profile_figures *sum, const struct profile_figures *part)
{
    sum->bytes += part->bytes;
    sum->objects += part->objects;
    sum->bytes_variance += part->bytes_variance;
    sum->objects_variance += part->objects_variance;
    sum->blocks += part->blocks;
    sum->made_bytes += part->made_bytes;
    sum->made_objects += part->made_objects;
    sum->bytes_rate += part->bytes_rate;
    sum->objects_rate += part->objects_rate;
    sum->growth += part->growth;
    sum->age_sum_ns += part->age_sum_ns;
    sum->age_objects += part->age_objects;
    if (part->oldest_ns > sum->oldest_ns)
        sum->oldest_ns = part->oldest_ns;
}

/* The sum of the squares of the weights; where it is not known, that of equal weights. */
static double
squares_of(const struct site_figures *figures)
{
    if (figures->squares > 0)
        return figures->squares;
    return figures->objects * figures->objects / (double)figures->blocks;
}

/* A block of weight w adds w (w - 1) y^2.  All are of about the same size, so y is the
   mean. */
static double
variance(double sum, const struct site_figures *figures)
{
    double mean, squares;

    if (figures->blocks == 0 || figures->objects <= (double)figures->blocks)
        return 0;
    mean = sum / figures->objects;
    squares = squares_of(figures) - figures->objects;
    return squares > 0 ? mean * mean * squares : 0;
}

static void
add_sums(struct profile_figures *to, const struct site_figures *figures)
{
    to->bytes += figures->bytes;
    to->objects += figures->objects;
    to->bytes_variance += variance(figures->bytes, figures);
    to->objects_variance += variance(figures->objects, figures);
    to->blocks += figures->blocks;
}

static struct site_figures
unpack(const struct profile_kept *kept)
{
    return (struct site_figures){.bytes = (double)kept->bytes,
                                 .objects = (double)kept->objects,
                                 .blocks = kept->blocks};
}

struct site_then
figures_site_at(const struct profile *profile,
                const struct profile_checkpoint *checkpoint, size_t index)
{
    const struct site *site = &profile->reading.sites[index];

    if (checkpoint == NULL)
        return (struct site_then){site->made, site->live, site->at_peak};
    if (index >= checkpoint->count)
        return (struct site_then){.made = {.bytes = 0}};
    return (struct site_then){unpack(&checkpoint->sites[index].made),
                              unpack(&checkpoint->sites[index].live),
                              unpack(&checkpoint->sites[index].at_peak)};
}

int64_t
profile_at_mark(const struct profile *profile, size_t site, struct site_figures *made,
                struct site_figures *live)
{
    struct site_then then = {.made = {.bytes = 0}};

    if (profile->marked)
        then = figures_site_at(profile, &profile->mark, site);
    *made = then.made;
    *live = then.live;
    return profile->marked ? profile->mark.run_ns : -1;
}

static double
not_negative(double value)
{
    return value > 0 ? value : 0;
}

/* The increase of a sum that only grows. */
static struct site_figures
difference(const struct site_figures *now, const struct site_figures *then)
{
    return (struct site_figures){.bytes = not_negative(now->bytes - then->bytes),
                                 .objects = not_negative(now->objects - then->objects),
                                 .squares = not_negative(now->squares - then->squares),
                                 .blocks = now->blocks > then->blocks
                                               ? now->blocks - then->blocks
                                               : 0};
}

/* Blocks made and blocks freed are sums over different blocks: their variances add up. */
static void
add_since(struct profile_figures *to, const struct site_then *now,
          const struct site_then *mark)
{
    const struct site_figures gone = difference(&now->made, &now->live);
    const struct site_figures gone_then = difference(&mark->made, &mark->live);
    const struct site_figures came = difference(&now->made, &mark->made);
    const struct site_figures went = difference(&gone, &gone_then);

    to->bytes += now->live.bytes - mark->live.bytes;
    to->objects += now->live.objects - mark->live.objects;
    to->bytes_variance += variance(came.bytes, &came) + variance(went.bytes, &went);
    to->objects_variance += variance(came.objects, &came) + variance(went.objects, &went);
    to->blocks += came.blocks + went.blocks;
    to->made_bytes += came.bytes;
    to->made_objects += came.objects;
}

/* Does the filter admit sizes of this bucket? */
static bool
passes_size(const struct profile_filter *filter, uint32_t bucket)
{
    if (filter->size_from == 0 && filter->size_to == 0)
        return true;
    if (bucket >= HISTOGRAM_COARSE)
        return false;
    return bucket >= histogram_coarse(filter->size_from)
           && (filter->size_to == 0 || bucket <= histogram_coarse(filter->size_to));
}

static bool
asks_life(const struct profile_filter *filter)
{
    return filter->life_from_ns > 0 || filter->life_to_ns > 0;
}

bool
figures_of_blocks(const struct profile_query *query)
{
    return query->survivors_ns > 0
           || (asks_life(query->filter)
               && (query->mode == PROFILE_LIVE || query->mode == PROFILE_SINCE));
}

/* Adds blocks that were allocated and freed within the lifetimes asked for, not live
   ones. */
static void
add_freed(struct profile_figures *to, const struct site *site,
          const struct profile_filter *filter)
{
    unsigned from = site_lifetime((uint64_t)filter->life_from_ns);
    unsigned last = filter->life_to_ns > 0 ? site_lifetime((uint64_t)filter->life_to_ns)
                                           : SITE_LIFETIMES - 1;

    for (unsigned i = from; i <= last; i++) {
        add_sums(to, &site->freed_after[i]);
        to->made_bytes += site->freed_after[i].bytes;
        to->made_objects += site->freed_after[i].objects;
    }
}

static void
add_site(struct profile_figures *to, const struct query_work *work, size_t index)
{
    const struct profile *profile = work->profile;
    const struct profile_query *query = work->query;
    const struct site_then now = figures_site_at(profile, work->past, index);
    const struct site_past *past = &profile->sites[index];

    if (work->past == NULL) {
        to->bytes_rate += past->bytes_rate;
        to->objects_rate += past->objects_rate;
        to->growth += past->growth;
    }
    if (query->mode == PROFILE_SINCE && !figures_of_blocks(query)) {
        const struct site_then mark = figures_site_at(profile, &profile->mark, index);

        add_since(to, &now, &mark);
        return;
    }
    if (query->mode == PROFILE_MADE && asks_life(query->filter)) {
        add_freed(to, &profile->reading.sites[index], query->filter);
        return;
    }
    to->made_bytes += now.made.bytes;
    to->made_objects += now.made.objects;
    if (!figures_of_blocks(query))
        add_sums(to, query->mode == PROFILE_PEAK   ? &now.at_peak
                     : query->mode == PROFILE_MADE ? &now.made
                                                   : &now.live);
}

/* Run time at which a sampled block was made; 0 if it was there when the process
   began. */
static int64_t
born_at(const struct profile *profile, const struct sampled_block *block)
{
    if (block->born_ns == 0)
        return 0;
    if (block->born_ns > (uint64_t)INT64_MAX / 2)
        return profile->run_ns;
    return profile->begin_ns + (int64_t)block->born_ns;
}

double
profile_block_age(const struct profile *profile, const struct sampled_block *block)
{
    return not_negative((double)(profile->run_ns - born_at(profile, block)));
}

static bool
passes_life(const struct profile_filter *filter, double age)
{
    return age >= (double)filter->life_from_ns
           && (filter->life_to_ns == 0 || age <= (double)filter->life_to_ns);
}

/* Does a live block belong to the query?  Others are only of interest for their age. */
static bool
block_counts(const struct query_work *work, const struct sampled_block *block, double age)
{
    const struct profile_query *query = work->query;

    if (age < (double)query->survivors_ns || !passes_life(query->filter, age))
        return false;
    return query->mode != PROFILE_SINCE
           || born_at(work->profile, block) > work->profile->mark.run_ns;
}

/* How many objects a block stands for.  Files of earlier versions do not say; there the
   rate never changed. */
static double
block_weight(const struct sites_reading *reading, const struct sampled_block *block)
{
    return block->weight > 0 ? block->weight : sites_weight(reading->rate, block->size);
}

/* Adds a block; its part of the variance is w^2 (1 - 1/w) y^2. */
static void
add_block(struct profile_figures *to, double weight, double size)
{
    to->bytes += weight * size;
    to->objects += weight;
    to->bytes_variance += weight * (weight - 1) * size * size;
    to->objects_variance += weight * (weight - 1);
    to->blocks++;
}

static struct profile_figures *
figures_at(const struct query_work *work, size_t site)
{
    return &work->figures[work->by_site ? site : work->profile->sites[site].stack];
}

static void
add_blocks(struct query_work *work)
{
    const struct profile *profile = work->profile;
    const struct sites_reading *reading = &profile->reading;
    const struct profile_query *query = work->query;
    bool from_blocks = figures_of_blocks(query);
    bool made_of_life = query->mode == PROFILE_MADE && asks_life(query->filter)
                        && query->survivors_ns == 0;

    if (reading->rate <= 0)
        return;
    for (size_t i = 0; i < reading->block_count; i++) {
        const struct sampled_block *block = &reading->blocks[i];
        struct profile_figures *to;
        double age = profile_block_age(profile, block), weight;

        if (block->site >= profile->site_count
            || !passes_size(query->filter, reading->sites[block->site].bucket))
            continue;
        if ((from_blocks || made_of_life) && !block_counts(work, block, age))
            continue;
        to = figures_at(work, block->site);
        weight = block_weight(reading, block);
        if (from_blocks || (made_of_life && query->filter->life_to_ns == 0))
            add_block(to, weight, (double)block->size);
        to->age_sum_ns += age * weight;
        to->age_objects += weight;
        if (age > to->oldest_ns)
            to->oldest_ns = age;
    }
}

void
figures_fill(struct query_work *work)
{
    const struct profile *profile = work->profile;

    for (size_t i = 0; i < profile->site_count; i++)
        if (passes_size(work->query->filter, profile->reading.sites[i].bucket))
            add_site(figures_at(work, i), work, i);
    if (work->past == NULL)
        add_blocks(work);
}

enum profile_answer
figures_answer(const struct profile *profile, const struct profile_query *query)
{
    bool past = query->past_ns >= 0;

    if (!profile->known)
        return PROFILE_NOTHING_KNOWN;
    if (past && profile_find_checkpoint(profile, query->past_ns) == NULL)
        return PROFILE_NOT_RECORDED;
    if (query->mode == PROFILE_SINCE && !profile->marked)
        return PROFILE_NOT_MARKED;
    if ((asks_life(query->filter) || query->survivors_ns > 0)
        && (past || (query->mode == PROFILE_PEAK && query->survivors_ns == 0)))
        return PROFILE_LIFE_UNKNOWN;
    return PROFILE_ANSWERED;
}

/* ---- a row in detail ---- */

/* What a row of the table consists of: sizes, lifetimes, ages.  Only the stacks are
   filtered, because it shows everything about the row that was chosen.  Snapshots keep
   only sums, so for the past there are neither lifetimes nor ages. */

static void
add_figures(struct site_figures *sum, const struct site_figures *part)
{
    sum->bytes += part->bytes;
    sum->objects += part->objects;
    sum->squares += part->squares;
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
detail_add_site(struct profile_detail *detail, const struct profile *profile,
                const struct profile_checkpoint *past, size_t index)
{
    const struct site *site = &profile->reading.sites[index];
    const struct site_then then = figures_site_at(profile, past, index);
    unsigned bucket = site->bucket < HISTOGRAM_COARSE ? site->bucket : HISTOGRAM_COARSE;
    struct profile_size *size = &detail->sizes[bucket];

    add_figures(&size->made, &then.made);
    add_figures(&size->live, &then.live);
    add_figures(&size->at_peak, &then.at_peak);
    for (unsigned i = 0; past == NULL && i < SITE_LIFETIMES; i++)
        add_figures(&detail->freed_after[i], &site->freed_after[i]);
    if (past != NULL && then.made.blocks == 0)
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
        weight = block_weight(reading, block);
        class = site_lifetime((uint64_t)profile_block_age(profile, block));
        add_figures(&detail->alive_for[class],
                    &(struct site_figures){.bytes = weight * (double)block->size,
                                           .objects = weight,
                                           .squares = weight * weight,
                                           .blocks = 1,
                                           .samples = block->samples});
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
    if (row >= table->count || (members = calloc(profile->stack_count + 1, 1)) == NULL)
        return false;
    for (size_t i = chosen->begin; i < chosen->begin + chosen->stacks; i++)
        members[table->work->order[i]] = true;
    for (size_t i = 0; i < profile->site_count; i++)
        if (members[profile->sites[i].stack])
            detail_add_site(detail, profile, past, i);
    /* An allocation after the snapshot hides when the last one before it was. */
    if (past != NULL && detail->last_ns > past->run_ns)
        detail->last_ns = -1;
    if (past == NULL)
        add_ages(detail, profile, members);
    drop_empty(detail);
    free(members);
    return true;
}
