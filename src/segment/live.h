/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a shard's hot block is read, and what its counters say about live memory.  The
 * library, which sums up before a fork, and the reader use these rules (doc/PROTOCOL).
 * Sums saturate.
 *
 * Since the last fold malloc and free have counted in came and gone alone.  The live
 * bytes of the shard's thread have meanwhile been as high as high = delta + the bytes of
 * top: free compares came - gone with top before it changes gone, so no peak is missed,
 * and nothing needs to be done at a new one.
 */
#ifndef MEMTOP_LIVE_H
#define MEMTOP_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/figures.h"
#include "segment/layout.h"
#include "segment/packed.h"
#include "segment/seqlock.h"

#define HOT_WORDS (sizeof(struct shard_hot) / sizeof(uint64_t))

/* Bytes of a block's space that are not usable. */
#define SPACE_HEAD 8u

/* The highest live bytes of the thread since the process knew its delta, less these. */
static inline int64_t
hot_high(const struct shard_hot *hot)
{
    int64_t now = (int64_t)(hot->came - hot->gone);

    if (now < hot->top)
        now = hot->top;
    return (int64_t)((uint64_t)hot->delta + (uint64_t)packed_difference_bytes(now));
}

/* Calls counted since the segment began, but for those since the last fold. */
static inline uint64_t
hot_calls_folded(const struct shard_hot *hot)
{
    uint64_t sum = 0;

    for (unsigned fn = 0; fn < FN_COUNT; fn++)
        sum += word_load(&hot->calls[fn]);
    return sum;
}

static inline void
hot_settle_row(struct shard_hot *hot, enum segment_function fn, uint64_t packed)
{
    hot->calls[fn] = add_saturating(hot->calls[fn], packed_count(packed));
    hot->bytes[fn] = add_saturating(hot->bytes[fn], packed_bytes(packed));
}

/* Folds the packed words of a copy into its totals. */
static inline void
hot_settle(struct shard_hot *hot)
{
    int64_t high = hot_high(hot);

    hot_settle_row(hot, FN_MALLOC, hot->came - hot->calloced);
    hot_settle_row(hot, FN_CALLOC, hot->calloced);
    hot_settle_row(hot, FN_FREE, hot->gone);
    hot->delta = (int64_t)((uint64_t)hot->delta + packed_bytes(hot->came)
                           - packed_bytes(hot->gone));
    hot->top = packed_of_bytes((int64_t)((uint64_t)high - (uint64_t)hot->delta));
    hot->usable -= SPACE_HEAD * (packed_count(hot->came) - packed_count(hot->gone));
    hot->came = hot->calloced = hot->gone = 0;
}

/* Reads gone and came as they were at one time.  Between folds they only grow, so gone
   unchanged around came means so; gone is read first in any case, so that a block is
   never seen to go that was not seen to come.  Likewise calloced, which is a part of
   came. */
static inline bool
hot_read_packed(const struct shard_hot *block, struct shard_hot *copy)
{
    copy->gone = __atomic_load_n(&block->gone, __ATOMIC_ACQUIRE);
    copy->calloced = __atomic_load_n(&block->calloced, __ATOMIC_ACQUIRE);
    copy->came = __atomic_load_n(&block->came, __ATOMIC_ACQUIRE);
    copy->top = __atomic_load_n(&block->top, __ATOMIC_ACQUIRE);
    return word_load(&block->gone) == copy->gone;
}

/*
 * Copies a hot block that its thread may be changing, and settles the copy.  Returns true
 * if it is consistent; false after that many tries, with the last copy made.
 */
static inline bool
hot_read(const struct shard_hot *block, struct shard_hot *copy, int tries)
{
    bool consistent = false;

    while (!consistent && tries-- > 0) {
        consistent = seqlock_read((const uint64_t *)block, (uint64_t *)copy, HOT_WORDS, 1)
                     && hot_read_packed(block, copy);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        consistent = consistent && word_load(&block->sequence) == copy->sequence;
    }
    hot_settle(copy);
    return consistent;
}

/* The functions below take a settled copy. */

/* Bytes allocated by all calls, including growth by realloc. */
static inline uint64_t
hot_bytes_made(const struct shard_hot *hot)
{
    uint64_t sum = 0;

    for (unsigned fn = 0; fn < FN_COUNT; fn++)
        if (fn != FN_FREE)
            sum = add_saturating(sum, hot->bytes[fn]);
    return sum;
}

/* Usable bytes this thread allocated minus those it freed, mod 2^64: threads free each
   other's blocks. */
static inline uint64_t
hot_usable(const struct shard_hot *hot)
{
    return hot->usable + (uint64_t)hot->came_space - (uint64_t)hot->gone_space;
}

static inline uint64_t
hot_bytes_gone(const struct shard_hot *hot)
{
    return add_saturating(hot->bytes[FN_FREE], hot->realloc_shrunk);
}

static inline uint64_t
hot_blocks_made(const struct shard_hot *hot)
{
    uint64_t sum = hot->realloc_fresh;

    for (unsigned fn = 0; fn < FN_COUNT; fn++)
        if (fn != FN_FREE && fn != FN_REALLOC)
            sum = add_saturating(sum, hot->calls[fn]);
    return subtract_floor(sum, hot->failed_new);
}

static inline uint64_t
hot_blocks_gone(const struct shard_hot *hot)
{
    return add_saturating(subtract_floor(hot->calls[FN_FREE], hot->free_null),
                          hot->realloc_freed);
}

#endif
