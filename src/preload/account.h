/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a call does to the counters.  The definitions are memusage's (see doc/PROTOCOL).
 * A thread writes its own shard, without a locked instruction, in one of three ways:
 *
 *   packed   malloc, calloc and free in the usual mode: single additions to the packed
 *            words of the shard's first cache line (count_came, count_gone).  They are
 *            whole for signal handlers, so no update is opened.  Now and then something
 *            is due: an update then folds the packed words into the totals;
 *   update   all other calls change the totals inside the shard's seqlock;
 *   shared   in shard 0 with atomic operations (account.c), if the thread has no shard
 *            (not yet, no longer, or none was free), or if this is a signal handler that
 *            interrupted the thread's own update.  In all these cases the sequence of
 *            the thread's shard is odd, and something is always due in MT_NO_SHARD.
 */
#ifndef MEMTOP_ACCOUNT_H
#define MEMTOP_ACCOUNT_H

#include "preload/fold.h"
#include "preload/state.h"
#include "segment/packed.h"
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
/* A block of one of the program's own pools: counted apart from other blocks. */
void mt_count_custom_made(uint64_t size);
void mt_count_custom_freed(uint64_t size);
void mt_count_custom_unmatched(void);
void mt_count_mremap(uint64_t growth, bool failed, bool in_place, bool shrunk);

/* End an update in which something rare is due (see update_end): after any call, after a
   free, or one after which the clock must be read. */
void mt_update_end_slow(struct shard *shard, uint64_t before);
void mt_update_end_freed(struct shard *shard);
void mt_update_end_looking(struct shard *shard);

/* How many bytes of blocks may pass before the clock is read again, after a block that
   occupies space bytes.  Call it inside an update of the shard. */
uint64_t mt_due_after(const struct shard *shard, uint64_t space);

/* The cell of a size below HISTOGRAM_LARGE that is not present in a shard: makes it
   present, or returns a coarser one. */
struct shard_cell *mt_far_cell(struct shard *shard, uint64_t size);

/* Adds to a word of the thread's own shard, or atomically to a word of shard 0. */
static inline void
count_add(uint64_t *word, uint64_t value, bool shared)
{
    if (shared)
        word_add_shared(word, value);
    else
        word_add(word, value);
}

/* Adds to the usable bytes of live blocks that have their own mapping, mod 2^64.  Such a
   block costs the allocator a system call; an atomic operation on a shared word is cheap
   beside that. */
static inline void
mt_count_mapped(uint64_t change)
{
    word_add_shared(&mt_segment.process->mapped, change);
}

#if defined __x86_64__
register uintptr_t mt_stack_register __asm__("rsp");
#define stack_pointer() mt_stack_register
#else
#define stack_pointer() ((uintptr_t)__builtin_frame_address(0))
#endif

static inline __attribute__((always_inline)) void
stack_pointer_store(uint64_t *word)
{
#if defined __x86_64__ && !THREAD_SANITIZER
    __asm__ volatile("movq %%rsp, %0" : "=m"(*word)); /* gcc makes two of it */
#else
    word_store(word, stack_pointer());
#endif
}

/* Sizes below this have cells that are present in every shard. */
#define NEAR_SIZES ((uint64_t)CELLS_A_PAGE * HISTOGRAM_CELL_BYTES)

/* The cell of a size that is present: cells are as wide as they are long. */
static inline struct shard_cell *
near_cell(struct shard *shard, uint64_t size)
{
    _Static_assert(sizeof(struct shard_cell) == HISTOGRAM_CELL_BYTES,
                   "an index is a mask");
    return (void *)((char *)shard->cells + (size & -(uint64_t)HISTOGRAM_CELL_BYTES));
}

/* The cell of a size below HISTOGRAM_LARGE, if its page is present. */
static inline bool
cell_present(const struct shard *shard, uint64_t size)
{
    return __atomic_load_n(&shard->cell_pages, __ATOMIC_RELAXED) >> size / NEAR_SIZES & 1;
}

