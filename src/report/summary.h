/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The report at the program's end: memusage's, byte for byte, so that programs that read
 * memusage's can read it.  What memtop adds comes after the histogram, one line each.
 */
#ifndef MEMTOP_SUMMARY_H
#define MEMTOP_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "monitor/session.h"

/* Writes the report; colour: with memusage's escape sequences.  A process that was not
   measured gets one line that says why, and no figures. */
void report_summary(FILE *out, const struct process *process, bool colour);

/* Writes memtop's remarks on the figures: the lines after the histogram. */
void report_remarks(FILE *out, const struct process *process);

/* Bytes requested, as memusage counts them, including failed calls: of one function, and
   of all that allocate. */
uint64_t report_bytes(const struct snapshot *snapshot, enum segment_function function);
uint64_t report_total(const struct snapshot *snapshot);

/* Returns depth, or UNITS_UNKNOWN if depths were not recorded. */
uint64_t report_stack(const struct process *process, uint64_t depth);

/* Failed calls of a function, or UNITS_UNKNOWN (units.h) if they were not recorded. */
uint64_t report_failed(const struct process *process, enum segment_function function);

/* One of the process's rates, or -1 if there was no clock to measure it. */
double report_rate(const struct process *process, double rate);

/* Calls of a function per second, or UNITS_UNKNOWN if there was no clock. */
uint64_t report_calls_rate(const struct process *process, enum segment_function function);

#endif
