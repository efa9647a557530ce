/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies and sorts block sizes.  There may be thousands of them, so this uses qsort()
   rather than the insertion sort of sort.c. */
#include "config.h"

#include "tui/blocks.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/quantity.h"
#include "base/figures.h"

bool
blocks_filter(const char *text, uint64_t *from, uint64_t *to)
{
    const char *rest = text;

    *from = 0;
    *to = UINT64_MAX;
    if (*text == '\0')
        return true;
    if (*text != '-' && !quantity_size_prefix(text, from, &rest))
        return false;
    if (*rest == '\0') {
        *to = *from;
        return rest != text;
    }
    if (*rest != '-')
        return false;
    return rest[1] == '\0' ? rest != text : quantity_size(rest + 1, to) && *from <= *to;
}

static uint64_t
product(uint64_t a, uint64_t b)
{
    uint64_t result;

    return __builtin_mul_overflow(a, b, &result) ? UINT64_MAX - 1 : result;
}

/* ---- intervals ---- */

/* Finds the first intervals of block counts that any size was in. */
static unsigned
choose_intervals(const struct blocksizes *blocks, uint64_t end,
                 uint32_t levels[BLOCK_SHARES])
{
    unsigned count = 0;

    for (uint32_t level = 1; count < BLOCK_SHARES; level++) {
        bool possible = false, used = false;

        for (size_t i = 0; i < blocksizes_count(blocks) && !used; i++) {
            const struct blocksize *size = blocksizes_at(blocks, i);

            possible |= blocksize_levels(size) >= level;
            used = blocksize_spent(size, level, end) > 0;
        }
        if (used)
            levels[count++] = level;
        if (!used && !possible)
            break;
    }
    return count;
}

/* ---- the order ---- */

static struct sort order; /* here, because qsort() passes no context */
static uint64_t shown_from, shown_to;

static bool
passes(const struct block_row *row)
{
    return row->size >= shown_from && row->size <= shown_to;
}

static uint64_t
key_of(const struct block_row *row)
{
    switch (order.column) {
    case BLOCK_ALLOCATIONS:
        return row->allocations;
    case BLOCK_LIVE:
        return row->live;
    case BLOCK_PEAK:
        return row->peak;
    default:
        return row->bytes;
    }
}

static int
by_size(const struct block_row *a, const struct block_row *b)
{
    return a->size < b->size ? -1 : a->size > b->size;
}

/* Sizes are sorted upwards, everything else downwards, unless reversed. */
static int
compare(const void *left, const void *right)
{
    const struct block_row *a = left, *b = right;
    uint64_t first, second;

    if (passes(a) != passes(b))
        return passes(a) ? -1 : 1;
    if (order.column == 0)
        return order.reverse ? by_size(b, a) : by_size(a, b);
    first = key_of(a);
    second = key_of(b);
    if (first == second)
        return by_size(a, b);
    return (first > second) != order.reverse ? -1 : 1;
}

/* ---- taking ---- */

static void
fill_row(struct block_row *row, const struct blocksize *size, const uint32_t *levels,
         unsigned shares, uint64_t end)
{
    *row = (struct block_row){.size = size->size,
                              .allocations = size->allocations,
                              .live = size->live,
                              .peak = size->peak,
                              .bytes = product(size->size, size->allocations)};
    for (unsigned i = 0; i < shares && end > 0; i++)
        row->share[i] = (float)((double)blocksize_spent(size, levels[i], end) * 100
                                / (double)end);
}

bool
blocks_take(struct block_table *table, const struct blocksizes *blocks, uint64_t now_ns)
{
    uint32_t levels[BLOCK_SHARES];
    uint64_t lo, hi, end, tick_ns = blocksizes_tick_ns(blocks);

    table->count = table->all = 0;
    table->sum = blocksizes_total(blocks);
    end = table->sum.end;
    if (tick_ns != BLOCKSIZES_NO_CLOCK)
        raise_to(&end, now_ns / tick_ns);
    if (!ARRAY_GROW(table->rows, table->room, blocksizes_count(blocks)))
        return false;
    table->all = blocksizes_count(blocks);
    table->shares = choose_intervals(blocks, end, levels);
    for (unsigned i = 0; i < table->shares; i++) {
        counts_bounds(blocksizes_counts(blocks), levels[i], &lo, &hi);
        counts_text(table->interval[i], sizeof table->interval[i], lo, hi);
    }
    for (size_t i = 0; i < table->all; i++)
        fill_row(&table->rows[i], blocksizes_at(blocks, i), levels, table->shares,
                 end);
    return true;
}

void
blocks_arrange(struct block_table *table, const struct sort *sort, const char *filter)
{
    blocks_filter(filter, &shown_from, &shown_to);
    order = *sort;
    if (table->all > 0)
        qsort(table->rows, table->all, sizeof *table->rows, compare);
    table->count = 0;
    while (table->count < table->all && passes(&table->rows[table->count]))
        table->count++;
}

void
blocks_free(struct block_table *table)
{
    free(table->rows);
    *table = (struct block_table){0};
}
