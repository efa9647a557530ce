/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A data file (dat.h) to be looked at as a session: heap and stack over time, and
 * how many calls changed the heap; anything else was not recorded.
 */
#ifndef MEMTOP_DAT_SESSION_H
#define MEMTOP_DAT_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "monitor/saved.h"
#include "files/dat.h"

/*
 * Reads the file, of any size, in bounded memory.  Where it does not tell how long
 * its unit of time is, times are in parts of the run (PART_CLOCK).  0 and *out, or
 * -errno as dat_open() has it.
 */
int dat_session(const char *path, const struct trace_progress *progress,
                struct saved **out);

#endif
