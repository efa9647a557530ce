/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a call does to the counters.  The definitions are memusage's (see
 * doc/PROTOCOL), the fast path is here, in line and without a locked
 * instruction: a thread writes its own shard, inside the shard's seqlock.
 *
 * Three things send a call to the slow path (account.c), which counts in
 * shard 0 with atomic operations: the thread has no shard (not yet, no longer,
 * or there was none left), or we are a signal handler that interrupted this
 * thread's own update, which the odd sequence tells.
 */
#ifndef MEMTOP_ACCOUNT_H
#define MEMTOP_ACCOUNT_H

#include "preload/state.h"
#include "segment/seqlock.h"

/* One change to the counters; how a function is counted follows from it. */
struct mt_change {
    enum segment_function fn;
    uint64_t size;          /* block made, or new size */
    uint64_t old_size;      /* block freed, or size before realloc */
    uint64_t usable;        /* usable size of the block made / of the new one */
    uint64_t old_usable;
    bool fresh;             /* realloc: of NULL; else unused */
    bool in_place;          /* realloc: the address did not change */
};

void mt_count_made_slow(const struct mt_change *change);
void mt_count_resized_slow(const struct mt_change *change);
void mt_count_freed_slow(const struct mt_change *change);
void mt_count_free_null_slow(void);

/* Rare calls, always out of line. */
void mt_count_failed(enum segment_function fn, uint64_t size, uint64_t asked, bool would_make);
void mt_count_unmatched(void);
void mt_count_mapping(enum segment_mapping mapping, uint64_t bytes, bool failed);
void mt_count_mremap(uint64_t growth, bool failed, bool in_place, bool shrunk);

/* Folds the shard's delta into the process; called inside an update. */
void mt_fold(struct shard *shard);

/* Every 64th update of a thread: fold, and feed the flight recorder. */
void mt_look(struct shard *shard);

/* A depth that is not covered by the shard's peak: believe it or not. */
void mt_new_depth(struct shard *shard, uint64_t depth, bool shared);

/* Recomputes when shards fold, from the peak and the number of threads. */
void mt_set_limits(void);

/* Adds in a thread's own shard, or in the one that all share. */
static inline void
count_add(uint64_t *word, uint64_t value, bool shared)
{
    if (shared)
        word_add_shared(word, value);
    else
        word_add(word, value);
}

static inline uintptr_t
stack_pointer(void)
{
#if defined __x86_64__
    uintptr_t pointer;

    __asm__("mov %%rsp, %0" : "=r"(pointer));
    return pointer;
#else
    return (uintptr_t)__builtin_frame_address(0);
#endif
}

/* Depth below the thread's base.  On another stack (signal stack, coroutine)
   the difference is outside what mt_new_depth believes. */
static inline void
count_depth(struct shard *shard)
{
    uint64_t depth = mt_thread.stack_base - stack_pointer();

    if (unlikely(depth > shard->hot.stack_peak))
        mt_new_depth(shard, depth, false);
    else
        word_store(&shard->hot.stack_now, depth);
}

/* Live bytes changed by change: folded when they have drifted far enough. */
static inline void
count_delta(struct shard *shard, int64_t change)
{
    int64_t delta = shard->hot.delta + change;

    shard->hot.delta = delta;
    if (unlikely(delta > mt_guard.ceiling || delta < mt_guard.floor))
        mt_fold(shard);
}

static inline void
count_made(struct shard *shard, enum segment_function fn, uint64_t size, uint64_t usable,
           bool shared)
{
    struct shard_hot *hot = &shard->hot;

    count_add(&hot->calls[fn], 1, shared);
    count_add(&hot->bytes[fn], size, shared);
    count_add(&hot->usable, usable, shared);
    count_add(&shard->allocated[histogram_cell(size)], 1, shared);
}

static inline void
count_freed(struct shard *shard, uint64_t size, uint64_t usable, bool shared)
{
    struct shard_hot *hot = &shard->hot;

    count_add(&hot->calls[FN_FREE], 1, shared);
    count_add(&hot->bytes[FN_FREE], size, shared);
    count_add(&hot->usable, -usable, shared);
    count_add(&shard->freed[histogram_coarse(size)], 1, shared);
}

/* The shard this thread may update now, or NULL: take the slow path. */
static inline struct shard *
update_shard(void)
{
    struct shard *shard = mt_thread.shard;

    if (unlikely(shard == NULL || seqlock_is_odd(&shard->hot.sequence)))
        return NULL;
    return shard;
}

static inline void
update_end(struct shard *shard)
{
    /* The sequence is odd and grows by two an update: 64 updates are 128. */
    if (unlikely((shard->hot.sequence & 127) == 127))
        mt_look(shard);
    seqlock_write_end(&shard->hot.sequence);
}

/* A call of fn made a block. */
static inline void
mt_count_made(enum segment_function fn, uint64_t size, uint64_t usable)
{
    struct shard *shard = update_shard();

    if (unlikely(shard == NULL)) {
        mt_count_made_slow(&(struct mt_change){.fn = fn, .size = size, .usable = usable});
        return;
    }
    seqlock_write_begin(&shard->hot.sequence);
    count_made(shard, fn, size, usable, false);
    count_depth(shard);
    count_delta(shard, (int64_t)size);
    update_end(shard);
}

/* A block of ours was freed. */
static inline void
mt_count_freed(uint64_t size, uint64_t usable)
{
    struct shard *shard = update_shard();

    if (unlikely(shard == NULL)) {
        mt_count_freed_slow(&(struct mt_change){.old_size = size, .old_usable = usable});
        return;
    }
    seqlock_write_begin(&shard->hot.sequence);
    count_freed(shard, size, usable, false);
    count_depth(shard);
    count_delta(shard, -(int64_t)size);
    update_end(shard);
}

static inline void
mt_count_free_null(void)
{
    struct shard *shard = update_shard();

    if (unlikely(shard == NULL)) {
        mt_count_free_null_slow();
        return;
    }
    seqlock_write_begin(&shard->hot.sequence);
    word_add(&shard->hot.calls[FN_FREE], 1);
    word_add(&shard->hot.free_null, 1);
    update_end(shard);
}

/* realloc, in all its forms; see count_resized in account.c. */
void mt_count_resized(const struct mt_change *change);

#endif
