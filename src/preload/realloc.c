/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * realloc, in all its forms.  A counted block is forgotten before the real allocator sees
 * it, and noted again if that refuses.  For the sites a realloc ends one block and
 * begins another; an internal allocation of the loader's stays one.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "preload/account.h"
#include "preload/blocks.h"
#include "preload/hooks.h"
#include "preload/internal.h"
#include "preload/public.h"
#include "preload/real.h"
#include "preload/start.h"
#include "preload/state.h"
#include "preload/uncounted.h"

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
    if (mt_is_ours()) {
        mt_made_ours(block, size);
        return block;
    }
    if (!with_sizes())
        resize.size = resize.usable = mt_usable_size(block);
    else if (!size_note(block, size, &resize.usable))
        return block;
    mt_count_resized(&resize);
    if (with_events())
        mt_hooks.events->write(FN_REALLOC, block, resize.size);
    if (with_sites())
        mt_look_at(FN_REALLOC, block, resize.size, NULL);
    return block;
}

/* realloc(block, 0): glibc frees and returns NULL; other allocators return a block of
   size 0, whose size is not kept. */
static void *
realloc_to_zero(void *block, struct mt_resize *resize, const struct mt_followed *followed)
{
    void *left = mt_real.realloc(block, 0);

    if (followed != NULL)
        mt_hooks.sampler->gone(followed);
    resize->kind = RESIZE_FREED;
    if (left != NULL && !with_sizes()) {
        resize->kind = RESIZE_MOVED;
        resize->in_place = left == block;
        resize->size = resize->usable = mt_usable_size(left);
    }
    mt_count_resized(resize);
    if (with_events() && resize->kind == RESIZE_FREED)
        mt_hooks.events->write(EVENT_REALLOC_FREED, block, resize->old_size);
    else if (with_events())
        mt_hooks.events->write(EVENT_REALLOC_TO, left, resize->size);
    if (with_sites() && resize->kind == RESIZE_MOVED)
        mt_look_at(FN_REALLOC, left, resize->size, NULL);
    return left;
}

/* A realloc was refused: the block is unchanged. */
static void
realloc_failed(void *block, size_t size, const struct mt_resize *resize,
               const struct mt_followed *followed)
{
    uint64_t growth = size > resize->old_size ? size - resize->old_size : 0;
    unsigned flags = followed != NULL ? mt_hooks.sampler->keep(block, followed) : 0;
    size_t usable;

    if (with_sizes())
        mt_size_note(block, resize->old_size, flags, &usable);
    mt_count_failed(FN_REALLOC, growth, size, false);
    if (with_events())
        mt_hooks.events->write(EVENT_REALLOC_KEPT, block, resize->old_size);
}

/* The new block cannot be counted: the old one is as good as freed. */
static void *
moved_out_of_sight(const struct mt_resize *resize, void *moved)
{
    mt_count_freed(resize->old_size, resize->old_usable);
    return moved;
}

/* A realloc of block has made another one of it; returns that. */
static void *
realloc_counted(void *block, void *moved, size_t size, struct mt_resize *resize)
{
    resize->in_place = moved == block;
    resize->size = size;
    if (!with_sizes())
        resize->size = resize->usable = mt_usable_size(moved);
    else if (!size_note(moved, size, &resize->usable))
        return moved_out_of_sight(resize, moved);
    mt_count_resized(resize);
    if (with_events())
        mt_hooks.events->write(EVENT_REALLOC_TO, moved, resize->size);
    if (with_sites())
        mt_look_at(FN_REALLOC, moved, resize->size, NULL);
    return moved;
}

/* followed: what is known about the block if it was sampled, or NULL. */
static void *
realloc_ours(void *block, size_t size, struct mt_resize *resize,
             const struct mt_followed *followed)
{
    void *moved = mt_real.realloc(block, padded(size));

    if (moved == NULL) {
        realloc_failed(block, size, resize, followed);
        return NULL;
    }
    if (followed != NULL)
        mt_hooks.sampler->gone(followed);
    return realloc_counted(block, moved, size, resize);
}

/* The loader resizes an internal allocation, outside a call of ours. */
static void *
realloc_for_us(void *block, size_t size)
{
    size_t usable = mt_usable_size(block);
    void *moved = mt_real.realloc(block, padded(size));

    if (moved != NULL)
        mt_made_ours(moved, size);
    else if (size > 0)
        mt_made_ours(block, with_sizes() ? usable - mt_guard.padding : usable);
    return moved;
}

/* A block that has flags, or which may be in the table of sampled blocks. */
static __attribute__((noinline)) void *
realloc_flagged(void *block, size_t size, struct mt_resize *resize, unsigned flags)
{
    struct mt_followed taken;
    const struct mt_followed *followed = NULL;

    /* A damaged trailer may show flags where nothing is sampled. */
    if ((flags & BLOCK_OURS) == 0)
        flags = mt_hooks.sampler != NULL ? mt_hooks.sampler->take(block, &taken) : 0;
    if (flags & BLOCK_OURS)
        return realloc_for_us(block, size);
    if (flags & BLOCK_SAMPLED)
        followed = &taken;
    if (with_events())
        mt_hooks.events->write(EVENT_REALLOC_FROM, block, resize->old_size);
    return size == 0 ? realloc_to_zero(block, resize, followed)
                     : realloc_ours(block, size, resize, followed);
}

