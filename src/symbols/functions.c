/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libdwfl looks at every symbol for every address: 2 ms with the 30,000 of a large
 * library.  So they are sorted once.
 */
#include "config.h"

#include "symbols/functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Few functions of a file begin before others end (Go, assembler). */
#define OVERLAPS_MAX 16

void
functions_add(struct functions *functions, const struct function *function)
{
    if (ARRAY_GROW(functions->all, functions->room, functions->count + 1))
        functions->all[functions->count++] = *function;
}

/* By address.  Of several names for one address that of a global, longer function comes
   last, and of those the one without underscores. */
static int
compare(const void *one, const void *other)
{
    const struct function *a = one, *b = other;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if ((a->size > 0) != (b->size > 0))
        return a->size > 0 ? 1 : -1;
    if (a->global != b->global)
        return a->global ? 1 : -1;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    if ((a->name[0] == '_') != (b->name[0] == '_'))
        return a->name[0] == '_' ? -1 : 1;
    return -strcmp(a->name, b->name);
}

void
functions_sort(struct functions *functions)
{
    if (functions->count > 0)
        qsort(functions->all, functions->count, sizeof *functions->all, compare);
}

const struct function *
functions_find(const struct functions *functions, uint64_t address)
{
    size_t low = 0, high = functions->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (functions->all[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = 0; i < OVERLAPS_MAX && i < low; i++) {
        const struct function *function = &functions->all[low - 1 - i];
        if (address - function->address < function->size
            || (i == 0 && function->size == 0))
            return function;
    }
    return NULL;
}
