/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ends internal calls that were left by a jump. */
#include "config.h"

#include "preload/internal.h"

#include "preload/windows.h"

uintptr_t mt_internal_frames[SHARD_COUNT];

bool
mt_internal_left(void)
{
    unsigned index = mt_own_shard();
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    /* Many threads use shard 0; above the base lies another stack, a signal handler's. */
    if (index == 0 || here <= mt_internal_frames[index] || here > mt_thread.stack_base)
        return false;
    mt_thread.shard = mt_shard(index);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mt_thread.internal = false;
    return true;
}
