/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a call does to the counters.  The definitions are memusage's (see doc/PROTOCOL).
 * The fast path is here, inline and without a locked instruction: a thread writes its own
 * shard, inside the shard's seqlock.
 *
 * A call takes the slow path (account.c), which counts in shard 0 with atomic operations,
 * if the thread has no shard (not yet, no longer, or none was free), or if this is a
 * signal handler that interrupted the thread's own update.  In all these cases the
 * sequence of the thread's shard is odd.
 */
#ifndef MEMTOP_ACCOUNT_H
#define MEMTOP_ACCOUNT_H

#include "preload/state.h"
#include "segment/seqlock.h"

/* What a realloc did. */
struct mt_resize {
    enum { RESIZE_FRESH, RESIZE_MOVED, RESIZE_FREED } kind; /* of NULL; a block; to 0 */
    uint64_t size;
    uint64_t old_size;
    uint64_t usable;        /* what the block occupies now */
    uint64_t old_usable;
    bool in_place;          /* the address did not change */
};

void mt_count_made_slow(enum segment_function fn, uint64_t size, uint64_t usable);
void mt_count_freed_slow(uint64_t size, uint64_t usable);
void mt_count_free_null_slow(void);

/* Rare calls, always out of line. */
void mt_count_failed(enum segment_function fn, uint64_t size, uint64_t asked,
                     bool would_make);
void mt_count_unmatched(void);
void mt_count_mapping(enum segment_mapping mapping, uint64_t bytes, bool failed);
/* Adds to the usable bytes of live blocks that have their own mapping, mod 2^64. */
void mt_count_mapped(uint64_t change);
/* A block of one of the program's own pools: counted apart from other blocks. */
void mt_count_custom_made(uint64_t size);
void mt_count_custom_freed(uint64_t size);
void mt_count_custom_unmatched(void);
void mt_count_mremap(uint64_t growth, bool failed, bool in_place, bool shrunk);

/* Folds the shard's delta into the process; called inside an update. */
void mt_fold(struct shard *shard);

/* End an update in which something rare is due (see update_end): after any call, after a
   free, or one after which the clock must be read. */
void mt_update_end_slow(struct shard *shard, uint64_t before);
void mt_update_end_freed(struct shard *shard, uint64_t before);
void mt_update_end_looking(struct shard *shard, uint64_t before);

/* Makes count_made_usual() return true once that many more usable bytes have been
   counted.  Call it inside an update. */
void mt_look_in(struct shard *shard, uint64_t bytes);

/* Recomputes when shards fold, from the peak and the number of threads. */
void mt_set_limits(void);

/* Adds to a word of the thread's own shard, or atomically to a word of shard 0. */
static inline void
count_add(uint64_t *word, uint64_t value, bool shared)
{
    if (shared)
        word_add_shared(word, value);
    else
        word_add(word, value);
}

#if defined __x86_64__
register uintptr_t mt_stack_register __asm__("rsp");
#define stack_pointer() mt_stack_register
#else
#define stack_pointer() ((uintptr_t)__builtin_frame_address(0))
#endif

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

/*
 * The same on the fast path, for the shard's owner.  Returns true when the count of
 * usable bytes has reached the limit set by mt_look_in(), detected by the carry of an
 * addition: then the clock must be read, and the block may be sampled.
 */
static inline bool
count_made_usual(struct shard *shard, enum segment_function fn, uint64_t size,
                 uint64_t usable)
{
    struct shard_hot *hot = &shard->hot;

    word_add(&hot->calls[fn], 1);
    word_add(&hot->bytes[fn], size);
    word_add(&shard->allocated[histogram_cell(size)], 1);
    return word_add_carries(&hot->made, usable);
}

static inline void
count_freed(struct shard *shard, uint64_t size, uint64_t usable, bool shared)
{
    struct shard_hot *hot = &shard->hot;

    count_add(&hot->calls[FN_FREE], 1, shared);
    count_add(&hot->bytes[FN_FREE], size, shared);
    if (shared)
        word_add_shared(&hot->usable, -usable);
    else
        word_subtract(&hot->usable, usable);
    count_add(&shard->freed[histogram_coarse_block(size)], 1, shared);
}

/*
 * Opens an update of the thread's own shard; false: take the slow path.  A
 * thread without a shard points at one whose sequence is odd.  *before is for
 * update_end.
 */
static inline bool
update_begin(struct shard *shard, uint64_t *before)
{
    *before = word_load(&shard->hot.sequence);
    if (unlikely(*before & 1))
        return false;
    seqlock_write_begin(&shard->hot.sequence);
    return true;
}

