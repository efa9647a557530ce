/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arithmetic on counters that may hold anything: nothing wraps around. */
#ifndef MEMTOP_FIGURES_H
#define MEMTOP_FIGURES_H

#include <stdint.h>

static inline uint64_t
add_saturating(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t
subtract_floor(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static inline void
raise_to(uint64_t *peak, uint64_t value)
{
    if (*peak < value)
        *peak = value;
}

/* The highest value since the last look: the value now, or the peak if that has risen
   since it was *peak_before, which is set to it. */
static inline uint64_t
highest_since(uint64_t value, uint64_t peak, uint64_t *peak_before)
{
    uint64_t highest = peak > *peak_before && peak > value ? peak : value;

    *peak_before = peak;
    return highest;
}

#endif
