/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interposed functions: malloc, calloc, free, realloc and what goes with them.
 * With aligned.c, cxx.c, mappings.c and sandbox.c the only public symbols of
 * libmemtop (libmemtop.map).  Each asks the real allocator, then tells account.h.
 *
 * With trailers (trailer.h) we ask for 8 bytes more than the program did; the
 * real allocator keeps its say in everything else: alignment, errno, overflow,
 * zero sizes, diagnosis of double frees.  A block without a valid trailer is
 * not ours and is passed through untouched.
 */
#include "config.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "preload/account.h"
#include "preload/blocks.h"
#include "preload/log.h"
#include "preload/public.h"
#include "preload/real.h"
#include "preload/ring.h"
#include "preload/state.h"
#include "preload/trailer.h"
#include "preload/uncounted.h"

/* A dormant process that nobody has leased since it fell asleep. */
static inline bool
sleeping(void)
{
    return likely((mt_guard.mode & MODE_ASLEEP) != 0)
           && likely(word_load(mt_guard.lease) == mt_guard.lease_seen);
}

/* Largest usable size handed out, less the trailer.  A foreign block may make
   malloc_usable_size return anything; above this we do not even look. */
static size_t largest_block;

/* Trailers were written in this process or in one it was forked from. */
static bool trailers_exist;

/* ---- blocks that come and go ---- */

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

/* Below this no block has a mapping of its own: M_MMAP_THRESHOLD is twice as much,
   unless it was lowered. */
#define MAPPED_AT_LEAST 65536u

/* Counts a block that comes, or one that goes, if glibc holds it in a mapping of
   its own: such a block ends where its mapping does, the others end inside the
   header of what follows them. */
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

/* Writes the trailer of a new block of ours; returns its usable size. */
static size_t
seal(void *block, size_t size)
{
    size_t usable = mt_usable_size(block);

    write_trailer(block, usable, size);
    note_mapped(block, usable, true);
    return usable;
}

static __attribute__((noinline)) void
made_otherwise(enum segment_function fn, void *block, size_t size)
{
    if (block == NULL)
        mt_count_failed(fn, size, size, true);
    else
        mt_count_made(fn, size, seal(block, size));
}

/* The real allocator answered a call of fn for size bytes with block, which
   has room for a trailer: counts it. */
static inline __attribute__((always_inline)) void *
made_sealed(enum segment_function fn, void *block, size_t size)
{
    size_t usable;

    if (unlikely(block == NULL) || unlikely(!mt_usable_size_read(block, &usable))) {
        made_otherwise(fn, block, size);
    } else {
        write_trailer(block, usable, size);
        mt_count_made(fn, size, usable);
    }
    return block;
}

/* The same in any mode. */
void *
mt_made(enum segment_function fn, void *block, size_t size)
{
    size_t usable;

    if (block == NULL || usual_mode())
        return made_sealed(fn, block, size);
    if (with_trailers()) {
        usable = seal(block, size);
    } else {
        size = usable = mt_usable_size(block);
        mt_thread.last_block = block;
    }
    if (with_events())
        mt_event_made(fn, block, size, usable);
    else
        mt_count_made(fn, size, usable);
    return block;
}

/* The requested size of a block of so many usable bytes; false if it is not ours. */
static inline bool
read_trailer(void *block, size_t usable, uint64_t *size)
{
    return likely(usable - TRAILER_BYTES <= largest_block)
           && likely(trailer_read(block, usable, size, mt_guard.trailer_salt));
}

/* Takes the trailer off a block of ours that is about to go: its size and what it
   occupies; false if it is not ours. */
static bool
unseal(void *block, uint64_t *size, size_t *usable)
{
    *usable = mt_usable_size(block);
    if (!read_trailer(block, *usable, size))
        return false;
    trailer_clear(block, *usable);
    note_mapped(block, *usable, false);
    return true;
}

/* ---- malloc, calloc, free ---- */

/*
 * malloc and free in the usual mode; with events; asleep; in any other mode.  Each
 * out of line and entered by a jump, so that a process that sleeps saves no
 * registers.
 */
static __attribute__((noinline)) void *
malloc_usual(size_t size)
{
    return made_sealed(FN_MALLOC, mt_real.malloc(with_room(size)), size);
}

static __attribute__((noinline)) void *
malloc_recorded(size_t size)
{
    void *block = mt_real.malloc(with_room(size));
    size_t usable;

    if (unlikely(block == NULL) || unlikely(!mt_usable_size_read(block, &usable)))
        return mt_made(FN_MALLOC, block, size);
    write_trailer(block, usable, size);
    mt_event_made_tsc(FN_MALLOC, block, size, usable);
    return block;
}

static __attribute__((noinline)) void *
malloc_rarely(size_t size)
{
    if (likely(mt_guard.mode == ACCOUNTING_USABLE)) {
        void *block = mt_real.malloc(size);
        if (unlikely(block == NULL))
            return mt_made(FN_MALLOC, block, size);
        size = mt_usable_size(block);
        mt_count_made(FN_MALLOC, size, size);
        mt_thread.last_block = block;
        return block;
    }
    return logged(LOGALLOC_MALLOC, 0, size,
                  mt_counting() ? mt_made(FN_MALLOC, mt_real.malloc(padded(size)), size)
                                : mt_uncounted_malloc(size));
}

PUBLIC void *
malloc(size_t size)
{
    if (usual_mode())
        return malloc_usual(size);
    if (mt_guard.mode == MODE_RECORDED)
        return malloc_recorded(size);
    return sleeping() ? mt_real.malloc(size) : malloc_rarely(size);
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
    return mt_made(FN_CALLOC, mt_real.calloc(1, padded(total)), total);
}

