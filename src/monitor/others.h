/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where processes allocate that nobody looks at: their samples are read while they
 * live, that growth and rates are known of them, too, when somebody does, or when the
 * session is saved.  Memory and time are bounded: few processes, those that have lived
 * for a while, fewer moments of each, and a fiftieth of a processor.
 */
#ifndef MEMTOP_OTHERS_H
#define MEMTOP_OTHERS_H

#include <stdint.h>
#include <sys/types.h>

#include "monitor/profile.h"
#include "monitor/roster.h"
#include "monitor/tree.h"

struct others;

/* NULL if memory is short. */
struct others *others_new(void);
void others_free(struct others *others);

/* Reads those of the roster, whose segments are in the tree, that are due; now_ns is
   CLOCK_MONOTONIC. */
void others_read(struct others *others, const struct roster *roster,
                 const struct tree *tree, int64_t now_ns);

/* What was gathered of a process's image, whose segment was made at image_ns: it is the
   caller's, who goes on reading, until it is returned.  NULL: nothing was. */
struct profile *others_lend(struct others *others, pid_t pid, uint64_t image_ns);

/* Takes back what was lent, and frees any other profile.  A mark in it goes. */
void others_return(struct others *others, struct profile *profile);

#endif
