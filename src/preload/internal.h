/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Internal allocations: what the library makes a thread call for its own purposes, the
 * unwinder and the loader that finds it, may allocate.  Meanwhile the thread has no shard
 * and mt_thread.internal is set, which sends its calls to slow paths that leave them out
 * of all counters and mark the blocks, so that freeing them is not counted either.
 *
 * Calls of a signal handler that interrupts this are taken for internal ones too.  The
 * handler may fork or end the thread, so the thread's shard is looked up again
 * afterwards.  It may also leave by a jump, which shows when a call comes from further up
 * the stack.
 */
#ifndef MEMTOP_INTERNAL_H
#define MEMTOP_INTERNAL_H

#include <errno.h>

#include "preload/account.h"
#include "preload/shard.h"
#include "preload/state.h"

struct mt_internal {
    int saved_errno;
    bool nested;
};

/* For each shard's owner: the stack address at which its internal calls began. */
HIDDEN extern uintptr_t mt_internal_frames[SHARD_COUNT];

/* Called while mt_thread.internal is set.  Returns true if the internal code was left by
   a jump, and then ends it. */
bool mt_internal_left(void);

/* Is this thread inside an internal call? */
static inline bool
mt_is_ours(void)
{
    return unlikely(mt_thread.internal) && !mt_internal_left();
}

static inline struct mt_internal
mt_internal_begin(void)
{
    struct mt_internal before = {errno, mt_thread.internal};

    if (!before.nested)
        mt_internal_frames[mt_own_shard()] = stack_pointer();
    mt_thread.internal = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mt_thread.shard = MT_NO_SHARD;
    return before;
}

static inline void
mt_internal_end(const struct mt_internal *before)
{
    if (!before->nested)
        mt_thread.shard = mt_counted_in();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mt_thread.internal = before->nested;
    errno = before->saved_errno;
}

#endif
