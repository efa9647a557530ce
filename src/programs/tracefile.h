/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of recorded calls (files/trace.h) as the command line asks for them. */
#ifndef MEMTOP_TRACEFILE_H
#define MEMTOP_TRACEFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "programs/uses.h"
#include "monitor/timeline.h"
#include "files/dat.h"
#include "files/trace.h"

/* Whether it is a pipe, a device or "-": what can be read only once. */
bool tracefile_is_stream(const char *path);

/* Says why a file of this kind cannot be read to be used so; what is missing from one
   that was. */
void tracefile_say_error(const char *path, int error, enum file_kind kind,
                         enum file_use use);
void tracefile_say_oddities(const char *path, const struct trace_info *info);

/*
 * Reads a process's calls, pid's or with 0 the first one's, into the timeline: over time
 * if time_based, else over calls.  about gets what a data file of them would say of
 * itself: count, start 0, end, peaks (of the stack HISTORY_UNKNOWN, perhaps),
 * nanoseconds.  What is missing from the file is said.  False, having said why; *status
 * is the exit status in any case.
 */
bool tracefile_timeline(const char *path, uint64_t pid, bool time_based,
                        struct timeline *timeline, struct dat *about, int *status);

enum export_format { EXPORT_LOGALLOC, EXPORT_DAT, EXPORT_CSV, EXPORT_JSON };

/* The names of the formats, by their numbers, up to a NULL. */
extern const char *const export_names[];

/*
 * Writes the file's calls in another form to output, a new file or NULL for the standard
 * output, which is created once the file could be opened.  logalloc and json are of all
 * processes; dat and csv of one, as above.  The exit status.
 */
int tracefile_export(const char *path, enum export_format format, uint64_t pid,
                     const char *output);

#endif
