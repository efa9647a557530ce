/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Of ranges that overlap after all, the one that begins last is used. */
#include "config.h"

#include "symbols/spans.h"

#include <stdlib.h>

#include "base/array.h"

void
spans_add(struct spans *spans, uint64_t low, uint64_t high, uint64_t thing)
{
    if (low < high && ARRAY_GROW(spans->all, spans->room, spans->count + 1))
        spans->all[spans->count++] = (struct span){low, high, thing};
}

static int
compare(const void *one, const void *other)
{
    const struct span *a = one, *b = other;

    return a->low < b->low ? -1 : a->low > b->low;
}

void
spans_sort(struct spans *spans)
{
    if (spans->count > 0)
        qsort(spans->all, spans->count, sizeof *spans->all, compare);
}

bool
spans_find(const struct spans *spans, uint64_t address, uint64_t *thing)
{
    size_t low = 0, high = spans->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (spans->all[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address >= spans->all[low - 1].high)
        return false;
    *thing = spans->all[low - 1].thing;
    return true;
}
