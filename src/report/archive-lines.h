/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the writer and the reader of session files must agree on beyond fields.h. */
#ifndef MEMTOP_ARCHIVE_LINES_H
#define MEMTOP_ARCHIVE_LINES_H

#include "monitor/history.h"
#include "monitor/messages.h"

/* Of files that older readers cannot read; lines and fields may be added within
   it, what is unknown is skipped. */
#define ARCHIVE_VERSION 1u

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

#endif