/*
 * Is it time to read the clock?  After a free: at every 32nd one, because half of most
 * programs' calls are frees.  Elsewhere: in one update of 64 (the sequence grows by two
 * each time), except on the fast path, which counts bytes (mt_look_in()).  Using the
 * sequence after frees as well would miss programs whose calls alternate so regularly
 * that the chosen update is always an allocation.
 */
static inline bool
free_looks(const struct shard *shard)
{
    return (shard->hot.calls[FN_FREE] & 31) == 0;
}

static inline bool
update_looks(uint64_t before)
{
    return (before & 126) == 0;
}

/*
 * Closes an update after which the shard's pending live bytes are delta.  The rare extra
 * work has one place, so that no registers are kept for it: the delta has left its
 * limits, the stack is deeper than before, or the clock must be read.
 */
static inline void
update_end(struct shard *shard, uint64_t before, bool outside)
{
    if (unlikely(outside) || unlikely(stack_pointer() < mt_thread.stack_lowest))
        mt_update_end_slow(shard, before);
    else
        seqlock_write_end(&shard->hot.sequence);
}

/* A plain store would do for its only writer, but readers copy it with the hot block. */
static inline void
delta_store(struct shard *shard, int64_t delta)
{
    __atomic_store_n(&shard->hot.delta, delta, __ATOMIC_RELAXED);
}

/* Notes the stack pointer here, in the frame of the call that allocates, and not deeper
   in the library's own frames. */
static inline int64_t
delta_grown(struct shard *shard, uint64_t size)
{
    int64_t delta = shard->hot.delta + (int64_t)size;

    word_store(&shard->hot.stack_pointer, stack_pointer());
    delta_store(shard, delta);
    return delta;
}

/* After count_made_usual(). */
static inline void
update_end_usual(struct shard *shard, uint64_t before, uint64_t size)
{
    update_end(shard, before, delta_grown(shard, size) > mt_guard.ceiling);
}

static inline void
update_end_grown(struct shard *shard, uint64_t before, uint64_t size)
{
    update_end(shard, before,
               delta_grown(shard, size) > mt_guard.ceiling || update_looks(before));
}

static inline int64_t
delta_shrunk(struct shard *shard, uint64_t size)
{
    int64_t delta = shard->hot.delta - (int64_t)size;

    word_store(&shard->hot.stack_pointer, stack_pointer());
    delta_store(shard, delta);
    return delta;
}

static inline void
update_end_shrunk(struct shard *shard, uint64_t before, uint64_t size)
{
    update_end(shard, before,
               delta_shrunk(shard, size) < mt_guard.floor || update_looks(before));
}

/* After a free. */
static inline void
update_end_freed(struct shard *shard, uint64_t before, uint64_t size)
{
    if (unlikely(delta_shrunk(shard, size) < mt_guard.floor)
        || unlikely(stack_pointer() < mt_thread.stack_lowest)
        || unlikely(free_looks(shard)))
        mt_update_end_freed(shard, before);
    else
        seqlock_write_end(&shard->hot.sequence);
}

/* A call of fn made a block. */
static inline __attribute__((always_inline)) void
mt_count_made(enum segment_function fn, uint64_t size, uint64_t usable)
{
    struct shard *shard = mt_thread.shard;
    uint64_t before;

    if (unlikely(!update_begin(shard, &before))) {
        mt_count_made_slow(fn, size, usable);
        return;
    }
    count_made(shard, fn, size, usable, false);
    update_end_grown(shard, before, size);
}

/* A counted block was freed. */
static inline __attribute__((always_inline)) void
mt_count_freed(uint64_t size, uint64_t usable)
{
    struct shard *shard = mt_thread.shard;
    uint64_t before;

    if (unlikely(!update_begin(shard, &before))) {
        mt_count_freed_slow(size, usable);
        return;
    }
    count_freed(shard, size, usable, false);
    update_end_freed(shard, before, size);
}

static inline void
mt_count_free_null(void)
{
    struct shard *shard = mt_thread.shard;
    uint64_t before;

    if (unlikely(!update_begin(shard, &before))) {
        mt_count_free_null_slow();
        return;
    }
    word_add(&shard->hot.calls[FN_FREE], 1);
    word_add(&shard->hot.free_null, 1);
    update_end_freed(shard, before, 0);
}

/* realloc, in all its forms; and see count_resized in account.c. */
void mt_count_resized(const struct mt_resize *resize);

#endif
