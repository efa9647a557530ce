/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much private anonymous memory of this process is resident since a starting point:
 * only an allocator can have caused that.  Nothing is allocated here, and what the caller
 * maps for itself is not counted; it passes the amount.
 */
#ifndef MEMTOP_FOOTPRINT_H
#define MEMTOP_FOOTPRINT_H

#include <stdint.h>

#define FOOTPRINT_UNKNOWN UINT64_MAX

struct footprint {
    uint64_t exact;   /* at the start, page by page */
    uint64_t counted; /* at the start, as the kernel counts */
};

/* Sets the starting point, also for the peak. */
void footprint_begin(struct footprint *footprint);

/* Bytes more than at the start, without own_bytes; 0 if there are fewer.
   FOOTPRINT_UNKNOWN if /proc is not as expected. */
uint64_t footprint_now(const struct footprint *footprint, uint64_t own_bytes);

/* The highest value since the start.  The kernel counts it for all memory of the process,
   within some 100 KiB for every CPU that it ran on. */
uint64_t footprint_peak(const struct footprint *footprint, uint64_t own_bytes);

#endif
