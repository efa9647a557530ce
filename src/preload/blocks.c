/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts the blocks that calls have made, in any mode. */
#include "config.h"

#include "preload/blocks.h"

#include "preload/account.h"
#include "preload/hooks.h"
#include "preload/internal.h"

void
mt_made_ours(void *block, size_t size)
{
    size_t usable;

    if (with_sizes())
        mt_size_note(block, size, BLOCK_OURS, &usable);
    else if (mt_hooks.sampler != NULL)
        mt_hooks.sampler->mark_ours(block);
}

void
mt_look_at(enum segment_function fn, void *block, uint64_t size, const void *caller)
{
    unsigned flags = mt_hooks.sampler->made(fn, block, size, caller);

    if (flags != 0 && with_sizes())
        mt_size_flag(block, size, flags);
}

/* Counts a block in any mode.  Returns it. */
static inline __attribute__((always_inline)) void *
made_rarely(enum segment_function fn, void *block, size_t size, size_t alignment,
            const void *caller)
{
    size_t usable;

    if (mt_is_ours()) {
        mt_made_ours(block, size);
        return block;
    }
    if (with_sizes()) {
        if (!size_note(block, size, &usable))
            return block;
    } else {
        size = usable = mt_usable_size(block);
        mt_thread.last_block = block;
    }
    if (with_events())
        mt_hooks.events->made(fn, block, size, usable, alignment);
    else
        mt_count_made(fn, size, usable);
    if (with_sites())
        mt_look_at(fn, block, size, caller);
    return block;
}

void *
mt_made_otherwise(enum segment_function fn, void *block, size_t size, const void *caller)
{
    if (block != NULL)
        return made_rarely(fn, block, size, 0, caller);
    mt_count_failed(fn, size, size, true);
    return NULL;
}

void *
mt_made(enum segment_function fn, void *block, size_t size, size_t alignment)
{
    if (block == NULL)
        return mt_made_otherwise(fn, NULL, size, NULL);
    return made_rarely(fn, block, size, alignment, NULL);
}

uint64_t
mt_due_came(struct shard *shard, size_t size, size_t space)
{
    uint64_t next = mt_due_after(shard, space);
    uint64_t hits = with_sites() ? mt_hooks.sampler->due(shard, size, space, &next) : 0;

    mt_due_in(shard, next);
    return hits;
}
