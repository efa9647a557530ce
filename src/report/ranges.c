/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums the histogram's cells (allocated) and coarse buckets (live) into the ranges shown.
 * Both are found by the sizes at which cells begin, so that only layout.h knows how they
 * are numbered.
 */
#include "config.h"

#include "report/ranges.h"

#include "base/figures.h"

static const char *const labels[RANGE_COUNT] = {
    "0-15",    "16-31",   "32-63", "64-127", "128-255", "256-511", "512-1023",
    "1K-2K",   "2K-4K",   "4K-8K", "8K-16K", "16K-32K", "32K-64K", "64K+",
};

_Static_assert(HISTOGRAM_LARGE == 16u << (RANGE_COUNT - 2),
               "the last range is the large one");

static unsigned
range_of(uint64_t bytes)
{
    unsigned range = 0;

    for (uint64_t limit = 16; bytes >= limit && range < RANGE_COUNT - 1; limit *= 2)
        range++;
    return range;
}

void
ranges_sum(const struct histogram *histogram, struct range out[RANGE_COUNT])
{
    for (unsigned i = 0; i < RANGE_COUNT; i++)
        out[i] = (struct range){0, 0};
    for (unsigned i = 0; i < HISTOGRAM_CELLS; i++) {
        uint64_t floor = i < HISTOGRAM_FINE ? (uint64_t)i * HISTOGRAM_CELL_BYTES
                                            : HISTOGRAM_LARGE;
        uint64_t *allocated = &out[range_of(floor)].allocated;

        *allocated = add_saturating(*allocated, histogram->allocated[i]);
    }
    for (unsigned i = 0; i < HISTOGRAM_COARSE; i++) {
        uint64_t *live = &out[range_of(histogram_coarse_floor(i))].live;

        *live = add_saturating(*live, histogram->live[i]);
    }
}

const char *
ranges_label(unsigned range)
{
    return range < RANGE_COUNT ? labels[range] : "?";
}
