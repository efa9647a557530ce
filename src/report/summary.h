/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The report at the program's end: memusage's, byte for byte, so that whatever
 * reads that reads this.  Where memtop has more to say it says so after the
 * histogram, one line each.
 */
#ifndef MEMTOP_SUMMARY_H
#define MEMTOP_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "monitor/session.h"

/* Writes it; colour: with memusage's escapes.  A process that was not measured
   gets one line that says why, and no figures. */
void report_summary(FILE *out, const struct process *process, bool colour);

/* What memtop has to remark on the figures: the lines after the histogram. */
void report_remarks(FILE *out, const struct process *process);

/* Ever asked for, as memusage counts it: failed calls included; of one
   function, and of all that allocate. */
uint64_t report_bytes(const struct snapshot *snapshot, enum segment_function function);
uint64_t report_total(const struct snapshot *snapshot);

/* That depth, or UNITS_UNKNOWN: not recorded. */
uint64_t report_stack(const struct process *process, uint64_t depth);

/* Calls of a function that failed, or UNITS_UNKNOWN (units.h): not recorded. */
uint64_t report_failed(const struct process *process, enum segment_function function);

/* One of the process's rates, or -1: there was no clock to measure it by. */
double report_rate(const struct process *process, double rate);

/* Calls of a function a second, or UNITS_UNKNOWN likewise. */
uint64_t report_calls_rate(const struct process *process, enum segment_function function);

#endif
