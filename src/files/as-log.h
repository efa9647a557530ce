/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recorded calls (trace.h) as those of an allocation log (segment/logline.h). */
#ifndef MEMTOP_AS_LOG_H
#define MEMTOP_AS_LOG_H

#include "segment/logline.h"
#include "files/trace.h"

struct as_log;

/* NULL if memory is short. */
struct as_log *as_log_new(void);
void as_log_free(struct as_log *log);

/*
 * The line that an event completes: 1; 0: none, -ENOMEM.  A realloc() has its line
 * where it is over; what a log cannot say has none: pools of the program's own, and
 * failed reallocs, of which the size asked for is not recorded.
 */
int as_log_line(struct as_log *log, const struct trace_info *info,
                const struct trace_event *event, struct logalloc_line *line);

#endif
