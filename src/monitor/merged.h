/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One profile of several processes: what each of them has allocated is added up by the
 * functions of its stacks.  A place in code is the same in all processes that have mapped
 * the same file (by build id, otherwise by path), wherever they have mapped it; generated
 * code is the same by its name.  Weights are those of each process; what was alive at the
 * peak was so at the peak of each.
 *
 *     merged = merged_new();
 *     merged_add(merged, profile);         of each process, once it has its names
 *     profile = merged_finish(merged, run_ns);
 *
 * The result knows the present only: no marks, rates, growth or past.
 */
#ifndef MEMTOP_MERGED_H
#define MEMTOP_MERGED_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/profile.h"

struct merged;

/* Returns NULL if memory is short. */
struct merged *merged_new(void);
void merged_free(struct merged *merged);

/* Adds what was digested last.  Returns false if memory is short: then it is incomplete
   and can only be freed. */
bool merged_add(struct merged *merged, const struct profile *profile);

/* The number of profiles added. */
unsigned merged_count(const struct merged *merged);

/* Makes the profile, as of run_ns; the caller frees it.  NULL if memory is short. */
struct profile *merged_finish(struct merged *merged, int64_t run_ns);

#endif
