/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tracked process: what has been gathered about it, such as its history, snapshots and
 * rates.  The code that reads the process puts the reading into process and calls
 * tracked_digest().  Pure: knows neither segments nor /proc.
 */
#ifndef MEMTOP_TRACKED_H
#define MEMTOP_TRACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/checkpoints.h"
#include "monitor/history.h"
#include "monitor/meter.h"
#include "monitor/profile.h"
#include "monitor/session.h"

#define SAVED_SOMETIME (-1)

struct tracked {
    struct process process;
    struct history *history;
    struct checkpoints *checkpoints; /* snapshots; NULL: not kept */
    int64_t checkpoint_due_ns;
    struct profile *profile;         /* where it allocated; NULL: not kept */
    struct meter meter;
    struct snapshot last;            /* previous reading, for what failed since */
    char *command;                   /* joined, unsanitised, or NULL */
    int64_t saved_epoch_s;           /* of a saved session: when it was saved, or
                                        SAVED_SOMETIME; 0: live */
};

/* Returns false if memory is short; tracked_free() must be called in either case. */
bool tracked_init(struct tracked *tracked);
void tracked_free(struct tracked *tracked);

/* Its command, unsanitised; "" if unknown. */
static inline const char *
tracked_command(const struct tracked *tracked)
{
    return tracked->command != NULL ? tracked->command : "";
}

/* The counters start over: the process has executed another program. */
void tracked_restart(struct tracked *tracked);

/*
 * Call after a reading: computes rates and history.  slots are those the flight recorder
 * has closed since the last call (see meter_push_recorded()).  Failed calls since then
 * are reported in the session's messages.
 */
void tracked_digest(struct tracked *tracked, struct session *session, int64_t now_ns,
                    const struct recorded *slots, size_t count, int64_t offset_ns);

/* From now on snapshots are kept.  Returns false if memory is short. */
bool tracked_keep_checkpoints(struct tracked *tracked);

/* From now on sampled allocations are read.  Returns false if memory is short. */
bool tracked_keep_profile(struct tracked *tracked);

/* Is a snapshot due?  Then the histogram must be read too.  tracked_keep_moment() keeps
   the snapshot, after the reading. */
bool tracked_checkpoint_due(const struct tracked *tracked, int64_t now_ns);
void tracked_add_checkpoint(struct tracked *tracked, int64_t now_ns);

#endif
