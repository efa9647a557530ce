/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The process tracker: fills a process list with the processes of a tree of segments, and
 * with the root's descendants in /proc that have no segment.
 */
#ifndef MEMTOP_CENSUS_H
#define MEMTOP_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/roster.h"
#include "monitor/tree.h"

struct census;

/* With root NULL, lists every process in the tree and no others; otherwise root and its
   descendants.  all_ours: every segment in the tree belongs to the list.  Returns NULL if
   memory is short. */
struct census *census_new(const struct process *root, const char *command, bool all_ours);
void census_free(struct census *census);

/* Is that process in the list, and alive? */
bool census_follows(const struct census *census, pid_t pid);

/* Looks for new processes and images, after a scan of the tree has found a change. */
void census_look(struct census *census, const struct tree *tree);

/*
 * Looks for descendants without a segment and for processes that have ended, and arranges
 * the process list; now_ns is CLOCK_MONOTONIC.  figures: also read what they have
 * allocated; otherwise that is read only at their end.
 */
void census_take(struct census *census, int64_t now_ns, bool figures);

const struct roster *census_roster(const struct census *census);

#endif
