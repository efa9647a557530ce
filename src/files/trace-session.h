/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace (trace.h) to be looked at as a session: the first process with its calls,
 * sizes and threads over time, and how the others ended.  What is no call was not
 * recorded.
 */
#ifndef MEMTOP_TRACE_SESSION_H
#define MEMTOP_TRACE_SESSION_H

#include "monitor/saved.h"
#include "files/progress.h"

/* Reads the file, of any size, in bounded memory but for live blocks and processes.  A
   log that has no times is read twice, its times are in parts of the run (PART_CLOCK).
   0 and *out, or -errno as trace_open() has it. */
int trace_session(const char *path, const struct trace_progress *progress,
                  struct saved **out);

#endif
