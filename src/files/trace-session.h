/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads a trace (trace.h) as a session: the first process with its calls, sizes and
 * threads over time, and the last figures of the others.  Only calls were recorded.
 */
#ifndef MEMTOP_TRACE_SESSION_H
#define MEMTOP_TRACE_SESSION_H

#include "monitor/saved.h"
#include "files/progress.h"

/* Reads the file, of any size, in memory bounded except for live blocks and processes.
   A log without times is read twice, and its times are parts of the run (PART_CLOCK).
   Returns 0 and sets *out, or -errno as trace_open() does. */
int trace_session(const char *path, const struct trace_progress *progress,
                  struct saved **out);

#endif
