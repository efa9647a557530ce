/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the writer and the reader of session files must agree on beyond fields.h. */
#ifndef MEMTOP_ARCHIVE_LINES_H
#define MEMTOP_ARCHIVE_LINES_H

#include "monitor/history.h"
#include "monitor/messages.h"
#include "monitor/process-list.h"
#include "files/fields.h"

/* Of files that older readers cannot read; lines and fields may be added within
   it, what is unknown is skipped. */
#define ARCHIVE_VERSION 1u

/* When it was saved, in seconds: to the end of the year 9999.  Intervals: an hour. */
#define ARCHIVE_DATE_MAX UINT64_C(253402300799)
#define ARCHIVE_INTERVAL_MAX_NS (UINT64_C(3600) * 1000000000)

static const char *const archive_series[SERIES_COUNT] = {
    [SERIES_HEAP] = "heap",
    [SERIES_STACK] = "stack",
    [SERIES_RSS] = "rss",
    [SERIES_CALLS] = "calls",
};

static const char *const archive_severities[] = {
    [SEVERITY_STATE] = "state",
    [SEVERITY_ACK] = "answer",
    [SEVERITY_WARNING] = "warning",
    [SEVERITY_ERROR] = "error",
};

/*
 * Lines of another process than the one that was shown are of this type, their own being
 * "kind" and the process "of": readers that know of one process skip them.
 */
#define ARCHIVE_OTHER "other"

/* Writes the line, of another process unless of is 0, and lets go of it.  False (errno)
   if that failed. */
bool archive_put_line(FILE *out, pid_t of, struct object line);

/* The line's type, NULL if it has none, and of which process it is: 0 the one that was
   shown, < 0 none that can be. */
const char *archive_line_type(const json_t *line, pid_t *of);

/* A process of the tree.  why_not, text of that size, is put in beside it. */
#define ARCHIVE_WHY 256
struct object archive_put_entry(const struct process_entry *entry);
void archive_take_entry(const json_t *object, struct process_entry *entry,
                        char why_not[ARCHIVE_WHY], struct fault *fault);

#endif
