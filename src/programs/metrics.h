/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file of figures for Prometheus (report/metrics.h), as node_exporter's textfile
 * collector expects it: whoever reads finds it whole, as of before or of now.
 */
#ifndef MEMTOP_APP_METRICS_H
#define MEMTOP_APP_METRICS_H

#include "monitor/process-list.h"

/* Could the file be written?  0 or -errno. */
int metrics_check(const char *file);

/* Replaces the file by one of what the session knows now, of its root and, if it
   keeps a process list, of the root's living descendants; program is the root's,
   or NULL if it was not started by memtop.  0 or -errno, the file then being as
   before. */
int metrics_write(const char *file, const struct session *session, const char *program);

/* The same of the process list's living processes. */
int metrics_write_all(const char *file, const struct process_list *process_list);

#endif
