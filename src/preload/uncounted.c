/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Passes calls on uncounted: to the real allocator or, until it is known, to the arena
   (real.h). */
#include "config.h"

#include "preload/uncounted.h"

#include <errno.h>
#include <string.h>

void *
mt_uncounted_aligned(size_t alignment, size_t size)
{
    void *block;

    if (mt_real.malloc == NULL)
        block = mt_arena_allocate(size, alignment);
    else
        block = mt_real.memalign(alignment, size);
    return block;
}

int
mt_uncounted_posix_memalign(void **out, size_t alignment, size_t size)
{
    void *block;

    if (mt_real.malloc != NULL)
        return mt_real.posix_memalign(out, alignment, size);
    block = mt_arena_allocate(size, alignment);
    if (block == NULL)
        return ENOMEM;
    *out = block;
    return 0;
}

void *
mt_uncounted_malloc(size_t size)
{
    return mt_real.malloc != NULL ? mt_real.malloc(size) : mt_arena_allocate(size, 1);
}

void *
mt_uncounted_calloc(size_t count, size_t size)
{
    size_t total;

    if (mt_real.malloc != NULL)
        return mt_real.calloc(count, size);
    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return mt_arena_allocate(total, 1); /* never used before, so it is zero */
}

void *
mt_arena_realloc(void *block, size_t size)
{
    size_t old_size = mt_arena_size(block);
    void *moved = mt_uncounted_malloc(size);

    if (moved != NULL)
        memcpy(moved, block, old_size < size ? old_size : size);
    return moved;
}

void *
mt_uncounted_realloc(void *block, size_t size)
{
    if (block != NULL && mt_arena_holds(block))
        return mt_arena_realloc(block, size);
    if (mt_real.malloc == NULL)
        return mt_arena_allocate(size, 1);
    return mt_real.realloc(block, size);
}
