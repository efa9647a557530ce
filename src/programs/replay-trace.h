/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that are not munged logs but can be replayed: a separate process reads and
   munges them, so that the allocator under test sees nothing of that. */
#ifndef MEMTOP_REPLAY_TRACE_H
#define MEMTOP_REPLAY_TRACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "files/input.h"
#include "files/trace.h"

struct replay_trace {
    pid_t child;
    struct replay_shared *shared; /* shared with the child */
};

/* Starts the process, which reads the input, a file of recorded calls, from its
   beginning.  Afterwards the input delivers the munged calls as struct logalloc_line.
   Returns 0 or -errno. */
int replay_trace_begin(struct replay_trace *reader, struct input *input);

/* Call it after the last call. *about says what is missing from the file; its arrays are
   not available.  Returns 0, or the -errno of opening or reading the file. */
int replay_trace_end(struct replay_trace *reader, struct trace_info *about);

#endif
