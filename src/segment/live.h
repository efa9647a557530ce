/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a shard's counters say about live memory.  The library, which sums up before a
 * fork, and the reader use this one rule (doc/PROTOCOL).  Sums saturate.
 */
#ifndef MEMTOP_LIVE_H
#define MEMTOP_LIVE_H

#include <stdint.h>

#include "base/figures.h"
#include "segment/layout.h"

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
    return hot->usable + hot->made;
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
