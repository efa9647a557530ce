/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums what is live, from the shards of a process that goes on counting meanwhile. */
#include "config.h"

#include "preload/baseline.h"

#include <string.h>

#include "preload/dormant.h"
#include "preload/shard.h"
#include "preload/windows.h"
#include "segment/live.h"

static void
add_cells(const struct shard_cell *cells, unsigned count, unsigned first_cell,
          struct mt_baseline *sum)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t live = word_load(&cells[i].came) - word_load(&cells[i].gone);
        if (live != 0)
            sum->sizes[histogram_cell_coarse(first_cell + i)] += live;
    }
}

static void
add_sizes(const struct shard *shard, struct mt_baseline *sum)
{
    for (unsigned page = 0; page < CELL_PAGES; page++)
        if (page == 0 || (shard->cell_pages >> page & 1))
            add_cells(shard->cells + page * CELLS_A_PAGE, CELLS_A_PAGE,
                      page * CELLS_A_PAGE, sum);
    for (unsigned bucket = 0; bucket < HISTOGRAM_COARSE; bucket++)
        sum->sizes[bucket] += word_load(&shard->coarse[bucket].came)
                              - word_load(&shard->coarse[bucket].gone);
}

static void
add_shard(const struct shard *shard, struct mt_baseline *made, struct mt_baseline *gone)
{
    struct shard_hot hot;

    /* This thread's shard is consistent; another thread may be in the middle of an
       update. */
    hot_read(&shard->hot, &hot, MT_COPY_TRIES);
    made->bytes = add_saturating(made->bytes, hot_bytes_made(&hot));
    made->blocks = add_saturating(made->blocks, hot_blocks_made(&hot));
    gone->bytes = add_saturating(gone->bytes, hot_bytes_gone(&hot));
    gone->blocks = add_saturating(gone->blocks, hot_blocks_gone(&hot));
    made->usable += hot_usable(&hot);
    made->custom += word_load(&shard->custom_made) - word_load(&shard->custom_freed);
    made->custom_bytes +=
        word_load(&shard->custom_made_bytes) - word_load(&shard->custom_freed_bytes);
    add_sizes(shard, made);
}

/* Other threads may have freed blocks whose making was not yet visible: a negative sum
   becomes 0. */
static void
floor_at_zero(uint64_t *value)
{
    if (*value > INT64_MAX)
        *value = 0;
}

void
mt_live_sum(struct mt_baseline *sum)
{
    const struct segment_process *process = mt_segment.process;
    struct mt_baseline gone = {
        .bytes = process->forgotten_bytes,
        .blocks = process->forgotten_blocks,
    };

    sum->bytes = process->baseline_bytes;
    sum->blocks = process->baseline_blocks;
    sum->usable = process->baseline_usable - process->forgotten_usable;
    for (unsigned bucket = 0; bucket < HISTOGRAM_COARSE; bucket++)
        sum->sizes[bucket] =
            process->baseline_sizes[bucket] - process->forgotten_sizes[bucket];
    sum->mapped = word_load(&process->mapped);
    sum->custom = word_load(&process->custom_carried);
    sum->custom_bytes = word_load(&process->custom_carried_bytes);
    for (unsigned i = 0; i < process->shards_used; i++) {
        if (mt_shard_counts(i))
            add_shard(mt_shard(i), sum, &gone);
    }
    sum->bytes -= gone.bytes;
    sum->blocks -= gone.blocks;
}

/* A dormant process has no baseline to pass on. */
void
mt_baseline_sum(struct mt_baseline *sum)
{
    if (mt_dormant_asleep(&mt_segment)) {
        memset(sum, 0, sizeof *sum);
        return;
    }
    mt_live_sum(sum);
    floor_at_zero(&sum->bytes);
    floor_at_zero(&sum->blocks);
    floor_at_zero(&sum->usable);
    floor_at_zero(&sum->custom);
    floor_at_zero(&sum->custom_bytes);
    for (unsigned bucket = 0; bucket < HISTOGRAM_COARSE; bucket++)
        floor_at_zero(&sum->sizes[bucket]);
}
