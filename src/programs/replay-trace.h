/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Traces to be replayed: a process of its own reads and munges them, so that nothing of
   that is seen by the allocator under test. */
#ifndef MEMTOP_REPLAY_TRACE_H
#define MEMTOP_REPLAY_TRACE_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether the file is a trace of memtop's own; of what can be read only once that is
   not known. */
bool replay_trace_is(int fd);

/* Starts the process.  A descriptor from which the calls come, munged, each a struct
   logalloc_line; or -errno. */
int replay_trace_open(int fd, pid_t *child);

/* After the last call: false if not all of it could be read, which has been said. */
bool replay_trace_wait(pid_t child);

#endif
