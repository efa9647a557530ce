/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Budgets: limits for what programs use, checked when the program has ended. */
#ifndef MEMTOP_BUDGET_H
#define MEMTOP_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/history.h"
#include "monitor/usage.h"
#include "base/units.h"
#include "monitor/session.h"

/* What the limits apply to. */
enum budget_scope {
    SCOPE_EACH, /* each process of the tree */
    SCOPE_SUM,  /* the sum of all processes */
    SCOPE_ROOT  /* the process that memtop has started */
};

struct budget {
    enum budget_scope scope;
    bool scope_given;
    bool given[USAGE_KINDS];
    uint64_t most[USAGE_KINDS];
};

/* By how much a limit is exceeded. */
struct budget_excess {
    uint64_t used;
    uint64_t above;
    int64_t passed_ns; /* time since the start when first seen above the limit; -1:
                          unknown */
};

/* The name of the limit's option, "--max-heap". */
const char *budget_option(enum usage_kind kind);

bool budget_given(const struct budget *budget);

/* Is `used` above the limit?  A limit that is not given is never exceeded. history: of
   the process that used it, or NULL. */
bool budget_exceeded(const struct budget *budget, enum usage_kind kind, uint64_t used,
                     const struct history *history, struct budget_excess *excess);

/* Writes one translated line about it. whose: "./prog (process 12)". */
void budget_text(enum usage_kind kind, const char *whose,
                 const struct budget_excess *excess, enum unit unit, char *text,
                 size_t size);

/* ---- the verdict, when the program has ended (judge.c) ---- */

struct judge_options {
    const struct budget *budget;
    const char *only; /* -n: the programs that are measured, or NULL */
    enum unit unit;
};

/* Makes the session keep the figures that the limits need.  Call it after
   session_watch().  Returns false if memory is short. */
bool judge_prepare(struct session *session, const struct judge_options *options);

/* Limits for the sum of all processes need extra polls: judge_polls() says whether.
   judge_poll() makes one and returns after how many ns to call it again; INT64_MAX:
   never. */
bool judge_polls(const struct budget *budget);
int64_t judge_poll(struct session *session, const struct budget *budget);

/* Reports which limits were exceeded and by which processes, and what could not be
   judged.  Returns the exit status: that of STATUS_LIMIT if one was exceeded, that of
   STATUS_FAILED if a limit could not be judged, otherwise 0. */
int judge_budget(struct session *session, const struct judge_options *options);

/* Is the process not measured because -n names another program than its own?  only: that
   name, or NULL. */
bool judge_left_out(const struct process *process, const char *only);

#endif
