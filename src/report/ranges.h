/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Block sizes in a few ranges for people: 0-15, 16-31, 32-63, then each power of two, and
   64K+.  Each is a union of the histogram's cells. */
#ifndef MEMTOP_RANGES_H
#define MEMTOP_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "segment/reader.h"

#define RANGE_COUNT 14

struct range {
    uint64_t allocated;   /* calls that allocated a block of this size */
    uint64_t live;        /* blocks of this size alive now */
};

/* Sums the histogram, smallest sizes first; sums saturate. */
void ranges_sum(const struct histogram *histogram, struct range out[RANGE_COUNT]);

/* "0-15", "1K-2K", "64K+": at most 8 columns of ASCII, the same in every
   language. */
const char *ranges_label(unsigned range);

#endif
