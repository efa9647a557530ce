/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The verdict on the limits, when the program has ended. */
#ifndef MEMTOP_JUDGE_H
#define MEMTOP_JUDGE_H

#include "programs/budget.h"
#include "monitor/session.h"
#include "base/units.h"

struct judge_options {
    const struct budget *budget;
    const char *only; /* -n: the programs that are measured, or NULL */
    enum unit unit;
};

/* Has the session gather what the limits need; after session_watch().  False if memory
   is short. */
bool judge_prepare(struct session *session, const struct judge_options *options);

/* Sums are looked at between the polls; judge_poll() returns how soon to call again, in
   ns, INT64_MAX: never, as judge_polls() tells. */
bool judge_polls(const struct budget *budget);
int64_t judge_poll(struct session *session, const struct budget *budget);

/* Says which limits were passed, by whom, and what could not be judged.  Returns
   STATUS_LIMIT's status; STATUS_FAILED's if nothing is known of what the limits are for;
   or 0: all is well, or nothing was limited. */
int judge_budget(struct session *session, const struct judge_options *options);

#endif
