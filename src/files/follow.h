/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Of a trace of many processes, the events of one: the first, or that with a pid; what
   it becomes by exec is still it. */
#ifndef MEMTOP_FOLLOW_H
#define MEMTOP_FOLLOW_H

#include <stdint.h>

#include "files/trace.h"

struct follow {
    uint64_t pid;     /* 0: the first one's. To be set before, the rest zero */
    bool begun;
    uint32_t process; /* the image it is now */
};

enum followed {
    FOLLOW_OTHER, /* another process's event */
    FOLLOW_NEW,   /* the first of an image of it */
    FOLLOW_ON,    /* of the same image as before */
};

enum followed follow_take(struct follow *follow, const struct trace_info *info,
                          const struct trace_event *event);

#endif
