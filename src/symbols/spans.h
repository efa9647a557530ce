/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds which of many things contains an address: ranges that do not overlap, sorted
   once. */
#ifndef MEMTOP_SPANS_H
#define MEMTOP_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
    uint64_t low, high;  /* high is exclusive */
    uint64_t thing;      /* the caller's number */
};

/* All zeros at first; filled, then sorted. */
struct spans {
    struct span *all;
    size_t count, room;
};

/* Adds a range, unless it is empty; without memory it is left out. */
void spans_add(struct spans *spans, uint64_t low, uint64_t high, uint64_t thing);
void spans_sort(struct spans *spans);

/* Finds the thing that contains the address; false if there is none. */
bool spans_find(const struct spans *spans, uint64_t address, uint64_t *thing);

#endif
