/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of block sizes on the display: a copy of the counts that is sorted and
 * filtered between drawings, so that drawing does not have to.
 */
#ifndef MEMTOP_TUI_BLOCKS_H
#define MEMTOP_TUI_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/blocksizes.h"
#include "tui/sort.h"

/* The columns to sort by; column 0 is the size. */
enum block_column {
    BLOCK_ALLOCATIONS = 1,
    BLOCK_LIVE,
    BLOCK_PEAK,
    BLOCK_BYTES,
    BLOCK_COLUMNS
};

/* Number of columns for intervals of block counts: the first intervals that any size was
   in. */
#define BLOCK_SHARES 12

struct block_row {
    uint64_t size, allocations, live, peak, bytes;
    float share[BLOCK_SHARES]; /* percent of the run during which the number of live
                                  blocks was in the interval */
};

struct block_table {
    struct block_row *rows;    /* in the chosen order; the first count rows pass the
                                  filter, the others follow them */
    size_t count, all, room;
    unsigned shares;
    char interval[BLOCK_SHARES][24];
    struct blocksizes_sum sum;
};

/* Copies the counts.  Shares refer to the time until now_ns; if now_ns is 0, to the time
   until the last call.  Call blocks_arrange() afterwards.  Returns false if memory is
   short; the table is then empty. */
bool blocks_take(struct block_table *table, const struct blocksizes *blocks,
                 uint64_t now_ns);

/* Sorts the rows; those that pass the filter come first. */
void blocks_arrange(struct block_table *table, const struct sort *sort,
                    const char *filter);
void blocks_free(struct block_table *table);

/* Parses a filter: one size "64", a range "16-64", "1K-", "-100", or "" for all sizes.
   Returns false if text is not a filter. */
bool blocks_filter(const char *text, uint64_t *from, uint64_t *to);

#endif
