/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much private anonymous memory of this process is resident, that is what an
 * allocator can have caused, counted from a beginning.  Nothing is allocated, and
 * nothing that the caller maps for itself is counted: it says how much that is.
 */
#ifndef MEMTOP_FOOTPRINT_H
#define MEMTOP_FOOTPRINT_H

#include <stdint.h>

#define FOOTPRINT_UNKNOWN UINT64_MAX

struct footprint {
    uint64_t exact;   /* at the beginning, page by page */
    uint64_t counted; /* and as the kernel counts */
};

/* Begins here, also for the peak. */
void footprint_begin(struct footprint *footprint);

/* Bytes more than at the beginning, own_bytes left out; 0 if it is less.  Or
   FOOTPRINT_UNKNOWN: /proc is not as it should be. */
uint64_t footprint_now(const struct footprint *footprint, uint64_t own_bytes);

/* The most there was since the beginning.  The kernel counts it for all memory of
   the process, within some 100 KiB for every CPU that it ran on. */
uint64_t footprint_peak(const struct footprint *footprint, uint64_t own_bytes);

#endif
