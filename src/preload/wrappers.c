/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interposed functions: malloc, calloc, free and what belongs to them.  These and
 * those in realloc.c, aligned.c, cxx.c, mappings.c and sandbox.c are the only public
 * symbols of libmemtop (libmemtop.map).  Each calls the real allocator, then reports to
 * account.h.
 *
 * With trailers (trailer.h) we ask for 8 bytes more than the program did; the real
 * allocator decides everything else: alignment, errno, overflow, zero sizes, diagnosis of
 * double frees.  A block without a valid trailer is passed through untouched.
 */
#include "config.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "preload/account.h"
#include "preload/blocks.h"
#include "preload/log/log.h"
#include "preload/internal.h"
#include "preload/public.h"
#include "preload/real.h"
#include "preload/ring/ring.h"
#include "preload/sites/sample.h"
#include "preload/state.h"
#include "preload/trailer.h"
#include "preload/uncounted.h"

/* Is this a dormant process that nobody has leased since it fell asleep? */
static inline bool
sleeping(void)
{
    return likely((mt_guard.mode & MODE_ASLEEP) != 0)
           && likely(word_load(mt_guard.lease) == mt_guard.lease_seen);
}

/* Largest usable size handed out, less the trailer.  malloc_usable_size may return
   anything for a foreign block; above this the trailer is not even read. */
static size_t largest_block;

/* Have trailers been written in this process or one it was forked from?  With flags? */
static bool trailers_exist, flags_exist;

/* ---- blocks made and freed ---- */

