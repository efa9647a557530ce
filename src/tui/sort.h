/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order of a table's rows, as the user chose it.  Column 0 is the page's own order;
 * the page numbers the others.
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
 * Sorts the rows 0..count-1: greatest keys first, or last if sort says reverse; rows
 * with equal keys keep their order. keys may be NULL for the page's own order or its
 * reverse.
 */
void sort_rows(uint16_t *order, size_t count, const struct sort *sort,
               const uint64_t *keys);

#endif
