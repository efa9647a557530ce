/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Derives rates, idleness and samples for the history from successive readings of a
 * process.  Pure: knows neither segments nor /proc.
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
    struct snapshot before;   /* rates are differences from this */
    int64_t quiet_since_ns;   /* time of the last reading with a new call */
    uint64_t calls;           /* of the last reading */
    /* State at the last sample: */
    int64_t sample_ns;        /* run time */
    uint64_t sample_calls;    /* counted up to there, approximately */
    uint64_t recorded_calls;  /* in all of the recorder's slots */
    uint64_t live, peak, stack_peak, rss, rss_peak;
};

/* The counters start over: the process has executed another program. */
void meter_restart(struct meter *meter, int64_t now_ns);

/* Call after a reading: process->now and os are new, now_ns is CLOCK_MONOTONIC.  Sets
   process->rates. */
void meter_read(struct meter *meter, struct process *process, int64_t now_ns);

/* Has there been no call for five seconds? */
bool meter_idle(const struct meter *meter, int64_t now_ns);

/* Returns the sample of the latest reading: a peak that rose since the last sample is its
   maximum, however short it was. */
struct sample meter_sample(struct meter *meter, const struct process *process);

/*
 * The flight recorder has looked more often than the readings: pushes its slots, whose
 * times plus offset_ns are run time, before the sample of the latest reading is made.
 * Slots older than the history's end, or in the future, are left out.
 */
void meter_push_recorded(struct meter *meter, const struct process *process,
                         const struct recorded *slots, size_t count, int64_t offset_ns,
                         struct history *history);

#endif
