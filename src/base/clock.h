/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The time of a clock in nanoseconds; positive for every clock used here.  Takes no lock
 * and does not allocate; makes a system call only if there is no vdso.
 */
#ifndef MEMTOP_CLOCK_H
#define MEMTOP_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t
clock_ns(clockid_t clock)
{
    struct timespec now = {0, 0};

    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Converts CLOCK_BOOTTIME to CLOCK_MONOTONIC, which stops while the machine sleeps.  The
   clocks are compared now: the distance from the present stays the same, so a time before
   a sleep comes out earlier by the length of that sleep. */
static inline int64_t
clock_monotonic_of(uint64_t boottime_ns)
{
    return clock_ns(CLOCK_MONOTONIC) - (clock_ns(CLOCK_BOOTTIME) - (int64_t)boottime_ns);
}

#endif
