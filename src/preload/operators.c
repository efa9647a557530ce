/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the next operators of C++. */
#include "config.h"

#include "preload/operators.h"

#include "preload/lookup.h"

struct mt_operators mt_operators;

void
mt_operators_resolve(const struct link_map *allocator)
{
#define NAME(symbol) #symbol,
    static const char *const names[] = {OPERATORS(NAME)};

    /* If the library was loaded late, the next definition could only be in objects that
       may be unloaded before it. */
    if (mt_lookup_late())
        return;
    for (size_t i = 0; i < OPERATOR_COUNT; i++)
        mt_operators.next[i] = mt_lookup_next(names[i]).address;
    mt_operators.bypass = allocator != NULL && mt_lookup_next("_Znwm").map == allocator;
}
