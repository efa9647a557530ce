/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file of figures for Prometheus (report/metrics.h), as node_exporter's textfile
 * collector expects it: every reader finds a complete file, the old or the new one.
 */
#ifndef MEMTOP_APP_METRICS_H
#define MEMTOP_APP_METRICS_H

#include "monitor/process-list.h"
#include "programs/options.h"

/* Checks whether the file can be written.  Returns 0 or -errno. */
int metrics_check(const char *file);

/* Replaces the file by present figures of the session's root and, if it keeps a process
   list, of the root's living descendants. program is the root's, or NULL if memtop did
   not start it.  Returns 0, or -errno with the file unchanged. */
int metrics_write(const char *file, const struct session *session, const char *program);

/* The same for the living processes of a list. */
int metrics_write_all(const char *file, const struct process_list *process_list);

/* ---- all processes with the library, as a service ---- */

/* Writes the file of figures at each interval, options->iterations times (0: without
   limit) or until a signal asks memtop to end.  Returns the exit status. */
int fleet_run(const struct options *options);

#endif
