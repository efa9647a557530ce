/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Converts recorded calls (trace.h) to lines of an allocation log (segment/logline.h). */
#ifndef MEMTOP_AS_LOG_H
#define MEMTOP_AS_LOG_H

#include "segment/logline.h"
#include "files/trace.h"

struct as_log;

/* Returns NULL if memory is short. */
struct as_log *as_log_new(void);
void as_log_free(struct as_log *log);

/*
 * Fills in the line that an event completes.  Returns 1, 0 if it completes none, or
 * -ENOMEM.  The line of a realloc() comes at its end.  Events that a log cannot express
 * have no line: the program's own pools, and failed reallocs, because their size is not
 * recorded.
 */
int as_log_line(struct as_log *log, const struct trace_info *info,
                const struct trace_event *event, struct logalloc_line *line);

#endif
