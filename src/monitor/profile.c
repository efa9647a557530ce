/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keeps what follows from successive readings.  Sites and stacks keep their numbers, so
 * everything remembered about them lies in arrays: what they had made at the previous
 * reading, and what was alive at earlier snapshots and at the mark.  Snapshots are kept
 * as they were; when they take too much memory every other one is dropped.
 *
 * Growth is linear in what was alive at the snapshots: that of a row is the sum of its
 * sites'.
 */
#include "config.h"

#include "monitor/profile.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/profile-private.h"
#include "base/array.h"

#define CHECKPOINT_MIN_NS INT64_C(1000000000)

/* Rates over shorter intervals would jump. */
#define RATE_MIN_NS    (INT64_C(1000000000) / 20)

struct profile *
profile_new(void)
{
    struct profile *profile = calloc(1, sizeof *profile);

    if (profile == NULL)
        return NULL;
    profile->checkpoints_limit = PROFILE_CHECKPOINTS_BYTES;
    profile_restart(profile);
    return profile;
}

static void
drop_checkpoint(struct profile_checkpoint *checkpoint)
{
    free(checkpoint->sites);
    *checkpoint = (struct profile_checkpoint){0};
}

static void
forget(struct profile *profile)
{
    struct call_stack *stack, *next;

    sites_free(&profile->reading);
    HASH_ITER(hh, profile->by_key, stack, next)
    {
        HASH_DEL(profile->by_key, stack);
        free(stack);
    }
    for (size_t i = 0; i < profile->checkpoint_count; i++)
        drop_checkpoint(&profile->checkpoints[i]);
    drop_checkpoint(&profile->mark);
    profile_names_free(profile);
    free(profile->checkpoints);
    free(profile->stacks);
    free(profile->stack_at);
    free(profile->sites);
}

void
profile_restart(struct profile *profile)
{
    size_t limit = profile->checkpoints_limit;

    forget(profile);
    *profile = (struct profile){
        .before_ns = -1, .growth_since_ns = -1, .checkpoints_limit = limit};
}

void
profile_free(struct profile *profile)
{
    if (profile == NULL)
        return;
    forget(profile);
    free(profile);
}

struct sites_reading *
profile_reading(struct profile *profile)
{
    return &profile->reading;
}

const struct sites_reading *
profile_digested(const struct profile *profile, int64_t *begin_ns)
{
    if (begin_ns != NULL)
        *begin_ns = profile->begin_ns;
    return &profile->reading;
}

/* ---- stacks ---- */

/* FNV-1a, word by word. */
static uint64_t
stack_key(const uint64_t *pcs, unsigned depth)
{
    uint64_t key = UINT64_C(0xcbf29ce484222325);

    for (unsigned i = 0; i < depth; i++)
        key = (key ^ pcs[i]) * UINT64_C(0x100000001b3) ^ key >> 29;
    return key ? key : 1;
}

static bool
has_pcs(const struct profile *profile, const struct call_stack *stack,
        const uint64_t *pcs, unsigned depth)
{
    unsigned count;
    const uint64_t *own = sites_stack(&profile->reading, stack->id, &count);

    return count == depth
           && (depth == 0 || (own != NULL && memcmp(own, pcs, depth * sizeof *pcs) == 0));
}

/* The stack with these pcs, entered if it is new; NULL if memory is short.  Different
   stacks whose keys are equal get different ones. */
