/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What reader.c and reader-recorder.c share. */
#ifndef MEMTOP_READER_PRIVATE_H
#define MEMTOP_READER_PRIVATE_H

#include "segment/mapping.h"

/* Cells of a shard that share a cache line.  The groups of the fine cells come first,
   then those of the coarse ones. */
#define CELL_GROUP   4u
#define FINE_GROUPS  (HISTOGRAM_FINE / CELL_GROUP)
#define CELL_GROUPS  (FINE_GROUPS + HISTOGRAM_COARSE / CELL_GROUP)
#define GROUP_WORDS  ((CELL_GROUPS + 63) / 64)
_Static_assert(HISTOGRAM_COARSE % CELL_GROUP == 0, "groups are whole");

struct reader {
    struct mapping mapping;
    uint64_t used_groups[SHARD_COUNT][GROUP_WORDS]; /* bits: groups known to count */
    uint64_t odd_sequence[SHARD_COUNT]; /* seen at the last poll; 0: it was even */
};

#endif