static inline struct shard_cell *
cell_of(struct shard *shard, uint64_t size)
{
    if (likely(size < NEAR_SIZES))
        return near_cell(shard, size);
    if (size >= HISTOGRAM_LARGE)
        return &shard->coarse[histogram_coarse(size)];
    return likely(cell_present(shard, size)) ? near_cell(shard, size)
                                             : mt_far_cell(shard, size);
}

/* ---- packed ---- */

/* Sizes from here on are never counted by the packed way. */
#define PACKED_LARGE (1u << 20)

/* Counts a block that malloc or calloc made, with the space that it occupies, its head
   included.  Returns true if something is due: then the block must still be counted in
   its cell, or, if no update can be opened, be taken back with uncount_came() and counted
   in another way. */
static inline __attribute__((always_inline)) bool
count_came(struct shard *shard, enum segment_function fn, uint64_t size, uint64_t space)
{
    struct shard_hot *hot = &shard->hot;

    stack_pointer_store(&hot->stack_pointer);
    word_add(&hot->came, packed_block(size)); /* before calloced: see live.h */
    if (fn == FN_CALLOC)
        word_add(&hot->calloced, packed_block(size));
    return word_add_reaches_zero(&hot->came_space, space);
}

/* The same for a block that free is about to free.  The live bytes are highest before a
   block goes. */
static inline bool
count_gone(struct shard *shard, uint64_t size, uint64_t space)
{
    struct shard_hot *hot = &shard->hot;
    int64_t now = (int64_t)(hot->came - hot->gone); /* only this thread writes them */

    if (unlikely(now > hot->top))
        word_raise(&hot->top, now);
    word_add(&hot->gone, packed_block(size));
    return word_add_reaches_zero(&hot->gone_space, space);
}

/* Many threads may count in MT_NO_SHARD at once, without locks: whatever that adds up to,
   it is set far above 0 again each time. */
#define NO_SHARD_DUE (INT64_MAX / 2)

static inline void
uncount_came(struct shard *shard, enum segment_function fn, uint64_t size, uint64_t space)
{
    if (fn == FN_CALLOC)
        word_subtract(&shard->hot.calloced, packed_block(size));
    word_subtract(&shard->hot.came, packed_block(size));
    if (shard == MT_NO_SHARD)
        word_store((uint64_t *)&shard->hot.came_space, NO_SHARD_DUE);
    else
        word_subtract((uint64_t *)&shard->hot.came_space, space);
}

static inline void
uncount_gone(struct shard *shard, uint64_t size, uint64_t space)
{
    word_subtract(&shard->hot.gone, packed_block(size));
    if (shard == MT_NO_SHARD)
        word_store((uint64_t *)&shard->hot.gone_space, NO_SHARD_DUE);
    else
        word_subtract((uint64_t *)&shard->hot.gone_space, space);
}

/* ---- in an update, or shared ---- */

static inline void
count_made(struct shard *shard, enum segment_function fn, uint64_t size, uint64_t usable,
           bool shared)
{
    struct shard_hot *hot = &shard->hot;

    count_add(&hot->calls[fn], 1, shared);
    count_add(&hot->bytes[fn], size, shared);
    count_add(&hot->usable, usable, shared);
    count_add(&cell_of(shard, size)->came, 1, shared);
}

static inline void
count_freed(struct shard *shard, uint64_t size, uint64_t usable, bool shared)
{
    struct shard_hot *hot = &shard->hot;

    count_add(&hot->calls[FN_FREE], 1, shared);
    count_add(&hot->bytes[FN_FREE], size, shared);
    count_add(&hot->usable, -usable, shared);
    count_add(&cell_of(shard, size)->gone, 1, shared);
}

/*
 * An update of the thread's own shard.  While it is open, update_frame says where on the
 * stack it began, so that a later call can tell that it was left by a jump (account.c).
 * Signal handlers may come at any instruction: an update of one that comes before the
 * sequence is odd leaves 0 there, and never a frame that is not this one's; so the frame
 * is noted once more.
 */
static inline void
update_open(struct shard *shard)
{
    stack_pointer_store(&shard->update_frame);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    seqlock_write_begin(&shard->hot.sequence);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    stack_pointer_store(&shard->update_frame);
}

static inline void
update_close(struct shard *shard)
{
    seqlock_write_end(&shard->hot.sequence);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    word_store(&shard->update_frame, 0);
}