static struct call_stack *
add_stack(struct profile *profile, const uint64_t *pcs, uint32_t id, unsigned depth)
{
    struct call_stack *stack;
    uint64_t key = stack_key(pcs, depth);

    for (;; key = key + 1 > 0 ? key + 1 : 1) {
        HASH_FIND(hh, profile->by_key, &key, sizeof key, stack);
        if (stack == NULL)
            break;
        if (has_pcs(profile, stack, pcs, depth))
            return stack;
    }
    if (!ARRAY_GROW(profile->stacks, profile->stack_room, profile->stack_count + 1)
        || (stack = calloc(1, sizeof *stack)) == NULL)
        return NULL;
    *stack = (struct call_stack){.key = key, .id = id, .depth = depth};
    stack->index = (uint32_t)profile->stack_count;
    HASH_ADD(hh, profile->by_key, key, sizeof key, stack);
    if (NOT_ADDED(stack)) {
        free(stack);
        return NULL;
    }
    profile->stacks[profile->stack_count++] = stack;
    return stack;
}

/* The index of the stack with this id, entered if it is new.  Returns false if memory is
   short. */
static bool
find_stack(struct profile *profile, uint32_t id, uint32_t *index)
{
    unsigned depth;
    const uint64_t *pcs = sites_stack(&profile->reading, id, &depth);
    const struct call_stack *stack;

    if (pcs == NULL)
        id = depth = 0;
    if (!ARRAY_GROW(profile->stack_at, profile->id_room, (size_t)id + 1))
        return false;
    if (profile->stack_at[id] == 0) {
        stack = add_stack(profile, pcs, id, depth);
        if (stack == NULL)
            return false;
        profile->stack_at[id] = stack->index + 1;
    }
    *index = profile->stack_at[id] - 1;
    return true;
}

uint32_t
profile_stack_index(const struct profile *profile, uint32_t id)
{
    if (id >= profile->id_room || profile->stack_at[id] == 0)
        id = 0;
    return profile->id_room > 0 && profile->stack_at[id] > 0 ? profile->stack_at[id] - 1
                                                             : 0;
}

/* ---- snapshots ---- */

static struct profile_kept
keep_figures(const struct site_figures *figures)
{
    return (struct profile_kept){(float)figures->bytes, (float)figures->objects,
                                 figures->blocks < UINT32_MAX ? (uint32_t)figures->blocks
                                                              : UINT32_MAX};
}

/* Makes a snapshot of the reading.  Returns false if memory is short. */
static bool
make_checkpoint(const struct profile *profile, struct profile_checkpoint *checkpoint)
{
    const struct sites_reading *reading = &profile->reading;

    *checkpoint = (struct profile_checkpoint){.run_ns = profile->run_ns,
                                              .count = reading->site_count};
    checkpoint->sites = calloc(checkpoint->count + 1, sizeof *checkpoint->sites);
    if (checkpoint->sites == NULL)
        return false;
    for (size_t i = 0; i < checkpoint->count; i++)
        checkpoint->sites[i] = (struct profile_kept_site){
            keep_figures(&reading->sites[i].made), keep_figures(&reading->sites[i].live),
            keep_figures(&reading->sites[i].at_peak)};
    return true;
}

static size_t
checkpoints_bytes(const struct profile *profile)
{
    size_t sites = 0;

    for (size_t i = 0; i < profile->checkpoint_count; i++)
        sites += profile->checkpoints[i].count;
    return sites * sizeof(struct profile_kept_site);
}

/* Drops every other one but the last, so that the next one follows without a gap. */
static void
thin(struct profile *profile)
{
    struct profile_checkpoint *checkpoints = profile->checkpoints;
    size_t last = profile->checkpoint_count - 1, kept = 0;

    for (size_t i = 0; i <= last; i++)
        if (i % 2 == 0 || i == last)
            checkpoints[kept++] = checkpoints[i];
        else
            drop_checkpoint(&checkpoints[i]);
    profile->checkpoint_count = kept;
    profile->spacing_ns = 2
                          * (profile->spacing_ns > CHECKPOINT_MIN_NS ? profile->spacing_ns
                                                                     : CHECKPOINT_MIN_NS);
}

/* What was alive of a site at a snapshot; 0 before the site existed. */
static double
alive_at(const struct profile_checkpoint *checkpoint, size_t site)
{
    return site < checkpoint->count ? (double)checkpoint->sites[site].live.bytes : 0;
}

