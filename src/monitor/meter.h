/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What follows from successive readings of a process: rates, whether it is
 * idle, samples for the history.  Pure: knows neither segments nor /proc.
 */
#ifndef MEMTOP_METER_H
#define MEMTOP_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/history.h"
#include "monitor/session.h"

struct meter {
    bool started;
    int64_t at_ns;            /* when before was read */
    struct snapshot before;   /* rates are differences to this */
    int64_t quiet_since_ns;   /* the last reading with a new call */
    uint64_t calls;           /* of the last reading */
    /* As of the last sample. */
    int64_t sample_ns;        /* run time */
    uint64_t sample_calls;    /* counted up to there, about */
    uint64_t recorded_calls;  /* in all of the recorder's slots */
    uint64_t live, peak, stack_peak, rss, rss_peak;
};

/* The counters begin anew: the process has executed another program. */
void meter_restart(struct meter *meter, int64_t now_ns);

/* After a reading: process->now and os are new, now_ns is CLOCK_MONOTONIC.
   Sets process->rates. */
void meter_read(struct meter *meter, struct process *process, int64_t now_ns);

/* No call for five seconds. */
bool meter_idle(const struct meter *meter, int64_t now_ns);

/* The sample of the latest reading: a peak that rose since the last sample is
   its maximum, however short it was. */
struct sample meter_sample(struct meter *meter, const struct process *process);

/*
 * Between two readings the flight recorder has looked more often: pushes its
 * slots, whose times plus offset_ns are run time, before the sample of the
 * latest reading is made.  A slot older than the history's end comes too late
 * and is left out, as is one from the future.
 */
void meter_push_recorded(struct meter *meter, const struct process *process,
                         const struct recorded *slots, size_t count, int64_t offset_ns,
                         struct history *history);

#endif
