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
#include "preload/sites/python.h"
#include "preload/state.h"
#include "segment/sites-layout.h"

/* Are there tables to write to?  Makes them at the first call, and in a child with what
   was live at the fork.  False: there is no memory, or another thread is making them;
   then the sample cannot be taken.  All functions below but the last ones need them. */
bool mt_sites_ready(void);

/* Writes what changes now and then to the segment: the rate, the memory, the unwinder. */
void mt_sites_show(enum site_unwinder unwinder);

/* Makes the tables, with space for some samples: later there will be no memory, because
   the process shuts itself in. */
void mt_sites_prepare(void);

/* The number of objects that a sampled block of that size stands for at a step of the
   budget's. */
double mt_sites_weight(unsigned step, uint64_t size);

/* The number of a place for stacks, see mt_stacks_place(); 0 as well if there are no
   tables any more: a signal handler has forked, and this is the child. */
uint32_t mt_sites_place(const struct mt_python_place *place);

/* Follows a block that was just made; sampled has all fields set but site.  Returns false
   if there is no space. */
bool mt_sites_made(const void *block, const struct mt_followed *sampled,
                   const void *const *frames, size_t depth, bool walked);

/* End what mt_sites_take() began: the block is gone, or it is still there. */
void mt_sites_gone(const struct mt_followed *taken, uint64_t now);
bool mt_sites_keep(const void *block, const struct mt_followed *taken);

/* Takes a block that is about to be freed out of the tables; false if it is not there, or
   not counted there. */
bool mt_sites_take(const void *block, struct mt_followed *taken);

/* Counts a block that was marked as sampled but not found. */
void mt_sites_missed(void);

/* Marks an internal allocation; false if there is no space. */
bool mt_sites_mark_ours(const void *block);

/* A dormant process wakes: blocks made before are not followed any more. */
void mt_sites_forget(void);

/* In a child, before it has a segment: its tables will begin with what was live at the
   fork.  The parent's stay mapped until then. */
void mt_sites_forked(void);

/* Was this child forked by a signal handler that interrupted a sample?  Then it takes
   none. */
bool mt_sites_cut_off(void);

#endif
