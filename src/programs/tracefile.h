/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of recorded calls (files/trace.h), as the command line uses them. */
#ifndef MEMTOP_TRACEFILE_H
#define MEMTOP_TRACEFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "programs/uses.h"
#include "monitor/timeline.h"
#include "files/dat.h"
#include "files/trace.h"

/* Can the file be read only once: a pipe, a device or "-"? */
bool tracefile_is_stream(const char *path);

/* tracefile_say_error() reports why a file of this kind cannot be read for that use;
   tracefile_say_oddities() what is missing from a file that was read. */
void tracefile_say_error(const char *path, int error, enum file_kind kind,
                         enum file_use use);
void tracefile_say_oddities(const char *path, const struct trace_info *info);

/*
 * Reads the calls of process pid, or of the first one if pid is 0, into the timeline:
 * over time if time_based, otherwise over calls. *about receives what a data file would
 * say: count, start 0, end, peaks (of the stack HISTORY_UNKNOWN if not known) and
 * nanoseconds.  Reports what is missing from the file.  Reports an error and returns
 * false on failure; *status is the exit status in both cases.
 */
bool tracefile_timeline(const char *path, uint64_t pid, bool time_based,
                        struct timeline *timeline, struct dat *about, int *status);

enum export_format { EXPORT_LOGALLOC, EXPORT_DAT, EXPORT_CSV, EXPORT_JSON };

/* Names of the formats, indexed by enum export_format, with NULL at the end. */
extern const char *const export_names[];

/*
 * Writes the file's calls in another format to output, a new file, or to the standard
 * output if NULL.  The output is created after the file was opened. logalloc and json
 * contain all processes; dat and csv one, chosen by pid as above.  Returns the exit
 * status.
 */
int tracefile_export(const char *path, enum export_format format, uint64_t pid,
                     const char *output);

/* ---- recorded calls in another format, one by one as they come (export.c) ---- */

struct export;

/* output: a new file, or NULL for the standard output.  Returns 0 and sets *out, or
   -errno. */
int export_new(enum export_format format, const char *output, struct export **out);

/* Can the format tell processes apart?  Otherwise only events of one process may be
   passed. */
bool export_of_all(const struct export *export);

/* Takes an event.  Returns 0, -ENOMEM, or -ECANCELED if a write has failed. */
int export_take(struct export *export, const struct trace_info *info,
                const struct trace_event *event);

/* Finishes the output and frees export. whole: nothing is missing.  Returns 0, or the
   -errno of a write. */
int export_end(struct export *export, bool whole);

#endif