static void
raise_largest(size_t room)
{
    size_t seen = __atomic_load_n(&largest_block, __ATOMIC_RELAXED);

    trailers_exist = true;
    while (seen < room
           && !__atomic_compare_exchange_n(&largest_block, &seen, room, true,
                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* Below this no block has its own mapping: M_MMAP_THRESHOLD is twice as much, unless it
   was lowered. */
#define MAPPED_AT_LEAST 65536u

/* Counts a new or a freed block if glibc holds it in a mapping of its own: such a block
   ends where its mapping does, while others end inside the header of the next block. */
static void
note_mapped(const void *block, size_t usable, bool comes)
{
    if (usable >= MAPPED_AT_LEAST && ((uintptr_t)block + usable) % 16 == 0
        && mt_real.doubts != HEADS_UNKNOWN)
        mt_count_mapped(comes ? usable : -(uint64_t)usable);
}

static inline void
write_trailer(void *block, size_t usable, size_t size)
{
    size_t room = usable - TRAILER_BYTES;

    if (unlikely(room > largest_block))
        raise_largest(room);
    trailer_write(block, usable, size, mt_guard.trailer_salt);
}

size_t
mt_seal(void *block, size_t size)
{
    size_t usable = mt_usable_size(block);

    write_trailer(block, usable, size);
    note_mapped(block, usable, true);
    return usable;
}

void
mt_flag(void *block, uint64_t size, unsigned flags)
{
    if (flags == 0 || !with_trailers())
        return;
    flags_exist = true;
    trailer_write(block, mt_usable_size(block),
                  size | (uint64_t)flags << TRAILER_FLAGS_SHIFT, mt_guard.trailer_salt);
}

void
mt_made_ours(void *block, size_t size)
{
    if (!with_trailers()) {
        mt_sites_mark_ours(block);
        return;
    }
    write_trailer(block, mt_usable_size(block), size);
    mt_flag(block, size, BLOCK_OURS);
}

void
mt_look_at(enum segment_function fn, void *block, uint64_t size, const void *caller)
{
    mt_flag(block, size, mt_sample_made(fn, block, size, caller));
}

/* The slow end of the fast path, for a block whose trailer is written. */
static __attribute__((noinline)) void
made_slowly(enum segment_function fn, void *block, size_t size, size_t usable,
            const void *caller)
{
    if (mt_is_ours()) {
        mt_made_ours(block, size);
        return;
    }
    mt_count_made(fn, size, usable);
    if (with_sites())
        mt_look_at(fn, block, size, caller);
}

/* The allocation failed, or the block's usable size is not known yet. */
static __attribute__((noinline)) void
made_otherwise(enum segment_function fn, void *block, size_t size, const void *caller)
{
    if (block == NULL)
        mt_count_failed(fn, size, size, true);
    else
        made_slowly(fn, block, size, mt_seal(block, size), caller);
}

/* Ends the update in which the block was counted and a limit was reached. */
static __attribute__((noinline)) void
made_due(enum segment_function fn, void *block, size_t size, size_t usable,
         uint64_t before, const void *caller)
{
    struct shard *shard = mt_thread.shard;
    uint64_t hits = mt_sample_due(shard, size, usable);

    mt_update_end_looking(shard, before);
    if (hits > 0)
        mt_flag(block, size, mt_sample_hit(fn, block, size, hits, caller));
}

/*
 * The caller of malloc, in malloc's functions, which enter each other by jumps, and in
 * what is inlined into them.  It is read from the stack where it is wanted, which is
 * rarely; an argument would cost every call a register.
 */
#define CALLER __builtin_return_address(0)

/* Counts a call of fn for size bytes that the real allocator answered with block, which
   has space for a trailer. */
static inline __attribute__((always_inline)) void *
made_usual(enum segment_function fn, void *block, size_t size, bool by_malloc)
{
    struct shard *shard;
    uint64_t before;
    size_t usable;

    if (unlikely(block == NULL) || unlikely(!mt_usable_size_read(block, &usable))) {
        made_otherwise(fn, block, size, by_malloc ? CALLER : NULL);
        return block;
    }
    write_trailer(block, usable, size);
    shard = mt_thread.shard;
    if (unlikely(!update_begin(shard, &before))) {
        made_slowly(fn, block, size, usable, by_malloc ? CALLER : NULL);
        return block;
    }
    if (unlikely(count_made_usual(shard, fn, size, usable))) {
        delta_grown(shard, size);
        made_due(fn, block, size, usable, before, by_malloc ? CALLER : NULL);
    } else {
        update_end_usual(shard, before, size);
    }
    return block;
}

/* The same in any mode but the usual one. */
static inline __attribute__((always_inline)) void *
made_rarely(enum segment_function fn, void *block, size_t size, size_t alignment,
            const void *caller)
{
    size_t usable;

    if (mt_is_ours()) {
        mt_made_ours(block, size);
        return block;
    }
    if (with_trailers()) {
        usable = mt_seal(block, size);
    } else {
        size = usable = mt_usable_size(block);
        mt_thread.last_block = block;
    }
    if (with_events())
        mt_event_made(fn, block, size, usable, alignment);
    else
        mt_count_made(fn, size, usable);
    if (with_sites())
        mt_look_at(fn, block, size, caller);
    return block;
}

/* The same in any mode. */
void *
mt_made(enum segment_function fn, void *block, size_t size, size_t alignment)
{
    if (block == NULL || usual_mode())
        return made_usual(fn, block, size, false);
    return made_rarely(fn, block, size, alignment, NULL);
}

/* Reads the requested size of a block with that usable size; false if it has no
   trailer. */
static inline bool
read_trailer(void *block, size_t usable, uint64_t *size)
{
    return likely(usable - TRAILER_BYTES <= largest_block)
           && likely(trailer_read(block, usable, size, mt_guard.trailer_salt));
}

static bool
read_flags(void *block, size_t usable, uint64_t *size, unsigned *flags)
{
    return flags_exist && usable - TRAILER_BYTES <= largest_block
           && trailer_read_flagged(block, usable, size, flags, mt_guard.trailer_salt);
}

bool
mt_trailer_there(void *block, size_t usable, uint64_t *size)
{
    unsigned flags;

    return read_trailer(block, usable, size) || read_flags(block, usable, size, &flags);
}

bool
mt_unseal(void *block, uint64_t *size, size_t *usable, unsigned *flags)
{
    *usable = mt_usable_size(block);
    *flags = 0;
    if (!read_trailer(block, *usable, size) && !read_flags(block, *usable, size, flags))
        return false;
    trailer_clear(block, *usable);
    if ((*flags & BLOCK_OURS) == 0)
        note_mapped(block, *usable, false);
    return true;
}

/* ---- malloc, calloc, free ---- */

/*
 * malloc and free in the usual mode, with events, asleep, and in any other mode.  Each is
 * out of line and entered by a jump, so that a sleeping process saves no registers.
 */
static __attribute__((noinline)) void *
malloc_usual(size_t size)
{
    return made_usual(FN_MALLOC, mt_real.malloc(with_room(size)), size, true);
}

static __attribute__((noinline)) void *
malloc_recorded(size_t size)
{
    void *block;
    size_t usable;

    block = mt_real.malloc(with_room(size));
    if (unlikely(block == NULL) || unlikely(!mt_usable_size_read(block, &usable)))
        return mt_made(FN_MALLOC, block, size, 0);
    write_trailer(block, usable, size);
    mt_event_made_tsc(FN_MALLOC, block, size, usable);
    return block;
}

static __attribute__((noinline)) void *
malloc_otherwise(size_t size)
{
    void *block;

    if (!mt_counting())
        block = mt_uncounted_malloc(size);
    else if ((block = mt_real.malloc(padded(size))) != NULL && with_sites())
        made_rarely(FN_MALLOC, block, size, 0, CALLER);
    else
        mt_made(FN_MALLOC, block, size, 0);
    return told_called(LOGALLOC_MALLOC, 0, size, block, CALLER);
}

static __attribute__((noinline)) void *
malloc_usable(size_t size)
{
    void *block = mt_real.malloc(size);

    if (unlikely(block == NULL))
        return mt_made(FN_MALLOC, block, size, 0);
    size = mt_usable_size(block);
    mt_count_made(FN_MALLOC, size, size);
    mt_thread.last_block = block;
    return block;
}

PUBLIC void *
malloc(size_t size)
{
    if (usual_mode())
        return malloc_usual(size);
    if (sleeping())
        return mt_real.malloc(size);
    if (mt_guard.mode == MODE_RECORDED)
        return malloc_recorded(size);
    return mt_guard.mode == ACCOUNTING_USABLE ? malloc_usable(size)
                                              : malloc_otherwise(size);
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

/* Removes a block without a trailer from the table of sampled blocks before it is freed;
   returns its flags. */
static unsigned
leave_table(void *block)
{
    struct mt_followed taken;
    unsigned flags = with_sites() ? mt_sample_take(block, &taken) : 0;

    if (flags & BLOCK_SAMPLED)
        mt_sample_gone(&taken);
    return flags;
}

/* Counts a block that is about to be freed, in any mode. */
static void
going(void *block)
{
    uint64_t size;
    size_t usable;
    unsigned flags;

    if (!with_trailers()) {
        size = usable = mt_usable_size(block);
        flags = leave_table(block);
    } else if (!mt_unseal(block, &size, &usable, &flags)) {
        mt_count_unmatched();
        return;
    } else if ((flags & BLOCK_SAMPLED) && with_sites()) {
        mt_sample_freed(block);
    }
    if (flags & BLOCK_OURS)
        return;
    if (with_events() && !mt_thread.event_written)
        mt_event_freed(block, size, usable);
    else
        mt_count_freed(size, usable);
}

static void
count_free_null(void)
{
    if (mt_counting())
        mt_count_free_null();
}

/* Frees an ordinary block; recorded is a constant where this is inlined. */
static inline __attribute__((always_inline)) void
free_counted_by(void *block, bool recorded)
{
    uint64_t size;
    size_t usable;

    if (unlikely(block == NULL)) {
        count_free_null();
        return;
    }
    if (unlikely(mt_arena_holds(block)))
        return;
    if (likely(mt_usable_size_read(block, &usable))
        && likely(read_trailer(block, usable, &size))) {
        trailer_clear(block, usable);
        if (recorded)
            mt_event_freed_tsc(block, size, usable);
        else
            mt_count_freed(size, usable);
    } else {
        going(block);
    }
    mt_real.free(block);
}

static __attribute__((noinline)) void
free_usual(void *block)
{
    free_counted_by(block, false);
}

static __attribute__((noinline)) void
free_recorded(void *block)
{
    free_counted_by(block, true);
}

static __attribute__((noinline)) void
free_otherwise(void *block)
{
    bool counted = mt_counting();

    if (mt_logging() && !mt_arena_holds(block) && !mt_thread.event_written)
        mt_log_free(block);
    if (mt_profiled())
        mt_profile_freed(MEMPROF_NORMAL, block);
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

static __attribute__((noinline)) void
free_rarely(void *block)
{
    if (likely(mt_guard.mode == ACCOUNTING_USABLE) && likely(block != NULL)
        && likely(!mt_arena_holds(block))) {
        size_t usable = mt_usable_size(block);
        mt_count_freed(usable, usable);
        mt_real.free(block);
        mt_thread.last_block = block;
    } else {
        free_otherwise(block);
    }
}

PUBLIC void
free(void *block)
{
    if (likely(mt_guard.mode == ACCOUNTING_REQUESTED))
        free_usual(block);
    else if (mt_guard.mode == MODE_RECORDED)
        free_recorded(block);
    else if (sleeping())
        mt_uncounted_free(block);
    else
        free_rarely(block);
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
        mt_log_stats();
}

/* ---- malloc_usable_size ---- */

/* Returns the size without the trailer: a program that fills all it is told it has must
   not overwrite the trailer. */
PUBLIC size_t
malloc_usable_size(void *block)
{
    uint64_t size;
    size_t usable;

    if (block == NULL)
        return 0;
    if (mt_arena_holds(block))
        return mt_arena_size(block);
    mt_counting();
    if (mt_real.malloc == NULL)
        return 0;
    usable = mt_real.malloc_usable_size(block);
    if (trailers_exist && !(mt_guard.mode & MODE_ASLEEP)
        && mt_trailer_there(block, usable, &size))
        usable -= TRAILER_BYTES;
    return usable;
}