static inline __attribute__((always_inline)) void *
counted_realloc(void *block, size_t size)
{
    struct mt_resize resize = {.kind = RESIZE_MOVED};
    unsigned flags = 0;

    if (block == NULL)
        return realloc_fresh(size);
    if (unlikely(mt_arena_holds(block)))
        return mt_arena_realloc(block, size);
    if (!with_sizes()) {
        resize.old_size = resize.old_usable = mt_usable_size(block);
    } else if (!size_take(block, &resize.old_size, &resize.old_usable, &flags)) {
        mt_count_unmatched();
        return mt_real.realloc(block, size);
    }
    if (unlikely(flags != 0) || (with_sites() && !with_sizes()))
        return realloc_flagged(block, size, &resize, flags);
    if (with_events())
        mt_hooks.events->write(EVENT_REALLOC_FROM, block, resize.old_size);
    return size == 0 ? realloc_to_zero(block, &resize, NULL)
                     : realloc_ours(block, size, &resize, NULL);
}

static void *
realloc_logged(void *block, size_t size, bool counted)
{
    /* The log has never seen a block of the arena, so it is logged as NULL. */
    void *seen = block != NULL && mt_arena_holds(block) ? NULL : block;
    struct log_resize *resize = mt_logging() ? mt_hooks.log->resize_begin(seen) : NULL;
    void *result =
        counted ? counted_realloc(block, size) : mt_uncounted_realloc(block, size);

    if (mt_logging())
        mt_hooks.log->resize_end(resize, seen, size, result);
    return result;
}

/* The size of any block in the accounting's terms.  A block that is not counted is as
   large as can be, so that realloc never makes new words of it. */
static uint64_t
accounted_size(void *block)
{
    uint64_t size;
    size_t usable;

    if (mt_arena_holds(block))
        return mt_arena_size(block);
    usable = mt_usable_size(block);
    if (!with_sizes())
        return usable;
    return mt_size_look(block, usable, &size) ? size : UINT64_MAX;
}

static __attribute__((noinline)) void *
realloc_rarely(void *block, size_t size)
{
    bool counted = mt_wake();
    struct profile_resize resize;
    void *result;

    if (!mt_profiled())
        return realloc_logged(block, size, counted);
    resize =
        mt_hooks.profile->resize_begin(block, block != NULL ? accounted_size(block) : 0);
    result = realloc_logged(block, size, counted);
    mt_hooks.profile->resize_end(&resize, MEMPROF_NORMAL, result, size);
    return result;
}

/* ---- ordinary blocks in the usual mode ---- */

static __attribute__((noinline)) void *
realloc_otherwise(void *block, size_t size)
{
    return mt_only_counting() ? counted_realloc(block, size)
                              : realloc_rarely(block, size);
}

/* The real allocator has refused, or the new block is not an ordinary one. */
static __attribute__((noinline)) void *
realloc_ended(void *block, void *moved, size_t size, size_t old_size, size_t old_space)
{
    struct mt_resize resize = {
        .kind = RESIZE_MOVED, .old_size = old_size, .old_usable = old_space - HEAD_BYTES};

    if (moved == NULL) {
        realloc_failed(block, size, &resize, NULL);
        return NULL;
    }
    return realloc_counted(block, moved, size, &resize);
}

/* Counts a realloc like count_resized() in account.c, in an update of the thread's own
   shard. */
static inline void
count_ordinary(struct shard *shard, size_t size, size_t old_size, bool in_place)
{
    struct shard_hot *hot = &shard->hot;

    word_add(&hot->calls[FN_REALLOC], 1);
    if (in_place)
        word_add(&hot->realloc_inplace, 1);
    if (size >= old_size) {
        word_add(&hot->bytes[FN_REALLOC], size - old_size);
        delta_grown(shard, size - old_size);
    } else {
        word_add(&hot->realloc_shrunk, old_size - size);
        word_add(&hot->realloc_dec, 1);
        delta_shrunk(shard, old_size - size);
    }
    word_add(&cell_of(shard, size)->came, 1);
    word_add(&cell_of(shard, old_size)->gone, 1);
}

/* Something is due; ends the update. */
static __attribute__((noinline)) void *
realloc_due(struct shard *shard, void *moved, size_t size, size_t space)
{
    uint64_t hits = mt_due_came(shard, size, space);

    mt_update_end_looking(shard);
    if (hits > 0 && mt_hooks.sampler->hit(FN_REALLOC, moved, size, hits, NULL) != 0)
        mt_size_flag(moved, size, BLOCK_SAMPLED);
    return moved;
}

PUBLIC void *
realloc(void *block, size_t size)
{
    size_t limit = mt_guard.packed_limit != 0 ? PACKED_LARGE : 0;
    size_t old_size, old_space, space;
    struct shard *shard;
    uint64_t before;
    void *moved;

    if (unlikely(size - 1 >= PACKED_LARGE - 1)
        || unlikely(!shadow_take_plain(block, limit, true, &old_size, &old_space)))
        return realloc_otherwise(block, size);
    moved = mt_real.realloc(block, size);
    shard = mt_thread.shard;
    if (unlikely(moved == NULL) || unlikely(head_is_mapped(moved))
        || unlikely(!shadow_note_plain(moved, size, true, &space))
        || unlikely(!update_begin(shard, &before)))
        return realloc_ended(block, moved, size, old_size, old_space);
    count_ordinary(shard, size, old_size, moved == block);
    word_subtract(&shard->hot.usable, old_space);
    if (unlikely(word_add_reaches_zero(&shard->hot.came_space, space)))
        return realloc_due(shard, moved, size, space);
    update_end(shard, before, update_looks(before));
    return moved;
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
