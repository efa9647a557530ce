/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks by their exact size: how many of each size were allocated, how many were
 * live at once, and for how long.  Fed with every call, in order; memory in
 * proportion to live blocks and distinct sizes.
 *
 * realloc() is a free of the old block, then an allocation; one that fails is
 * nothing.
 */
#ifndef MEMTOP_BLOCKSIZES_H
#define MEMTOP_BLOCKSIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "system/counts.h"

/* One size.  Times are in ticks, see blocksizes_new(). */
struct blocksize {
    uint64_t size;
    uint64_t allocations;
    uint64_t live, peak;    /* now, and the most at once */
    uint64_t lo, hi;        /* bounds of the interval live is in ... */
    uint64_t since;         /* ... from then on */
    uint32_t level;         /* ... and its number, 0: none */
    uint32_t levels;        /* how many times there are */
    uint64_t *spent;        /* in interval 1, 2..., without that since then; or NULL */
};

/* All sizes together. */
struct blocksizes_sum {
    uint64_t allocations, bytes;           /* saturating */
    uint64_t live_blocks, live_bytes;
    uint64_t peak_bytes, peak_time;
    uint64_t before;    /* bytes that were live when it began; saturating */
    uint64_t unknown;   /* frees of blocks never seen allocated */
    uint64_t replaced;  /* blocks whose address came again before a free was seen */
    uint64_t end;       /* time of the last event, or as told */
};

struct blocksizes;

/* For tick_ns: time is the number of the event. */
#define BLOCKSIZES_NO_CLOCK 0u

/* A tick has so many ns: 1, or 1000000 for times in ms.  counts is copied.  NULL if
   memory is short. */
struct blocksizes *blocksizes_new(const struct counts *counts, uint64_t tick_ns);
void blocksizes_free(struct blocksizes *blocks);

/* Changes of how many blocks of a size are live go there: which size (its place),
   when (ticks), from, to how many. */
typedef void blocksizes_watch(void *context, uint32_t place, uint64_t time,
                              uint64_t before, uint64_t after);
void blocksizes_set_watch(struct blocksizes *blocks, blocksizes_watch *watch,
                          void *context);

/*
 * A call: kind is of enum segment_function or event_kind (layout.h).  Addresses
 * are one process's, of which there may be any number from 0 on; what realloc
 * begins and ends with belongs together by thread.  Time never goes back.  False
 * once memory was short: the figures are wrong from then on.
 */
struct block_call {
    uint64_t time_ns, address, size;
    uint32_t process, thread;
    uint8_t kind;
};
bool blocksizes_call(struct blocksizes *blocks, const struct block_call *call);

/* For speed: this call comes in a while (a dozen later), or soon (half of that), after
   having been announced so. */
void blocksizes_expect(const struct blocksizes *blocks, const struct block_call *call);
void blocksizes_expect_soon(const struct blocksizes *blocks,
                            const struct block_call *call);

/* So many bytes are live already, of blocks that are not known: fork() left them. */
void blocksizes_begin(struct blocksizes *blocks, uint64_t bytes);

/* Something happened at that time, or the time is up. */
void blocksizes_pass(struct blocksizes *blocks, uint64_t time_ns);

/* The process's blocks are gone: it has executed another program. */
void blocksizes_forget(struct blocksizes *blocks, uint32_t process, uint64_t time_ns);

/* What is known up to the last event.  The sizes stand in the order in which they
   came; borrowed until the next call. */
struct blocksizes_sum blocksizes_total(const struct blocksizes *blocks);
size_t blocksizes_count(const struct blocksizes *blocks);
const struct blocksize *blocksizes_at(const struct blocksizes *blocks, size_t place);
const struct counts *blocksizes_counts(const struct blocksizes *blocks);
uint64_t blocksizes_tick_ns(const struct blocksizes *blocks);

/* Ticks that a size has been in an interval until the time end. */
uint64_t blocksize_spent(const struct blocksize *size, uint32_t level, uint64_t end);

/* How many intervals a size may have been in: 1 to this. */
uint32_t blocksize_levels(const struct blocksize *size);

#endif
