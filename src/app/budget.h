/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Budgets: what a program may use at most, judged when it has ended. */
#ifndef MEMTOP_BUDGET_H
#define MEMTOP_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/history.h"
#include "monitor/session.h"
#include "report/units.h"

/* Exit statuses where the program's own is 0. */
#define EXIT_OVER_BUDGET  124 /* as timeout(1) has it */
#define EXIT_NOT_JUDGED   125 /* nothing is known of what the limits are for */

enum budget_limit {
    BUDGET_HEAP,         /* bytes, the heap's peak */
    BUDGET_LIVE_AT_EXIT, /* bytes never freed */
    BUDGET_ALLOCS,       /* calls that gave a block */
    BUDGET_STACK,        /* bytes, the stack's peak at calls */
    BUDGET_LIMITS
};

struct budget {
    bool given[BUDGET_LIMITS];
    uint64_t most[BUDGET_LIMITS];
};

/* What is above a limit. */
struct budget_excess {
    uint64_t used;
    uint64_t above;
    int64_t passed_ns; /* when first seen above it, since the start; -1 unknown */
};

/* "--max-heap". */
const char *budget_option(enum budget_limit limit);

bool budget_given(const struct budget *budget);

/* Whether an ended process is above the limit; one that is not given is never
   exceeded.  The process must be measured. */
bool budget_exceeded(const struct budget *budget, enum budget_limit limit,
                     const struct process *process, const struct history *history,
                     struct budget_excess *excess);

/* One translated line about it. */
void budget_text(enum budget_limit limit, const struct budget_excess *excess,
                 enum unit unit, char *text, size_t size);

#endif
