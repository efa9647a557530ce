/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Intervals of counts; pure, saturating arithmetic. */
#include "config.h"

#include "base/counts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void
counts_default(struct counts *counts)
{
    static const uint32_t bounds[] = {
        1,   2,   3,   5,    7,    10,   20,    50,    100,   200,    300,     400,
        500, 600, 700, 800,  900,  1000, 2000,  5000,  10000, 20000,  50000,   100000,
        1000000,  10000000,  COUNTS_LIMIT};

    *counts = (struct counts){.kind = COUNTS_ARRAY,
                              .factor = 2,
                              .base = 2,
                              .length = sizeof bounds / sizeof *bounds};
    memcpy(counts->bounds, bounds, sizeof bounds);
}

static uint64_t
limited(uint64_t bound)
{
    return bound < COUNTS_LIMIT ? bound : COUNTS_LIMIT;
}

static uint32_t
find_linear(const struct counts *counts, uint64_t count, uint64_t *lo, uint64_t *hi)
{
    uint64_t before = (limited(count) - 1) / counts->factor;

    *lo = before * counts->factor;
    *hi = count > COUNTS_LIMIT ? UINT64_MAX : limited(*lo + counts->factor);
    return (uint32_t)(before + 1);
}

/* The last interval has no upper limit: with base 1 nothing grows. */
static uint32_t
find_power(const struct counts *counts, uint64_t count, uint64_t *lo, uint64_t *hi)
{
    uint32_t number = 1;

    *lo = 0;
    *hi = counts->factor;
    while (count > *hi && *hi < COUNTS_LIMIT) {
        *lo = *hi;
        *hi = counts->base > 1 ? limited(*hi * counts->base) : COUNTS_LIMIT;
        number++;
    }
    if (count > *hi)
        *hi = UINT64_MAX;
    return number;
}

static uint32_t
find_array(const struct counts *counts, uint64_t count, uint64_t *lo, uint64_t *hi)
{
    unsigned from = 0, to = counts->length;

    /* Finds the first bound that is not below count. */
    while (from < to) {
        unsigned middle = from + (to - from) / 2;

        if (counts->bounds[middle] < count)
            from = middle + 1;
        else
            to = middle;
    }
    *lo = from > 0 ? counts->bounds[from - 1] : counts->lower;
    *hi = from < counts->length ? counts->bounds[from] : UINT64_MAX;
    if (count <= counts->lower) {
        *lo = 0;
        *hi = counts->lower;
        return 0;
    }
    return from < counts->length ? from + 1 : 0;
}

uint32_t
counts_find(const struct counts *counts, uint64_t count, uint64_t *lo, uint64_t *hi)
{
    if (count == 0) {
        *lo = *hi = 0;
        return 0;
    }
    switch (counts->kind) {
    case COUNTS_LINEAR:
        return find_linear(counts, count, lo, hi);
    case COUNTS_POWER:
        return find_power(counts, count, lo, hi);
    default:
        return find_array(counts, count, lo, hi);
    }
}

void
counts_bounds(const struct counts *counts, uint32_t number, uint64_t *lo, uint64_t *hi)
{
    switch (counts->kind) {
    case COUNTS_LINEAR:
        *lo = limited((uint64_t)(number - 1) * counts->factor);
        *hi = limited(*lo + counts->factor);
        break;
    case COUNTS_POWER:
        *lo = 0;
        *hi = counts->factor;
        while (--number > 0 && *hi < COUNTS_LIMIT) {
            *lo = *hi;
            *hi = counts->base > 1 ? limited(*hi * counts->base) : COUNTS_LIMIT;
        }
        break;
    default:
        *lo = number > 1 ? counts->bounds[number - 2] : counts->lower;
        *hi = counts->bounds[number - 1];
    }
}

const char *
counts_text(char *text, size_t size, uint64_t lo, uint64_t hi)
{
    if (lo + 1 == hi)
        snprintf(text, size, "%" PRIu64, hi);
    else if (hi >= COUNTS_LIMIT)
        snprintf(text, size, "%" PRIu64 "+", lo + 1);
    else
        snprintf(text, size, "%" PRIu64 "-%" PRIu64, lo + 1, hi);
    return text;
}
