/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interposed functions: malloc, calloc, free and what belongs to them.  These and
 * those in realloc.c, aligned.c, cxx.c, mappings.c and sandbox.c are the only public
 * symbols of libmemtop (libmemtop.map).  Each calls the real allocator, then reports to
 * account.h.
 *
 * What the real allocator is asked for and what it answers is not changed, unless sizes
 * are kept in trailers (sizes.h): then blocks are 8 bytes larger.  The allocator decides
 * everything: alignment, errno, overflow, zero sizes, diagnosis of double frees.  A block
 * that is not known is passed on untouched.
 */
#include "config.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "preload/account.h"
#include "preload/blocks.h"
#include "preload/hooks.h"
#include "preload/internal.h"
#include "preload/public.h"
#include "preload/real.h"
#include "preload/shadow.h"
#include "preload/sizes.h"
#include "preload/start.h"
#include "preload/state.h"
#include "preload/uncounted.h"

/* Is this a dormant process that nobody has leased since it fell asleep? */
static inline bool
sleeping(void)
{
    return likely((mt_guard.mode & MODE_ASLEEP) != 0)
           && likely(word_load(mt_guard.lease) == mt_guard.lease_seen);
}

/*
 * The caller of malloc or calloc, in their functions, which enter each other by jumps,
 * and in what is inlined into them.  It is read from the stack where it is wanted, which
 * is rarely; an argument would cost every call a register.
 */
#define CALLER __builtin_return_address(0)

/* ---- the packed way ---- */

/* Something is due after count_came(). */
static __attribute__((noinline)) void *
made_due(enum segment_function fn, void *block, size_t size, size_t space,
         const void *caller)
{
    struct shard *shard = mt_thread.shard;
    uint64_t before, hits;

    if (!update_begin(shard, &before)) {
        uncount_came(shard, fn, size, space);
        return mt_made_otherwise(fn, block, size, caller);
    }
    cell_of(shard, size)->came++;
    hits = mt_due_came(shard, size, space);
    mt_due_gone_in(shard, mt_due_after(shard, 2 * space)); /* this look was for both */
    mt_update_end_looking(shard);
    if (hits > 0 && mt_hooks.sampler->hit(fn, block, size, hits, caller) != 0)
        mt_size_flag(block, size, BLOCK_SAMPLED);
    return block;
}

/* Counts a call of malloc or calloc for size bytes, below PACKED_LARGE, that glibc
   answered with block.  near: the size is below NEAR_SIZES; it and fn are constants where
   this is inlined.  All that is rare is reached by a jump, so few registers are saved. */
static inline __attribute__((always_inline)) void *
made_packed(enum segment_function fn, void *block, size_t size, bool near)
{
    struct shard *shard;
    size_t space;

    if (unlikely(stack_pointer() < mt_thread.stack_lowest) || (!near && block == NULL)
        || (!near && head_is_mapped(block))
        || unlikely(!shadow_note_plain(block, size, !near, &space)))
        return mt_made_otherwise(fn, block, size, CALLER);
    shard = mt_thread.shard;
    if (unlikely(count_came(shard, fn, size, space)))
        return made_due(fn, block, size, space, CALLER);
    word_add(&(near ? near_cell(shard, size) : cell_of(shard, size))->came, 1);
    return block;
}

/* Something is due after count_gone(); frees the block, too.  Where an update can be
   opened, nothing is taken back: a signal handler may have folded it meanwhile. */
static __attribute__((noinline)) void
freed_due(void *block, size_t size, size_t space)
{
    struct shard *shard = mt_thread.shard;
    uint64_t before;

    if (!update_begin(shard, &before)) {
        uncount_gone(shard, size, space);
        mt_count_freed(size, space - HEAD_BYTES);
    } else {
        cell_of(shard, size)->gone++;
        mt_due_gone_in(shard, mt_due_after(shard, space));
        mt_update_end_looking(shard);
    }
    mt_real.free(block);
}

/* ---- malloc, calloc, free ---- */

/*
 * malloc and free by the packed way, in the usual mode, with events, asleep, and in any
 * other mode.  All but the first are out of line and entered by a jump, so that no
 * registers are saved for them elsewhere.
 */
static __attribute__((noinline)) void *
malloc_otherwise(size_t size)
{
    void *block;

    if (!mt_counting())
        block = mt_uncounted_malloc(size);
    else
        block = mt_made_otherwise(FN_MALLOC, mt_real.malloc(padded(size)), size, CALLER);
    return told_called(LOGALLOC_MALLOC, 0, size, block, CALLER);
}

