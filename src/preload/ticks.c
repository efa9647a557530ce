/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The clock of events: the TSC where it can be relied on, otherwise CLOCK_MONOTONIC. */
#include "config.h"

#include "preload/ticks.h"

#include <time.h>
#if defined __x86_64__
#include <cpuid.h>
#endif

#include "base/clock.h"
#include "preload/clock.h"

/* Does the TSC tick evenly and in step on all CPUs?  Intel SDM 17.17.1:
   CPUID.80000007H:EDX[8].  In a virtual machine each CPUID traps, for 20 us or more. */
static bool
ticks_are_tsc(void)
{
#if defined __x86_64__
    unsigned a, b, c, d;

    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
#else
    return false;
#endif
}

bool
mt_ticks_are_tsc(void)
{
    static bool asked, even; /* children inherit the answer */

    if (!asked) { /* by the thread that starts the library */
        even = ticks_are_tsc();
        asked = true;
    }
    return even;
}

/* For a program that has forbidden itself the exact clocks: the coarse clock, extended in
   ticks from the value it had then. */
static struct {
    bool used;
    uint64_t ticks, ns;
    double ticks_per_ns;
} coarse;

void
mt_ticks_become_coarse(void)
{
    const struct segment_header *header = mt_segment.header;
    uint64_t ticks, elapsed;

    if (!(mt_guard.mode & MODE_EVENTS) || coarse.used)
        return;
    ticks = mt_ticks();
    elapsed = (uint64_t)clock_ns(CLOCK_MONOTONIC) - header->created_ns;
    coarse.ticks = ticks;
    coarse.ns = mt_now_coarse();
    coarse.ticks_per_ns =
        elapsed > 0 ? (double)(ticks - header->created_ticks) / (double)elapsed : 1;
    coarse.used = true;
    mt_mode_change(0, MODE_TSC);
}

bool
mt_tsc_readable(void)
{
    return mt_ticks_are_tsc() && !coarse.used;
}

uint64_t
mt_ticks(void)
{
    uint64_t ticks;

    if (coarse.used)
        return coarse.ticks
               + (uint64_t)((double)(mt_now_coarse() - coarse.ns) * coarse.ticks_per_ns);
    if (!mt_ticks_are_tsc())
        return (uint64_t)clock_ns(CLOCK_MONOTONIC);
    mt_ticks_write(&ticks, true);
    return ticks;
}
