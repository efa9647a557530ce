/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the interposed functions share: what to ask the real allocator for in the
   process's mode, and how to count its answer. */
#ifndef MEMTOP_BLOCKS_H
#define MEMTOP_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/hooks.h"
#include "preload/sizes.h"
#include "preload/state.h"

/* The usual mode: sizes are kept, and there are no events. */
static inline bool
usual_mode(void)
{
    return likely(mt_guard.mode == ACCOUNTING_REQUESTED);
}

/* Are sizes those asked for, and so kept (sizes.h)? */
static inline bool
with_sizes(void)
{
    return likely((mt_guard.mode & MODE_ACCOUNTING) == ACCOUNTING_REQUESTED);
}

static inline bool
with_events(void)
{
    return unlikely((mt_guard.mode & MODE_EVENTS) != 0);
}

/* Counts, in any mode, a call of fn for size bytes that the real allocator answered with
   block: NULL, or a block of padded() bytes.  alignment is what was asked for, or 0.
   Returns block. */
void *mt_made(enum segment_function fn, void *block, size_t size, size_t alignment);

/* The same for a call without an alignment.  caller: see hooks.h. */
void *mt_made_otherwise(enum segment_function fn, void *block, size_t size,
                        const void *caller);

/* Marks an internal allocation, which must not be charged to the program
   (internal.h). */
void mt_made_ours(void *block, size_t size);

/* Decides whether a block that is counted, and whose size is noted, is to be sampled.
   caller: see hooks.h. */
void mt_look_at(enum segment_function fn, void *block, uint64_t size, const void *caller);

/* A block that came by the packed way has made something due (account.h): sets how many
   bytes of blocks may come before something is due again.  Returns how many words of the
   block are sampled, for the sampler's hit.  Call it in an update. */
uint64_t mt_due_came(struct shard *shard, size_t size, size_t space);

/* Ends a call that allocated: writes its line to the log and tells the program's
   profiles, if there are any.  other is calloc's count or an alignment; caller: see
   hooks.h. */
static inline void *
told_called(enum logalloc_call call, size_t other, size_t size, void *block,
            const void *caller)
{
    if (mt_logging())
        mt_hooks.log->made(call, other, size, block);
    if (mt_profiled() && call == LOGALLOC_CALLOC)
        mt_hooks.profile->made(MEMPROF_NORMAL, block, other * size, caller);
    else if (mt_profiled())
        mt_hooks.profile->made(call == LOGALLOC_MALLOC ? MEMPROF_NORMAL : MEMPROF_ALIGNED,
                               block, size, caller);
    return block;
}

static inline void *
told(enum logalloc_call call, size_t other, size_t size, void *block)
{
    return told_called(call, other, size, block, NULL);
}

#endif
