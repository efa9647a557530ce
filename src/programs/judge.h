/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks the limits when the program has ended. */
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
