/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order of a table's rows, as the user chose it.  Column 0 is the order the
 * page has by itself; the others are the page's.
 */
#ifndef MEMTOP_TUI_SORT_H
#define MEMTOP_TUI_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sort {
    unsigned column;
    bool reverse;
};

/*
 * Puts the rows 0..count-1 into order: those with the greatest keys first, or
 * last if sort says reverse; rows with the same key stay as they were.  keys may
 * be NULL: the page's own order, or that from behind.
 */
void sort_rows(uint16_t *order, size_t count, const struct sort *sort,
               const uint64_t *keys);

#endif
