/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keeps snapshots of the counters, so that one can look back: copies of a process's
 * readings, from its start to now, in bounded memory.  When the memory is full every
 * other one is dropped and the next ones come half as often; the first and the last
 * always stay.  Blocks by size are kept by coarse bucket.
 */
#ifndef MEMTOP_CHECKPOINTS_H
#define MEMTOP_CHECKPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/session.h"

struct checkpoints;

/* Makes space for capacity snapshots, at least 4.  Returns NULL if memory is short. */
struct checkpoints *checkpoints_new(size_t capacity);
void checkpoints_free(struct checkpoints *checkpoints);

/* Keeps a copy.  It replaces the last one if it is not later. */
void checkpoints_add(struct checkpoints *checkpoints, const struct process *process);

/* How long after the last snapshot the next should be added, in ns. */
int64_t checkpoints_spacing(const struct checkpoints *checkpoints);

size_t checkpoints_count(const struct checkpoints *checkpoints);

/* Run time of snapshot index (0 is the first), in ns. */
int64_t checkpoints_time(const struct checkpoints *checkpoints, size_t index);

/* Finds the newest snapshot not later than run_ns; false if there is none. */
bool checkpoints_find(const struct checkpoints *checkpoints, int64_t run_ns,
                      size_t *index);

/*
 * Puts a snapshot into process, which holds the same process as it is now.  It is not
 * marked as ended there, and of another program image only what was kept is filled in.
 */
void checkpoints_restore(const struct checkpoints *checkpoints, size_t index,
                         struct process *process);

#endif
