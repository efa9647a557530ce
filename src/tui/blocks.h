/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of block sizes as the display shows it: a copy of what was counted,
 * sorted and filtered between pictures, so that drawing need not.
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

/* So many intervals of counts have columns: the first ones any size was in. */
#define BLOCK_SHARES 12

struct block_row {
    uint64_t size, allocations, live, peak, bytes;
    float share[BLOCK_SHARES]; /* of the time, percent */
};

struct block_table {
    struct block_row *rows;    /* in the order that was chosen; count of them pass the
                                  filter, the others come after these */
    size_t count, all, room;
    unsigned shares;
    char interval[BLOCK_SHARES][24];
    struct blocksizes_sum sum;
};

/* Copies what was counted, as it is at a time since then: shares are of the time until
   now; 0: until the last call.  blocks_arrange() it.  False if memory is short: the
   table is empty then. */
bool blocks_take(struct block_table *table, const struct blocksizes *blocks,
                 uint64_t now_ns);

/* Puts it in order, those that pass the filter first. */
void blocks_arrange(struct block_table *table, const struct sort *sort,
                    const char *filter);
void blocks_free(struct block_table *table);

/* A filter: a size "64", "16-64", "1K-", "-100"; "" all.  False if text is none. */
bool blocks_filter(const char *text, uint64_t *from, uint64_t *to);

#endif
