/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Background profiles: where processes allocate that are not shown.  Their samples are
 * read while they live, so that growth and rates are known once one is shown, or when the
 * session is saved.  Memory and time are bounded: few processes, only those that have
 * lived for a while, fewer snapshots of each, and a fiftieth of a processor.
 */
#ifndef MEMTOP_OTHERS_H
#define MEMTOP_OTHERS_H

#include <stdint.h>
#include <sys/types.h>

#include "monitor/profile.h"
#include "monitor/roster.h"
#include "monitor/tree.h"

struct others;

/* Returns NULL if memory is short. */
struct others *others_new(void);
void others_free(struct others *others);

/* Reads the processes of the list that are due; their segments are in the tree.  now_ns
   is CLOCK_MONOTONIC. */
void others_read(struct others *others, const struct roster *roster,
                 const struct tree *tree, int64_t now_ns);

/* Lends what was gathered about a process's image, whose segment was made at image_ns:
   the caller owns it and goes on reading until it is returned.  NULL if there is
   nothing. */
struct profile *others_lend(struct others *others, pid_t pid, uint64_t image_ns);

/* Takes back a lent profile; frees any other one.  Clears its mark. */
void others_return(struct others *others, struct profile *profile);

#endif
