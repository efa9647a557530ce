/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selects the events of one process from a trace of many: the first process, or the one
   with a given pid.  What it becomes by exec belongs to it. */
#ifndef MEMTOP_FOLLOW_H
#define MEMTOP_FOLLOW_H

#include <stdint.h>

#include "files/trace.h"

struct follow {
    uint64_t pid;     /* 0: the first process.  The caller sets this and zeroes the
                         rest */
    bool begun;
    uint32_t process; /* its present image */
};

enum followed {
    FOLLOW_OTHER, /* event of another process */
    FOLLOW_NEW,   /* first event of one of its images */
    FOLLOW_ON,    /* another event of the same image */
};

enum followed follow_take(struct follow *follow, const struct trace_info *info,
                          const struct trace_event *event);

#endif
