/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One observed process and what has been gathered of it: its history, moments to
 * look back at, rates.  Whoever reads the process puts the reading into process
 * and calls subject_digest().  Pure: knows neither segments nor /proc.
 */
#ifndef MEMTOP_SUBJECT_H
#define MEMTOP_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/checkpoints.h"
#include "monitor/history.h"
#include "monitor/meter.h"
#include "monitor/profile.h"
#include "monitor/session.h"

#define SAVED_SOMETIME (-1)

struct subject {
    struct process process;
    struct history *history;
    struct checkpoints *checkpoints; /* NULL: nobody will look back */
    int64_t checkpoint_due_ns;
    struct profile *profile;         /* where it allocated; NULL: nobody asked */
    struct meter meter;
    struct snapshot last;            /* of the reading before: what failed since */
    char *command;                   /* joined, unsanitised, or NULL */
    int64_t saved_epoch_s;           /* of a saved session: when it was, or SAVED_SOMETIME;
                                        0: it is of now */
};

/* False if memory is short; subject_free() is due in either case. */
bool subject_init(struct subject *subject);
void subject_free(struct subject *subject);

/* Its command, unsanitised; "" if that is not known. */
static inline const char *
subject_command(const struct subject *subject)
{
    return subject->command ? subject->command : "";
}

/* The counters begin anew: the process has executed another program. */
void subject_restart(struct subject *subject);

/*
 * After a reading: rates, history.  slots is what the flight recorder has closed
 * since the last call (see meter_push_recorded()).  What failed meanwhile is said
 * in the session's messages.
 */
void subject_digest(struct subject *subject, struct session *session, int64_t now_ns,
                    const struct recorded *slots, size_t count, int64_t offset_ns);

/* From now on moments are kept to look back at.  False if memory is short. */
bool subject_keep_checkpoints(struct subject *subject);

/* From now on sampled allocations are read.  False if memory is short. */
bool subject_keep_profile(struct subject *subject);

/* Whether a moment is due to be kept, for which the histogram must be read too;
   keeps it, after a reading. */
bool subject_moment_due(const struct subject *subject, int64_t now_ns);
void subject_keep_moment(struct subject *subject, int64_t now_ns);

#endif
