/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of recorded calls (trace/trace.h) as the command line asks for them. */
#ifndef MEMTOP_TRACEFILE_H
#define MEMTOP_TRACEFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/curve.h"
#include "files/dat.h"
#include "files/trace.h"

/* Whether it is a pipe, a device or "-": what can be read only once. */
bool tracefile_is_stream(const char *path);

/* Whether it begins like a trace, an allocation log or a table of events; what can be
   read only once is taken for one. */
bool tracefile_is(const char *path);

/* Says why such a file cannot be read; what is missing from one that was. */
void tracefile_say_error(const char *path, int error);
void tracefile_say_oddities(const char *path, const struct trace_info *info);

/*
 * Reads a process's calls, pid's or with 0 the first one's, into the curve: over time if
 * time_based, else over calls.  about gets what a data file of them would say of itself:
 * count, start 0, end, peaks (of the stack HISTORY_UNKNOWN, perhaps), nanoseconds.  False, having said why; what is missing from
 * the file is said too.
 */
bool tracefile_curve(const char *path, uint64_t pid, bool time_based, struct curve *curve,
                     struct dat *about);

enum export_format { EXPORT_LOGALLOC, EXPORT_DAT, EXPORT_CSV, EXPORT_JSON };

/* The names of the formats, by their numbers, up to a NULL. */
extern const char *const export_names[];

/*
 * Writes the file's calls in another form to output, a new file or NULL for the standard
 * output.  logalloc and json are of all processes; dat and csv of one, as above.  The
 * exit status.
 */
int tracefile_export(const char *path, enum export_format format, uint64_t pid,
                     const char *output);

#endif
