/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The time of a clock in nanoseconds; positive for every clock used here.
 * Without a lock or an allocation, and a system call only where there is no vdso.
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

/* CLOCK_BOOTTIME to CLOCK_MONOTONIC, which stands still while the machine sleeps:
   the present is the same, whatever lay between. */
static inline int64_t
clock_monotonic_of(uint64_t boottime_ns)
{
    return clock_ns(CLOCK_MONOTONIC) - (clock_ns(CLOCK_BOOTTIME) - (int64_t)boottime_ns);
}

#endif