/*
 * Opens an update; false: take the slow path.  A thread without a shard points at one
 * whose sequence is odd.  *before is for update_end.
 */
static inline bool
update_begin(struct shard *shard, uint64_t *before)
{
    *before = word_load(&shard->hot.sequence);
    if (unlikely(*before & 1))
        return false;
    update_open(shard);
    return true;
}

/*
 * Is it time to read the clock?  After a free: at every 32nd one, because half of most
 * programs' calls are frees.  Elsewhere: in one update of 64 (the sequence grows by two
 * each time).  Using the sequence after frees as well would miss programs whose calls
 * alternate so regularly that the chosen update is always an allocation.
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

/* A plain store would do for its only writer, but readers copy it with the hot block. */
static inline void
delta_store(struct shard *shard, int64_t delta)
{
    __atomic_store_n(&shard->hot.delta, delta, __ATOMIC_RELAXED);
}

static inline bool
beyond_quantum(const struct shard *shard)
{
    int64_t delta = shard->hot.delta;

    return (uint64_t)(delta < 0 ? -delta : delta) > shard->hot.quantum;
}

/*
 * Closes an update.  The rare extra work has one place, so that no registers are kept for
 * it: due, the delta is too large, or the stack is deeper than before.
 */
static inline void
update_end(struct shard *shard, uint64_t before, bool due)
{
    if (unlikely(due) || unlikely(beyond_quantum(shard))
        || unlikely(stack_pointer() < mt_thread.stack_lowest))
        mt_update_end_slow(shard, before);
    else
        update_close(shard);
}

/* Changes of live bytes in an update.  They keep delta + top, the highest live bytes
   (segment/live.h).  Notes the stack pointer here, in the frame of the call that
   allocates, and not deeper in the library's own frames.  size is below HISTOGRAM_LARGE,
   see mt_delta_large(). */
static inline void
delta_grown(struct shard *shard, uint64_t size)
{
    stack_pointer_store(&shard->hot.stack_pointer);
    word_add((uint64_t *)&shard->hot.delta, size);
    word_subtract((uint64_t *)&shard->hot.top, size << PACKED_BITS);
}

static inline void
delta_shrunk(struct shard *shard, uint64_t size)
{
    int64_t now = (int64_t)(word_load(&shard->hot.came) - word_load(&shard->hot.gone));

    stack_pointer_store(&shard->hot.stack_pointer);
    if (now > shard->hot.top)
        word_raise(&shard->hot.top, now);
    word_subtract((uint64_t *)&shard->hot.delta, size);
    word_add((uint64_t *)&shard->hot.top, size << PACKED_BITS);
}

/* A change that top would not hold goes into the process's live bytes at once. */
#define DELTA_LARGE (UINT64_C(1) << 40)
void mt_delta_large(struct shard *shard, int64_t change);

static inline void
update_end_grown(struct shard *shard, uint64_t before, uint64_t size)
{
    if (likely(size < DELTA_LARGE))
        delta_grown(shard, size);
    else
        mt_delta_large(shard, (int64_t)size);
    update_end(shard, before, update_looks(before));
}

static inline void
update_end_shrunk(struct shard *shard, uint64_t before, uint64_t size)
{
    if (likely(size < DELTA_LARGE))
        delta_shrunk(shard, size);
    else
        mt_delta_large(shard, -(int64_t)size);
    update_end(shard, before, update_looks(before));
}

/* After a free. */
static inline void
update_end_freed(struct shard *shard, uint64_t size)
{
    if (likely(size < DELTA_LARGE))
        delta_shrunk(shard, size);
    else
        mt_delta_large(shard, -(int64_t)size);
    if (unlikely(beyond_quantum(shard))
        || unlikely(stack_pointer() < mt_thread.stack_lowest)
        || unlikely(free_looks(shard)))
        mt_update_end_freed(shard);
    else
        update_close(shard);
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
    update_end_freed(shard, size);
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
    update_end_freed(shard, 0);
}

/* realloc, in all its forms; and see count_resized in account.c. */
void mt_count_resized(const struct mt_resize *resize);

#endif
