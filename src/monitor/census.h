/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fills a roster with the processes of a tree of segments, and with those of the
 * root's descendants in /proc that have no segment.
 */
#ifndef MEMTOP_CENSUS_H
#define MEMTOP_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/roster.h"
#include "monitor/tree.h"

struct census;

/* root NULL: of every process in the tree, and nobody else; else of root and its
   descendants.  all_ours: every segment in the tree belongs to it.  NULL if memory
   is short. */
struct census *census_new(const struct process *root, const char *command, bool all_ours);
void census_free(struct census *census);

/* Is that process in the roster, and does it live? */
bool census_follows(const struct census *census, pid_t pid);

/* Looks for new processes and images in a tree whose latest look has found
   something. */
void census_look(struct census *census, const struct tree *tree);

/*
 * Looks for descendants without a segment and for those that have ended, and arranges
 * the roster; now_ns is CLOCK_MONOTONIC.  figures: also read what they have allocated; without, that is done
 * only at their end.
 */
void census_take(struct census *census, int64_t now_ns, bool figures);

const struct roster *census_roster(const struct census *census);

#endif
