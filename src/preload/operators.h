/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The next operators new and delete of C++, as real.h has those of C. */
#ifndef MEMTOP_OPERATORS_H
#define MEMTOP_OPERATORS_H

#include <stdbool.h>

#include "preload/state.h"

struct link_map;

/* The operators whose next definition is looked up; all other forms call one of these. */
#define OPERATORS(X)                                                           \
    X(_Znwm) X(_Znam) X(_ZnwmRKSt9nothrow_t) X(_ZnamRKSt9nothrow_t)            \
    X(_ZnwmSt11align_val_t) X(_ZnamSt11align_val_t)                            \
    X(_ZnwmSt11align_val_tRKSt9nothrow_t) X(_ZnamSt11align_val_tRKSt9nothrow_t) \
    X(_ZdlPv) X(_ZdaPv) X(_ZdlPvSt11align_val_t) X(_ZdaPvSt11align_val_t)

#define OPERATOR_INDEX(symbol) NEXT_##symbol,
enum { OPERATORS(OPERATOR_INDEX) OPERATOR_COUNT };

struct mt_operators {
    void *next[OPERATOR_COUNT];
    bool bypass; /* do these operators bypass malloc? */
};

HIDDEN extern struct mt_operators mt_operators;

/* Looks them up, once, when the library starts.  allocator: the object that holds the
   next malloc, or NULL. */
void mt_operators_resolve(const struct link_map *allocator);

#endif
