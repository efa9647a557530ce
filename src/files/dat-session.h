/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads a data file (dat.h) as a session: heap and stack over time, and the rate of
 * calls that changed the heap.  Nothing else was recorded.
 */
#ifndef MEMTOP_DAT_SESSION_H
#define MEMTOP_DAT_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "monitor/saved.h"
#include "files/dat.h"

/*
 * Reads the file, of any size, in bounded memory.  If the file's unit of time is not
 * known, times are parts of the run (PART_CLOCK).  Returns 0 and sets *out, or -errno as
 * dat_open() does.
 */
int dat_session(const char *path, const struct trace_progress *progress,
                struct saved **out);

#endif
