/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the library makes a thread call for its own ends: the unwinder, the loader that
 * finds it.  These may allocate; meanwhile the thread has no shard and mt_thread.ours
 * is set, which leads its calls to slow paths that leave them out of all counters and
 * mark the blocks, so that their free is left out too.
 *
 * A signal handler that comes in between is taken for ours as well.  It may fork or end
 * the thread: what shard the thread has is asked again afterwards.  Or it leaves by a
 * jump: that shows when a call comes from further up the stack.
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

/* Where on their stacks the owners of shards began. */
HIDDEN extern uintptr_t mt_ours_frames[SHARD_COUNT];

/* A call while mt_thread.ours is set: true if what set it was left by a jump, which ends
   it here. */
bool mt_ours_left(void);

/* Is what the thread calls not the program's? */
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
