/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that can be looked at as a session: sessions, data files and records of calls.
 * open.c has a table with a reader for each kind; a new kind is one more row.
 */
#ifndef MEMTOP_FILES_OPEN_H
#define MEMTOP_FILES_OPEN_H

#include <stddef.h>

#include "files/kind.h"
#include "monitor/saved.h"

/* Reads a file of this kind, which must have a reader.  Returns 0 and sets *out, or
   -errno as the reader does.  why, a text of that size, says what is wrong with the
   contents (translated), or is "". */
int open_saved(const char *path, enum file_kind kind,
               const struct trace_progress *progress, char *why, size_t size,
               struct saved **out);

/*
 * The reader of data files (dat.h): heap and stack over time, and the rate of calls that
 * changed the heap; nothing else was recorded.  Reads files of any size in bounded
 * memory.  If the file's unit of time is not known, times are parts of the run
 * (PART_CLOCK).  Returns 0 and sets *out, or -errno as dat_open() does.
 */
int dat_session(const char *path, const struct trace_progress *progress,
                struct saved **out);

/*
 * The reader of records of calls (trace.h): the first process with its calls, sizes and
 * threads over time, and the last figures of the others.  Reads files of any size, in
 * memory bounded except for live blocks and processes.  A log without times is read
 * twice, and its times are parts of the run (PART_CLOCK).  Returns 0 and sets *out, or
 * -errno as trace_open() does.
 */
int trace_session(const char *path, const struct trace_progress *progress,
                  struct saved **out);

#endif
