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

#include "preload/state.h"

/* Is this thread inside an internal call? */
static inline bool
mt_is_ours(void)
{
    return unlikely(mt_thread.internal);
}

#endif
