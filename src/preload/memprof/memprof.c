/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions of memtop/memprof.h.  That header lists the errors; the conditions for
 * them are here.  Blocks of the program's own pools are followed here whether or not it
 * has a profile, because memtop counts them.
 */
#include "config.h"

#include <errno.h>

#include "preload/account.h"
#include "preload/hooks.h"
#include "preload/memprof/profile.h"
#include "preload/public.h"
#include "preload/start.h"
#include "preload/state.h"
#include "preload/table.h"

/* ---- profiles ---- */

static void *
track_nothing(const struct memprof_allocation *block, void *ctx)
{
    (void)block;
    (void)ctx;
    return NULL;
}

static void *
track_no_more(void *data, const struct memprof_allocation *block, void *ctx)
{
    (void)data;
    (void)block;
    (void)ctx;
    return NULL;
}

static void
forget_nothing(void *data, void *ctx)
{
    (void)data;
    (void)ctx;
}

PUBLIC const struct memprof_tracker memprof_null_tracker = {
    track_nothing, track_no_more, forget_nothing
};

PUBLIC memprof_t *
memprof_start(double sampling_rate, int callstack_size,
              const struct memprof_tracker *tracker, void *ctx)
{
    memprof_t *profile = NULL;
    int error;

    if (!(sampling_rate >= 0 && sampling_rate <= 1) || callstack_size < -1
        || tracker == NULL)
        error = EINVAL;
    else if (!mt_counting())
        error = mt_guard.mode & MODE_ASLEEP ? EAGAIN : ENOTSUP;
    else
        error = mt_profile_start(tracker, ctx, sampling_rate, callstack_size, &profile);
    if (error != 0)
        errno = error;
    return profile;
}

static int
result_of(int error)
{
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

PUBLIC int
memprof_stop(void)
{
    mt_counting(); /* a child made by a raw clone finds out here that it is one */
    return result_of(mt_profile_stop());
}

PUBLIC int
memprof_discard(memprof_t *profile)
{
    mt_counting();
    return result_of(mt_profile_discard(profile));
}

/* ---- pools ---- */

/* What is known about a pool's block. */
struct custom {
    uint64_t size;
    uint64_t period; /* the awake period it was made in; earlier ones do not count */
};

static struct mt_table pools = {.value_size = sizeof(struct custom)};

/* Removes the entry of a block that is freed; false if there is none. */
static bool
strike(void *block, uint64_t *size)
{
    struct mt_place place = mt_table_take(&pools, (uintptr_t)block);
    const struct custom *custom = place.value;
    bool known;

    if (place.key == NULL)
        return false;
    *size = custom->size;
    known = custom->period == mt_guard.awake_period;
    mt_table_release(place);
    return known;
}

static void
count_freed_custom(void *block, uint64_t size)
{
    mt_count_custom_freed(size);
    if (mt_guard.mode & MODE_EVENTS)
        mt_hooks.events->write(EVENT_CUSTOM_FREED, block, size);
}

/* Returns false if the table is full. */
static bool
enter(void *block, uint64_t size)
{
    struct mt_place place = {NULL, NULL};

    if (mt_table_start(&pools))
        place = mt_table_claim(&pools, (uintptr_t)block);
    if (place.key == NULL)
        return false;
    *(struct custom *)place.value = (struct custom){size, mt_guard.awake_period};
    mt_table_show(place, (uintptr_t)block);
    return true;
}

PUBLIC void *
memprof_custom_alloc(void *block, size_t size)
{
    uint64_t before;

    if (block == NULL || !mt_counting())
        return block;
    /* A pool that was emptied as a whole, not block by block, reuses addresses. */
    if (strike(block, &before)) {
        if (mt_profiled())
            mt_profile_freed(MEMPROF_CUSTOM, block);
        count_freed_custom(block, before);
    }
    if (!enter(block, size)) {
        mt_count_custom_unmatched();
        return block;
    }
    mt_count_custom_made(size);
    if (mt_guard.mode & MODE_EVENTS)
        mt_hooks.events->write(EVENT_CUSTOM_MADE, block, size);
    if (mt_profiled())
        mt_profile_made(MEMPROF_CUSTOM, block, size, NULL);
    return block;
}

PUBLIC void
memprof_custom_free(void *block)
{
    uint64_t size;

    if (block == NULL || !mt_counting())
        return;
    if (mt_profiled())
        mt_profile_freed(MEMPROF_CUSTOM, block);
    if (strike(block, &size))
        count_freed_custom(block, size);
    else
        mt_count_custom_unmatched();
}
