/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Insertion sort for a few rows, repeated at each drawing; allocates nothing. */
#include "config.h"

#include "tui/sort.h"

static bool
comes_before(uint64_t a, uint64_t b, bool reverse)
{
    return reverse ? a < b : a > b;
}

static void
insert(uint16_t *order, size_t at, uint16_t row, const uint64_t *keys, bool reverse)
{
    while (at > 0 && comes_before(keys[row], keys[order[at - 1]], reverse)) {
        order[at] = order[at - 1];
        at--;
    }
    order[at] = row;
}

void
sort_rows(uint16_t *order, size_t count, const struct sort *sort, const uint64_t *keys)
{
    bool sorted = sort->column > 0 && keys != NULL;

    for (size_t i = 0; i < count; i++)
        if (sorted)
            insert(order, i, (uint16_t)i, keys, sort->reverse);
        else
            order[i] = (uint16_t)(sort->reverse ? count - 1 - i : i);
}
