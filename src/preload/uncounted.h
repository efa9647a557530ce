/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The malloc family before counting starts, or while calls are not counted. */
#ifndef MEMTOP_UNCOUNTED_H
#define MEMTOP_UNCOUNTED_H

#include <stddef.h>

#include "preload/real.h"

void *mt_uncounted_malloc(size_t size);
void *mt_uncounted_calloc(size_t count, size_t size);
void *mt_uncounted_realloc(void *block, size_t size);
void *mt_uncounted_aligned(size_t alignment, size_t size);
int mt_uncounted_posix_memalign(void **out, size_t alignment, size_t size);

/* Moves a block out of the arena. */
void *mt_arena_realloc(void *block, size_t size);

static inline void
mt_uncounted_free(void *block)
{
    if (!mt_arena_holds(block) && mt_real.malloc != NULL)
        mt_real.free(block);
}

#endif