static __attribute__((noinline)) void *
malloc_usable(size_t size)
{
    void *block = mt_real.malloc(size);
    struct shard *shard = mt_thread.shard;
    size_t usable;

    if (unlikely(block == NULL)
        || unlikely((usable = mt_usable_size(block)) >= NEAR_SIZES)
        || unlikely(stack_pointer() < mt_thread.stack_lowest)
        || unlikely(!mt_guard.packed))
        return mt_made_otherwise(FN_MALLOC, block, size, CALLER);
    mt_thread.last_block = block;
    if (unlikely(count_came(shard, FN_MALLOC, usable, usable + HEAD_BYTES)))
        return made_due(FN_MALLOC, block, usable, usable + HEAD_BYTES, CALLER);
    word_add(&near_cell(shard, usable)->came, 1);
    return block;
}

/* In any mode, not by the packed way, or of a size whose cell may not be present. */
static __attribute__((noinline)) void *
malloc_unpacked(size_t size)
{
    if (mt_guard.mode == ACCOUNTING_USABLE)
        return malloc_usable(size);
    if (mt_guard.packed_limit != 0 && size < PACKED_LARGE)
        return made_packed(FN_MALLOC, mt_real.malloc(size), size, false);
    if (usual_mode())
        return mt_made_otherwise(FN_MALLOC, mt_real.malloc(padded(size)), size, CALLER);
    if (sleeping())
        return mt_real.malloc(size);
    if (mt_guard.mode == MODE_RECORDED)
        return mt_hooks.events->malloc(size);
    return malloc_otherwise(size);
}

PUBLIC void *
malloc(size_t size)
{
    if (unlikely(size >= mt_guard.packed_limit))
        return malloc_unpacked(size);
    return made_packed(FN_MALLOC, mt_real.malloc(size), size, true);
}

static inline __attribute__((always_inline)) void *
counted_calloc(size_t count, size_t size)
{
    size_t total;

    if (unlikely(__builtin_mul_overflow(count, size, &total))) {
        void *refused = mt_real.calloc(count, size);
        mt_count_failed(FN_CALLOC, 0, SIZE_MAX, true);
        return refused;
    }
    if (likely(total < mt_guard.packed_limit))
        return made_packed(FN_CALLOC, mt_real.calloc(1, total), total, true);
    return mt_made(FN_CALLOC, mt_real.calloc(1, padded(total)), total, 0);
}

static __attribute__((noinline)) void *
calloc_rarely(size_t count, size_t size)
{
    return told(LOGALLOC_CALLOC, count, size,
                mt_wake() ? counted_calloc(count, size)
                          : mt_uncounted_calloc(count, size));
}

PUBLIC void *
calloc(size_t count, size_t size)
{
    return mt_only_counting() ? counted_calloc(count, size) : calloc_rarely(count, size);
}

/* Removes a block whose size is not kept from the table of sampled blocks before it is
   freed; returns its flags. */
static unsigned
leave_table(void *block)
{
    struct mt_followed taken;
    unsigned flags = with_sites() ? mt_hooks.sampler->take(block, &taken) : 0;

    if (flags & BLOCK_SAMPLED)
        mt_hooks.sampler->gone(&taken);
    return flags;
}

/* Counts a block that is about to be freed, in any mode. */
static void
going(void *block)
{
    uint64_t size;
    size_t usable;
    unsigned flags;

    if (!with_sizes()) {
        size = usable = mt_usable_size(block);
        flags = leave_table(block);
    } else if (!size_take(block, &size, &usable, &flags)) {
        mt_count_unmatched();
        return;
    } else if ((flags & BLOCK_SAMPLED) && with_sites()) {
        mt_hooks.sampler->freed(block);
    }
    if (flags & BLOCK_OURS)
        return;
    if (with_events() && !mt_thread.event_written)
        mt_hooks.events->freed(block, size, usable);
    else
        mt_count_freed(size, usable);
}

static void
count_free_null(void)
{
    if (mt_counting())
        mt_count_free_null();
}

/* Is this NULL, which is counted here, or a block of the arena? */
static inline bool
freed_nothing(void *block)
{
    if (unlikely(block == NULL)) {
        count_free_null();
        return true;
    }
    return unlikely(mt_arena_holds(block));
}

static __attribute__((noinline)) void
free_usual(void *block)
{
    if (freed_nothing(block))
        return;
    going(block);
    mt_real.free(block);
}

