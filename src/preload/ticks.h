/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The clock of events. */
#ifndef MEMTOP_TICKS_H
#define MEMTOP_TICKS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "preload/state.h"

/* Does the clock of events count TSC ticks?  If not, it is CLOCK_MONOTONIC. */
bool mt_ticks_are_tsc(void);

/* Are the ticks read from the TSC itself? */
bool mt_tsc_readable(void);

/* The calling thread is about to forbid itself the TSC, and so CLOCK_MONOTONIC: from now
   on the events of all threads take their time from the coarse clock. */
void mt_ticks_become_coarse(void);

/* The time now, by the clock of events. */
uint64_t mt_ticks(void);

/* Writes the time: from the TSC if tsc is set. */
static inline __attribute__((always_inline)) void
mt_ticks_write(uint64_t *ticks, bool tsc)
{
#if defined __x86_64__
    uint32_t low, high;

    if (tsc) {
        /* lfence makes what came before in the program come before in time, too.  The two
           halves are written as they arrive. */
        __asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
        memcpy(ticks, &low, sizeof low);
        memcpy((char *)ticks + sizeof low, &high, sizeof high);
        return;
    }
#else
    (void)tsc;
#endif
    *ticks = mt_ticks();
}

#endif