static __attribute__((noinline)) void *
calloc_rarely(size_t count, size_t size)
{
    return logged(LOGALLOC_CALLOC, count, size,
                  mt_wake() ? counted_calloc(count, size) : mt_uncounted_calloc(count, size));
}

PUBLIC void *
calloc(size_t count, size_t size)
{
    return mt_only_counting() ? counted_calloc(count, size) : calloc_rarely(count, size);
}

/* Counts a block of ours that is about to be freed, in any mode. */
static void
going(void *block)
{
    uint64_t size;
    size_t usable;

    if (!with_trailers()) {
        size = usable = mt_usable_size(block);
    } else if (!unseal(block, &size, &usable)) {
        mt_count_unmatched();
        return;
    }
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

/* Of a block as most are; what counts it is known where this is built in. */
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
    if (usual_mode())
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

/* C23.  The real ones would compare the size with that of the padded block. */
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

/* ---- realloc ---- */

/* realloc(NULL, size) */
static void *
realloc_fresh(size_t size)
{
    void *block = mt_real.realloc(NULL, padded(size));
    struct mt_resize resize = {.kind = RESIZE_FRESH, .size = size};

    if (block == NULL) {
        mt_count_failed(FN_REALLOC, size, size, true);
        return NULL;
    }
    if (with_trailers())
        resize.usable = seal(block, size);
    else
        resize.size = resize.usable = mt_usable_size(block);
    mt_count_resized(&resize);
    if (with_events())
        mt_event(FN_REALLOC, block, resize.size);
    return block;
}

/* realloc(block, 0): glibc frees and returns NULL; other allocators return a
   block of size 0, which has no room for a trailer. */
static void *
realloc_to_zero(void *block, struct mt_resize *resize)
{
    void *left = mt_real.realloc(block, 0);

    resize->kind = RESIZE_FREED;
    if (left != NULL && !with_trailers()) {
        resize->kind = RESIZE_MOVED;
        resize->in_place = left == block;
        resize->size = resize->usable = mt_usable_size(left);
    }
    mt_count_resized(resize);
    if (with_events() && resize->kind == RESIZE_FREED)
        mt_event(EVENT_REALLOC_FREED, block, resize->old_size);
    else if (with_events())
        mt_event(EVENT_REALLOC_TO, left, resize->size);
    return left;
}

static void *
realloc_ours(void *block, size_t size, struct mt_resize *resize)
{
    void *moved = mt_real.realloc(block, padded(size));

    if (moved == NULL) {
        uint64_t growth = size > resize->old_size ? size - resize->old_size : 0;
        if (with_trailers())
            seal(block, resize->old_size);
        mt_count_failed(FN_REALLOC, growth, size, false);
        if (with_events())
            mt_event(EVENT_REALLOC_KEPT, block, resize->old_size);
        return NULL;
    }
    resize->size = size;
    if (with_trailers())
        resize->usable = seal(moved, size);
    else
        resize->size = resize->usable = mt_usable_size(moved);
    resize->in_place = moved == block;
    mt_count_resized(resize);
    if (with_events())
        mt_event(EVENT_REALLOC_TO, moved, resize->size);
    return moved;
}

static inline __attribute__((always_inline)) void *
counted_realloc(void *block, size_t size)
{
    struct mt_resize resize = {.kind = RESIZE_MOVED};

    if (block == NULL)
        return realloc_fresh(size);
    if (unlikely(mt_arena_holds(block)))
        return mt_arena_realloc(block, size);
    if (!with_trailers()) {
        resize.old_size = resize.old_usable = mt_usable_size(block);
    } else if (!unseal(block, &resize.old_size, &resize.old_usable)) {
        mt_count_unmatched();
        return mt_real.realloc(block, size);
    }
    if (with_events())
        mt_event(EVENT_REALLOC_FROM, block, resize.old_size);
    return size == 0 ? realloc_to_zero(block, &resize)
                     : realloc_ours(block, size, &resize);
}

/* To the log a block of the arena, which it has not seen, is as good as none. */
static __attribute__((noinline)) void *
realloc_rarely(void *block, size_t size)
{
    bool counted = mt_wake();
    void *told = block != NULL && mt_arena_holds(block) ? NULL : block;
    struct log_resize *resize = mt_logging() ? mt_log_resize_begin(told) : NULL;
    void *result = counted ? counted_realloc(block, size) : mt_uncounted_realloc(block, size);

    if (mt_logging())
        mt_log_resize_end(resize, told, size, result);
    return result;
}

PUBLIC void *
realloc(void *block, size_t size)
{
    return mt_only_counting() ? counted_realloc(block, size) : realloc_rarely(block, size);
}

PUBLIC void *
reallocarray(void *block, size_t count, size_t size)
{
    size_t total;

    if (unlikely(__builtin_mul_overflow(count, size, &total))) {
        if (mt_counting())
            mt_count_failed(FN_REALLOC, 0, SIZE_MAX, block == NULL);
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, total);
}

/* ---- jemalloc_stats ---- */

/* Mozilla's allocator has it; for others it is a mark in the log. */
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

/* Without the trailer: a program that fills all it is told to have must not
   overwrite it. */
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
    if (trailers_exist && !(mt_guard.mode & MODE_ASLEEP) && read_trailer(block, usable, &size))
        usable -= TRAILER_BYTES;
    return usable;
}
