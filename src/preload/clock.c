/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The clocks.  Reading them makes no system call, but for the exact one where there is no
   vdso. */
#include "config.h"

#include "preload/clock.h"

#include <time.h>

#include "base/clock.h"
#include "preload/state.h"

uint64_t
mt_now_coarse(void)
{
    return (uint64_t)clock_ns(CLOCK_MONOTONIC_COARSE);
}

uint64_t
mt_now_exact(void)
{
    if (mt_sandboxed || mt_tsc_forbidden
        || (mt_segment.header->flags & SEGMENT_FLAG_NO_CLOCK))
        return mt_now_coarse();
    return (uint64_t)clock_ns(CLOCK_MONOTONIC);
}
