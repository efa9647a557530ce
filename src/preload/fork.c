/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fork: the child gets a segment of its own that starts with what the parent
 * had live, and never touches the parent's.
 *
 * The thread that forks sums up the parent just before (prepare), into memory
 * the child gets a copy of.  Should two threads fork at once, the second one's
 * child sums from the parent's mapping instead, as after a raw clone.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "preload/state.h"
#include "segment/seqlock.h"

static struct mt_baseline baseline;
static uint32_t baseline_busy;

static void
add_sizes(const struct shard *shard, struct mt_baseline *sum)
{
    for (unsigned cell = 0; cell < HISTOGRAM_CELLS; cell++) {
        uint64_t count = word_load(&shard->allocated[cell]);
        if (count != 0)
            sum->sizes[histogram_cell_coarse(cell)] += count;
    }
    for (unsigned bucket = 0; bucket < HISTOGRAM_COARSE; bucket++)
        sum->sizes[bucket] -= word_load(&shard->freed[bucket]);
}

static void
add_shard(const struct shard *shard, struct mt_baseline *sum)
{
    const struct shard_hot *hot = &shard->hot;

    for (unsigned fn = 0; fn < FN_COUNT; fn++) {
        if (fn == FN_FREE)
            continue;
        sum->bytes += word_load(&hot->bytes[fn]);
        if (fn != FN_REALLOC)
            sum->blocks += word_load(&hot->calls[fn]);
    }
    sum->bytes -= word_load(&hot->bytes[FN_FREE]) + word_load(&hot->realloc_shrunk);
    sum->blocks += word_load(&hot->realloc_fresh) + word_load(&hot->free_null);
    sum->blocks -= word_load(&hot->calls[FN_FREE]) + word_load(&hot->realloc_freed)
                   + word_load(&hot->failed_new);
    sum->usable += word_load(&hot->usable);
    add_sizes(shard, sum);
}

/* Other threads may have freed what we saw as not yet made. */
static void
floor_at_zero(uint64_t *value)
{
    if (*value > INT64_MAX)
        *value = 0;
}

void
mt_baseline_sum(struct mt_baseline *sum)
{
    const struct segment_process *process = mt_segment.process;

    sum->bytes = process->baseline_bytes;
    sum->blocks = process->baseline_blocks;
    sum->usable = process->baseline_usable;
    sum->mapped = word_load(&process->mapped);
    memcpy(sum->sizes, process->baseline_sizes, sizeof sum->sizes);
    for (unsigned i = 0; i < process->shards_used; i++) {
        uint32_t state = __atomic_load_n(&mt_segment.directory[i], __ATOMIC_ACQUIRE);
        if (state == SHARD_FREE || state == SHARD_OWNED)
            add_shard(mt_shard(i), sum);
    }
    floor_at_zero(&sum->bytes);
    floor_at_zero(&sum->blocks);
    floor_at_zero(&sum->usable);
    for (unsigned bucket = 0; bucket < HISTOGRAM_COARSE; bucket++)
        floor_at_zero(&sum->sizes[bucket]);
}

static void
prepare(void)
{
    if (!mt_guard.mode
        || __atomic_exchange_n(&baseline_busy, 1, __ATOMIC_ACQUIRE) != 0)
        return;
    mt_baseline_sum(&baseline);
    mt_thread.forking = 1;
}

static void
in_parent(void)
{
    if (!mt_thread.forking)
        return;
    mt_thread.forking = 0;
    __atomic_store_n(&baseline_busy, 0, __ATOMIC_RELEASE);
}

static void
in_child(void)
{
    int saved_errno = errno;
    bool exact = mt_thread.forking;

    mt_thread.forking = 0;
    baseline_busy = 0;
    if (mt_segment.header == NULL || mt_started_here())
        return;
    if (!exact)
        mt_baseline_sum(&baseline);
    mt_start_child(exact ? ORIGIN_FORK : ORIGIN_RAW_CLONE, &baseline);
    errno = saved_errno;
}

void
mt_fork_install(void)
{
    pthread_atfork(prepare, in_parent, in_child);
}
