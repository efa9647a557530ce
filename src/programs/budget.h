/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Budgets: what programs may use at most, judged when the program has ended. */
#ifndef MEMTOP_BUDGET_H
#define MEMTOP_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/history.h"
#include "monitor/usage.h"
#include "base/units.h"

/* Whom limits are for. */
enum budget_scope {
    SCOPE_EACH, /* every process of the tree on its own */
    SCOPE_SUM,  /* all of them together */
    SCOPE_ROOT  /* the process that memtop has started */
};

struct budget {
    enum budget_scope scope;
    bool scope_given;
    bool given[USAGE_KINDS];
    uint64_t most[USAGE_KINDS];
};

/* What is above a limit. */
struct budget_excess {
    uint64_t used;
    uint64_t above;
    int64_t passed_ns; /* when first seen above it, since the start; -1 unknown */
};

/* "--max-heap". */
const char *budget_option(enum usage_kind kind);

bool budget_given(const struct budget *budget);

/* Whether what was used is above the limit; one that is not given is never exceeded.
   history: of the process that used it, or NULL. */
bool budget_exceeded(const struct budget *budget, enum usage_kind kind, uint64_t used,
                     const struct history *history, struct budget_excess *excess);

/* One translated line about it; whose: "./prog (process 12)". */
void budget_text(enum usage_kind kind, const char *whose,
                 const struct budget_excess *excess, enum unit unit, char *text,
                 size_t size);

#endif