static __attribute__((noinline)) void
free_recorded(void *block)
{
    if (!freed_nothing(block))
        mt_hooks.events->free(block);
}

static __attribute__((noinline)) void
free_told(void *block)
{
    bool counted = mt_counting();

    if (mt_logging() && !mt_arena_holds(block) && !mt_thread.event_written)
        mt_hooks.log->freed(block);
    if (mt_profiled())
        mt_hooks.profile->freed(MEMPROF_NORMAL, block);
    if (block == NULL && counted) {
        mt_count_free_null();
    } else if (!counted) {
        mt_uncounted_free(block);
    } else if (!mt_arena_holds(block)) {
        going(block);
        mt_real.free(block);
        mt_thread.last_block = block;
    }
}

/* With usable accounting: by the packed way if due is not set. */
static __attribute__((noinline)) void
free_usable_rarely(void *block, size_t usable, bool due)
{
    if (due) {
        freed_due(block, usable, usable + HEAD_BYTES);
    } else {
        mt_count_freed(usable, usable);
        mt_real.free(block);
    }
    mt_thread.last_block = block; /* afterwards: the allocator may free other blocks */
}

static __attribute__((noinline)) void
free_usable(void *block)
{
    struct shard *shard = mt_thread.shard;
    size_t usable;

    if (unlikely(block == NULL) || unlikely(mt_arena_holds(block))) {
        free_told(block);
        return;
    }
    usable = mt_usable_size(block);
    if (unlikely(usable >= NEAR_SIZES) || unlikely(!mt_guard.packed)) {
        free_usable_rarely(block, usable, false);
        return;
    }
    if (unlikely(count_gone(shard, usable, usable + HEAD_BYTES))) {
        free_usable_rarely(block, usable, true);
        return;
    }
    word_add(&near_cell(shard, usable)->gone, 1);
    mt_real.free(block);
    mt_thread.last_block = block;
}

/* Counts a block by the packed way if its size is below a limit, and frees it. */
static inline __attribute__((always_inline)) bool
free_packed(void *block, size_t limit, bool near)
{
    struct shard *shard;
    size_t size, space;

    if (unlikely(!shadow_take_plain(block, limit, !near, &size, &space)))
        return false;
    shard = mt_thread.shard;
    if (unlikely(count_gone(shard, size, space))) {
        freed_due(block, size, space);
        return true;
    }
    word_add(&(near ? near_cell(shard, size) : cell_of(shard, size))->gone, 1);
    mt_real.free(block);
    return true;
}

/* In any mode, also by the packed way if the size's cell may not be present. */
static __attribute__((noinline)) void
free_otherwise(void *block)
{
    if (mt_guard.mode == ACCOUNTING_USABLE) {
        free_usable(block);
        return;
    }
    if (mt_guard.packed_limit != 0 && free_packed(block, PACKED_LARGE, false))
        return;
    if (mt_guard.mode == ACCOUNTING_REQUESTED)
        free_usual(block);
    else if (mt_guard.mode == MODE_RECORDED)
        free_recorded(block);
    else if (sleeping())
        mt_uncounted_free(block);
    else
        free_told(block);
}

/* packed_limit says as well whether the packed way may be gone at all. */
PUBLIC void
free(void *block)
{
    if (unlikely(!free_packed(block, mt_guard.packed_limit, true)))
        free_otherwise(block);
}

PUBLIC void
cfree(void *block)
{
    free(block);
}

/* C23.  The real one would compare the size with that of the padded block. */
PUBLIC void
free_sized(void *block, size_t size)
{
    (void)size;
    free(block);
}

PUBLIC void
free_aligned_sized(void *block, size_t alignment, size_t size)
{
    (void)alignment;
    (void)size;
    free(block);
}

/* ---- jemalloc_stats ---- */

/* Mozilla's allocator has this function; for others it writes a mark to the log. */
PUBLIC void
jemalloc_stats(void *stats, void *bins)
{
    mt_counting();
    if (mt_real.jemalloc_stats != NULL)
        mt_real.jemalloc_stats(stats, bins);
    if (mt_logging())
        mt_hooks.log->stats();
}

/* ---- malloc_usable_size ---- */

PUBLIC size_t
malloc_usable_size(void *block)
{
    if (block == NULL)
        return 0;
    if (mt_arena_holds(block))
        return mt_arena_size(block);
    mt_counting();
    if (mt_real.malloc == NULL)
        return 0;
    return mt_size_told(block, mt_real.malloc_usable_size(block));
}
