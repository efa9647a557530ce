/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The process tracker: fills a process list with the processes of a tree of segments, and
 * with the root's descendants in /proc that have no segment.
 */
#ifndef MEMTOP_PROCESS_TRACKER_H
#define MEMTOP_PROCESS_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/process-list.h"
#include "monitor/tree.h"

struct process_tracker;

/* With root NULL, lists every process in the tree and no others; otherwise root and its
   descendants.  all_ours: every segment in the tree belongs to the list.  Returns NULL if
   memory is short. */
struct process_tracker *process_tracker_new(const struct process *root,
                                            const char *command, bool all_ours);
void process_tracker_free(struct process_tracker *tracker);

/* Is that process in the list, and alive? */
bool process_tracker_follows(const struct process_tracker *tracker, pid_t pid);

/* Looks for new processes and images, after a scan of the tree has found a change. */
void process_tracker_look(struct process_tracker *tracker, const struct tree *tree);

/*
 * Looks for descendants without a segment and for processes that have ended, and arranges
 * the process list; now_ns is CLOCK_MONOTONIC.  figures: also read what they have
 * allocated; otherwise that is read only at their end.
 */
void process_tracker_take(struct process_tracker *tracker, int64_t now_ns, bool figures);

const struct process_list *process_tracker_list(const struct process_tracker *tracker);

#endif
