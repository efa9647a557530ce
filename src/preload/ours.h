/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Internal allocations: what the library makes a thread call for its own purposes, the
 * unwinder and the loader that finds it, may allocate.  Meanwhile the thread has no shard
 * and mt_thread.ours is set, which sends its calls to slow paths that leave them out of
 * all counters and mark the blocks, so that freeing them is not counted either.
 *
 * Calls of a signal handler that interrupts this are taken for internal ones too.  The
 * handler may fork or end the thread, so the thread's shard is looked up again
 * afterwards.  It may also leave by a jump, which shows when a call comes from further up
 * the stack.
 */
#ifndef MEMTOP_OURS_H
#define MEMTOP_OURS_H

#include <errno.h>

#include "preload/account.h"
#include "preload/shard.h"
#include "preload/state.h"

struct mt_ours {
    int saved_errno;
    bool nested;
};

/* For each shard's owner: the stack address at which its internal calls began. */
HIDDEN extern uintptr_t mt_ours_frames[SHARD_COUNT];

/* Called while mt_thread.ours is set.  Returns true if the internal code was left by a
   jump, and then ends it. */
bool mt_ours_left(void);

/* Is this thread inside an internal call? */
static inline bool
mt_is_ours(void)
{
    return unlikely(mt_thread.ours) && !mt_ours_left();
}

static inline struct mt_ours
mt_ours_begin(void)
{
    struct mt_ours before = {errno, mt_thread.ours};

    if (!before.nested)
        mt_ours_frames[mt_own_shard()] = stack_pointer();
    mt_thread.ours = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mt_thread.shard = MT_NO_SHARD;
    return before;
}

static inline void
mt_ours_end(const struct mt_ours *before)
{
    if (!before->nested)
        mt_thread.shard = mt_counted_in();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mt_thread.ours = before->nested;
    errno = before->saved_errno;
}

#endif
