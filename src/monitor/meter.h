/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What follows from successive readings of a process: rates, whether it is
 * idle, samples for the history.  Pure: knows neither segments nor /proc.
 */
#ifndef MEMTOP_METER_H
#define MEMTOP_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/history.h"
#include "monitor/session.h"

struct meter {
    bool started;
    int64_t at_ns;            /* when before was read */
    struct snapshot before;   /* rates are differences to this */
    int64_t quiet_since_ns;   /* the last reading with a new call */
    uint64_t calls;           /* of the last reading */
    double call_rate;         /* all functions together */
    /* As of the last sample. */
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
 * The sample of a slot of the flight recorder, whose times count from
 * recorded_ns after the program's start.  The RSS is the last one known: the
 * recorder has none.
 */
struct sample meter_recorded(struct meter *meter, const struct recorded *slot,
                             int64_t recorded_ns);

#endif
