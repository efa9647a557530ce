/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is replayed but is no munged log: a process of its own reads and munges it, so
   that nothing of that is seen by the allocator under test. */
#ifndef MEMTOP_REPLAY_TRACE_H
#define MEMTOP_REPLAY_TRACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "files/input.h"
#include "files/trace.h"

struct replay_trace {
    pid_t child;
    struct replay_shared *shared; /* with it */
};

/* Starts the process, which reads on where the input is: a file of recorded calls, of
   which nothing was taken.  The input then gives the calls, munged, each a struct
   logalloc_line.  0 or -errno. */
int replay_trace_begin(struct replay_trace *reader, struct input *input);

/* After the last call: *about says what is missing from the file; its arrays are not
   there.  0, or the -errno of opening or reading it. */
int replay_trace_end(struct replay_trace *reader, struct trace_info *about);

#endif
