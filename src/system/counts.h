/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Intervals of counts: "how many blocks of a size at once" is told by them.  A count
 * c belongs to the interval with lo < c <= hi; 0 belongs to none.
 */
#ifndef MEMTOP_COUNTS_H
#define MEMTOP_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Upper bounds, n counting the intervals: k * n from n = 1; k * a^n from n = 0;
   the n-th of an array.  The lower bound is the upper one of the interval before,
   at first 0, of an array its lower bound. */
enum counts_kind { COUNTS_LINEAR = 1, COUNTS_POWER = 2, COUNTS_ARRAY = 3 };

#define COUNTS_BOUNDS_MAX 1024
/* No upper bound is greater, and the last interval of the first two ends here. */
#define COUNTS_LIMIT UINT32_MAX

struct counts {
    enum counts_kind kind;
    uint32_t factor, base;  /* k and a, both at least 1 */
    uint32_t lower;         /* of an array */
    unsigned length;        /* of the array, at least 1 */
    uint32_t bounds[COUNTS_BOUNDS_MAX]; /* rising, the first above lower */
};

/* The article's array of 27 bounds, factor 2, base 2. */
void counts_default(struct counts *counts);

/* The number of a count's interval, from 1; 0 if it belongs to none.  *lo and *hi
   become its bounds, or those of the gap that it is in. */
uint32_t counts_find(const struct counts *counts, uint64_t count, uint64_t *lo,
                     uint64_t *hi);

/* The bounds of an interval, number >= 1. */
void counts_bounds(const struct counts *counts, uint32_t number, uint64_t *lo,
                   uint64_t *hi);

/* An interval in whole numbers, both inclusive, in text: "4-5", "1", "10000001+". */
const char *counts_text(char *text, size_t size, uint64_t lo, uint64_t hi);

#endif
