/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Intervals of counts, used to report how many blocks of a size were live at once.  A
 * count c belongs to the interval with lo < c <= hi; 0 belongs to none.
 */
#ifndef MEMTOP_COUNTS_H
#define MEMTOP_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the upper bound of interval n is defined: k * n with n from 1; k * a^n with n from
   0; the n-th element of an array.  The lower bound is the upper bound of the previous
   interval; for the first it is 0, or the array's lower bound. */
enum counts_kind { COUNTS_LINEAR = 1, COUNTS_POWER = 2, COUNTS_ARRAY = 3 };

#define COUNTS_BOUNDS_MAX 1024
/* The largest upper bound; the last interval of LINEAR and POWER ends here. */
#define COUNTS_LIMIT UINT32_MAX

struct counts {
    enum counts_kind kind;
    uint32_t factor, base;  /* k and a, both at least 1 */
    uint32_t lower;         /* for an array */
    unsigned length;        /* of the array, at least 1 */
    uint32_t bounds[COUNTS_BOUNDS_MAX]; /* increasing; the first is above lower */
};

/* The article's array of 27 bounds, factor 2, base 2. */
void counts_default(struct counts *counts);

/* Returns the number of a count's interval, from 1, or 0 if it belongs to none.  *lo and
   *hi get its bounds, or those of the gap it is in. */
uint32_t counts_find(const struct counts *counts, uint64_t count, uint64_t *lo,
                     uint64_t *hi);

/* Returns the bounds of an interval, number >= 1. */
void counts_bounds(const struct counts *counts, uint32_t number, uint64_t *lo,
                   uint64_t *hi);

/* Formats an interval in whole numbers, both ends inclusive: "4-5", "1", "10000001+". */
const char *counts_text(char *text, size_t size, uint64_t lo, uint64_t hi);

#endif
