/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks by their exact size: how many of each size were allocated, how many were live at
 * once, and for how long.  Fed with every call, in order; memory grows with live blocks
 * and distinct sizes.
 *
 * realloc() counts as a free of the old block, then an allocation; a failed one does not
 * count.
 */
#ifndef MEMTOP_BLOCKSIZES_H
#define MEMTOP_BLOCKSIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/counts.h"

/* One size.  Times are in ticks, see blocksizes_new(). */
struct blocksize {
    uint64_t size;
    uint64_t allocations;
    uint64_t live, peak;    /* now, and the highest number at once */
    uint64_t lo, hi;        /* bounds of the interval that live is in ... */
    uint64_t since;         /* ... since this time */
    uint32_t level;         /* ... and its number, 0: none */
    uint32_t levels;        /* allocated length of spent */
    uint64_t *spent;        /* time in interval 1, 2... up to since; or NULL */
};

/* All sizes together. */
struct blocksizes_sum {
    uint64_t allocations, bytes;           /* saturating */
    uint64_t live_blocks, live_bytes;
    uint64_t peak_bytes, peak_time;
    uint64_t before;    /* bytes live at the start; saturating */
    uint64_t unknown;   /* frees of blocks never seen allocated */
    uint64_t replaced;  /* blocks whose address came again before a free */
    uint64_t end;       /* time of the last event, or a later one given */
};

struct blocksizes;

/* As tick_ns: a time is the number of its event. */
#define BLOCKSIZES_NO_CLOCK 0u

/* tick_ns is the length of a tick: 1, or 1000000 for times in ms.  counts is copied.
   Returns NULL if memory is short. */
struct blocksizes *blocksizes_new(const struct counts *counts, uint64_t tick_ns);
void blocksizes_free(struct blocksizes *blocks);

/* Called when the number of live blocks of a size changes: the size's index, when
   (ticks), from how many, to how many. */
typedef void blocksizes_watch(void *context, uint32_t place, uint64_t time,
                              uint64_t before, uint64_t after);
void blocksizes_set_watch(struct blocksizes *blocks, blocksizes_watch *watch,
                          void *context);

/*
 * A call: kind is an enum segment_function or event_kind (layout.h).  Addresses belong to
 * a process; processes are numbered from 0.  The events of one realloc are matched by
 * thread.  Time never goes back.  Returns false once memory was short: the figures are
 * wrong from then on.
 */
struct block_call {
    uint64_t time_ns, address, size;
    uint32_t process, thread;
    uint8_t kind;
};
bool blocksizes_call(struct blocksizes *blocks, const struct block_call *call);

/* For speed: announces a call that comes in a while (about a dozen calls later); then
   again when it comes soon (half of that). */
void blocksizes_expect(const struct blocksizes *blocks, const struct block_call *call);
void blocksizes_expect_soon(const struct blocksizes *blocks,
                            const struct block_call *call);

/* At the start this many bytes are live, of unknown blocks: inherited by fork(). */
void blocksizes_begin(struct blocksizes *blocks, uint64_t bytes);

/* Moves the time on to that of an event, or to the end. */
void blocksizes_pass(struct blocksizes *blocks, uint64_t time_ns);

/* The process's blocks are gone because it has executed another program. */
void blocksizes_forget(struct blocksizes *blocks, uint32_t process, uint64_t time_ns);

/* The results up to the last event.  Sizes are in the order in which they first came.
   Pointers are borrowed until the next call. */
struct blocksizes_sum blocksizes_total(const struct blocksizes *blocks);
size_t blocksizes_count(const struct blocksizes *blocks);
const struct blocksize *blocksizes_at(const struct blocksizes *blocks, size_t place);
const struct counts *blocksizes_counts(const struct blocksizes *blocks);
uint64_t blocksizes_tick_ns(const struct blocksizes *blocks);

/* Ticks that a size's count has been in an interval until the time end. */
uint64_t blocksize_spent(const struct blocksize *size, uint32_t level, uint64_t end);

/* The highest interval the count may have been in; they are numbered from 1. */
uint32_t blocksize_levels(const struct blocksize *size);

#endif
