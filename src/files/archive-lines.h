/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the writer and the reader of session files share beyond fields.h. */
#ifndef MEMTOP_ARCHIVE_LINES_H
#define MEMTOP_ARCHIVE_LINES_H

#include "monitor/history.h"
#include "monitor/messages.h"
#include "monitor/process-list.h"
#include "files/fields.h"

/* The version of the format.  It changes only if older readers cannot read the file:
   lines and fields may be added within a version, because unknown ones are skipped. */
#define ARCHIVE_VERSION 1u

/* Limits: of the date saved, in seconds since the Epoch, the end of the year 9999; of
   the interval, an hour. */
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
 * Type of lines that belong to another process than the one shown.  Their real type is
 * in "kind" and the pid in "of".  Readers that know only one process skip them.
 */
#define ARCHIVE_OTHER "other"

/* Writes the line and frees it. of: pid of another process, or 0.  Returns false and
   sets errno on failure. */
bool archive_put_line(FILE *out, pid_t of, struct object line);

/* The line's type, NULL if it has none. *of: pid of the other process it belongs to; 0:
   the process shown; < 0: not valid. */
const char *archive_line_type(const json_t *line, pid_t *of);

/* Writes and reads an entry of the process list.  The text of entry->why_not is stored
   in why_not. */
#define ARCHIVE_WHY 256
struct object archive_put_entry(const struct process_entry *entry);
void archive_take_entry(const json_t *object, struct process_entry *entry,
                        char why_not[ARCHIVE_WHY], struct fault *fault);

#endif
