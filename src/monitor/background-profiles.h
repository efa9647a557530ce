/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Background profiles: where processes allocate that are not shown.  Their samples are
 * read while they live, so that growth and rates are known once one is shown, or when the
 * session is saved.  Memory and time are bounded: few processes, only those that have
 * lived for a while, fewer snapshots of each, and a fiftieth of a processor.
 */
#ifndef MEMTOP_BACKGROUND_PROFILES_H
#define MEMTOP_BACKGROUND_PROFILES_H

#include <stdint.h>
#include <sys/types.h>

#include "monitor/profile.h"
#include "monitor/process-list.h"
#include "monitor/tree.h"

struct background_profiles;

/* Returns NULL if memory is short. */
struct background_profiles *background_profiles_new(void);
void background_profiles_free(struct background_profiles *background);

/* Reads the processes of the list that are due; their segments are in the tree.  now_ns
   is CLOCK_MONOTONIC. */
void background_profiles_read(struct background_profiles *background,
                              const struct process_list *process_list,
                              const struct tree *tree, int64_t now_ns);

/* Lends what was gathered about a process's image, whose segment was made at image_ns:
   the caller owns it and goes on reading until it is returned.  NULL if there is
   nothing. */
struct profile *background_profiles_lend(struct background_profiles *background,
                                         pid_t pid, uint64_t image_ns);

/* Takes back a lent profile; frees any other one.  Clears its mark. */
void background_profiles_return(struct background_profiles *background,
                                struct profile *profile);

#endif
