/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tables of sampled blocks (segment/sites-layout.h), as the process writes them: any
 * thread may, at any time; nobody waits; what finds no space is counted as lost.
 */
#ifndef MEMTOP_PRELOAD_SITES_H
#define MEMTOP_PRELOAD_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/hooks.h"
#include "preload/state.h"
#include "segment/sites-layout.h"

/* Prepares the private memory, then the segment's tables.  Returns false if there is no
   memory; then nothing is sampled. */
bool mt_sites_start(double rate, unsigned depth);

/* Writes to the segment which unwinder is used. */
void mt_sites_unwinder(enum site_unwinder unwinder);

/* In a child: its tables begin with what was live at the fork.  parent must still be
   mapped.  Returns false if there was no memory; then the child does not sample. */
bool mt_sites_inherit(const struct mt_segment *parent);

/* Follows a block that was just made; sampled has all fields set but site.  Returns false
   if there is no space. */
bool mt_sites_made(const void *block, const struct mt_followed *sampled,
                   const void *const *frames, size_t depth, bool walked);

/* Takes a block that is about to be freed out of the tables; false if it is not there. */
bool mt_sites_take(const void *block, struct mt_followed *taken);

/* End what mt_sites_take() began: the block is gone, or it is still there. */
void mt_sites_gone(const struct mt_followed *taken, uint64_t now);
bool mt_sites_keep(const void *block, const struct mt_followed *taken);

/* Counts a block that was marked as sampled but not found. */
void mt_sites_missed(void);

/* Marks an internal allocation; false if there is no space. */
bool mt_sites_mark_ours(const void *block);

/* A dormant process wakes: blocks made before are not followed any more. */
void mt_sites_forget(void);

#endif