static void
judge_growth(struct profile *profile)
{
    const struct profile_checkpoint *checkpoints = profile->checkpoints;
    size_t count = profile->checkpoint_count, half = count / 2;

    profile->growth_since_ns = half > 0 ? checkpoints[0].run_ns : -1;
    for (size_t site = 0; half > 0 && site < profile->site_count; site++) {
        double earlier = 0, later = 0;

        for (size_t i = 0; i < count; i++)
            *(i < half ? &earlier : &later) += alive_at(&checkpoints[i], site);
        profile->sites[site].growth =
            later / (double)(count - half) - earlier / (double)half;
    }
}

static void
keep_checkpoint(struct profile *profile)
{
    struct profile_checkpoint *checkpoints = profile->checkpoints, checkpoint;

    if (checkpoints == NULL)
        checkpoints = profile->checkpoints =
            calloc(PROFILE_CHECKPOINTS_MAX, sizeof *checkpoints);
    if (checkpoints == NULL || !make_checkpoint(profile, &checkpoint))
        return;
    if (profile->checkpoint_count == PROFILE_CHECKPOINTS_MAX
        || (profile->checkpoint_count > 4
            && checkpoints_bytes(profile) + checkpoint.count * sizeof *checkpoint.sites
                   > profile->checkpoints_limit))
        thin(profile);
    checkpoints[profile->checkpoint_count++] = checkpoint;
    judge_growth(profile);
}

void
profile_limit_checkpoints(struct profile *profile, size_t bytes)
{
    profile->checkpoints_limit = bytes;
    while (profile->checkpoint_count > 4 && checkpoints_bytes(profile) > bytes)
        thin(profile);
    judge_growth(profile);
}

bool
profile_checkpoint_due(const struct profile *profile, int64_t run_ns)
{
    int64_t spacing =
        profile->spacing_ns > CHECKPOINT_MIN_NS ? profile->spacing_ns : CHECKPOINT_MIN_NS;

    return profile->checkpoint_count == 0
           || run_ns
                  >= profile->checkpoints[profile->checkpoint_count - 1].run_ns + spacing;
}

const struct profile_checkpoint *
profile_find_checkpoint(const struct profile *profile, int64_t run_ns)
{
    const struct profile_checkpoint *found = NULL;

    for (size_t i = 0; i < profile->checkpoint_count; i++)
        if (profile->checkpoints[i].run_ns <= run_ns)
            found = &profile->checkpoints[i];
    return found;
}

int64_t
profile_checkpoint(const struct profile *profile, int64_t run_ns)
{
    const struct profile_checkpoint *checkpoint =
        profile_find_checkpoint(profile, run_ns);

    return checkpoint != NULL ? checkpoint->run_ns : -1;
}

int64_t
profile_growth_since(const struct profile *profile)
{
    return profile->growth_since_ns;
}

const struct profile_checkpoint *
profile_checkpoints(const struct profile *profile, size_t *count)
{
    *count = profile->checkpoint_count;
    return profile->checkpoints;
}

bool
profile_restore_checkpoints(struct profile *profile,
                            const struct profile_checkpoint *checkpoints, size_t count)
{
    struct profile_checkpoint *all = calloc(PROFILE_CHECKPOINTS_MAX, sizeof *all);

    if (all == NULL)
        return false;
    for (size_t i = 0; i < profile->checkpoint_count; i++)
        drop_checkpoint(&profile->checkpoints[i]);
    free(profile->checkpoints);
    memcpy(all, checkpoints, count * sizeof *all);
    profile->checkpoints = all;
    profile->checkpoint_count = count;
    judge_growth(profile);
    return true;
}

/* ---- the mark ---- */

bool
profile_restore_mark(struct profile *profile, int64_t run_ns,
                     const struct site_figures *made, const struct site_figures *live,
                     size_t count)
{
    struct profile_checkpoint mark = {.run_ns = run_ns, .count = count};

    mark.sites = calloc(count + 1, sizeof *mark.sites);
    if (mark.sites == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        mark.sites[i] = (struct profile_kept_site){.made = keep_figures(&made[i]),
                                           .live = keep_figures(&live[i])};
    profile_clear_mark(profile);
    profile->mark = mark;
    profile->marked = true;
    return true;
}

void
profile_clear_mark(struct profile *profile)
{
    drop_checkpoint(&profile->mark);
    profile->marked = false;
}

static bool
copy_checkpoint(const struct profile_checkpoint *from, struct profile_checkpoint *to)
{
    *to = *from;
    to->sites = calloc(from->count + 1, sizeof *to->sites);
    if (to->sites == NULL)
        return false;
    memcpy(to->sites, from->sites, from->count * sizeof *to->sites);
    return true;
}

bool
profile_set_mark(struct profile *profile, int64_t run_ns)
{
    const struct profile_checkpoint *checkpoint =
        profile_find_checkpoint(profile, run_ns);
    struct profile_checkpoint mark;

    if (profile->known && profile->run_ns <= run_ns) {
        if (!make_checkpoint(profile, &mark))
            return false;
    } else if (checkpoint == NULL || !copy_checkpoint(checkpoint, &mark)) {
        return false;
    }
    profile_clear_mark(profile);
    profile->mark = mark;
    profile->marked = true;
    return true;
}

bool
profile_marked(const struct profile *profile)
{
    return profile->marked;
}

/* ---- a reading ---- */

/* A rate needs two readings; a counter that went back has started over. */
static void
take_rates(struct profile *profile, int64_t run_ns)
{
    double seconds = (double)(run_ns - profile->before_ns) / 1e9;
    bool known = profile->before_ns >= 0;

    if (known && run_ns - profile->before_ns < RATE_MIN_NS)
        return;
    for (size_t i = 0; i < profile->site_count; i++) {
        const struct site_figures *made = &profile->reading.sites[i].made;
        struct site_past *past = &profile->sites[i];

        past->bytes_rate = known ? (made->bytes - past->bytes_before) / seconds : 0;
        past->objects_rate = known ? (made->objects - past->objects_before) / seconds : 0;
        if (past->bytes_rate < 0)
            past->bytes_rate = past->objects_rate = 0;
        past->bytes_before = made->bytes;
        past->objects_before = made->objects;
    }
    profile->before_ns = run_ns;
    profile->rates_known = known;
}

bool
profile_rates(const struct profile *profile, size_t site, double *bytes, double *objects)
{
    *bytes = profile->sites[site].bytes_rate;
    *objects = profile->sites[site].objects_rate;
    return profile->rates_known;
}

void
profile_restore_rates(struct profile *profile, size_t site, double bytes, double objects)
{
    profile->sites[site].bytes_rate = bytes;
    profile->sites[site].objects_rate = objects;
    profile->rates_known = true;
}

bool
profile_digest(struct profile *profile, int64_t run_ns, int64_t begin_ns)
{
    const struct sites_reading *reading = &profile->reading;
    uint32_t unknown;

    if (!ARRAY_GROW(profile->sites, profile->site_room, reading->site_count)
        || !find_stack(profile, 0, &unknown))
        return false;
    for (size_t i = 0; i < reading->site_count; i++)
        if (!find_stack(profile, reading->sites[i].stack, &profile->sites[i].stack))
            return false;
    profile->site_count = reading->site_count;
    take_rates(profile, run_ns);
    profile->run_ns = run_ns;
    profile->begin_ns = begin_ns;
    profile->known = true;
    if (profile_checkpoint_due(profile, run_ns))
        keep_checkpoint(profile);
    return true;
}

bool
profile_known(const struct profile *profile, int64_t *run_ns)
{
    *run_ns = profile->run_ns;
    return profile->known;
}
