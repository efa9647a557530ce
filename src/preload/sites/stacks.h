/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The segment's pool of call stacks and its table of the objects they lie in. */
#ifndef MEMTOP_STACKS_H
#define MEMTOP_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "segment/sites-layout.h"

/* From now on stacks are entered in this segment's tables, which are empty; false if
   there is no memory. */
bool mt_stacks_attach(struct sites_head *sites);

/* Space for some stacks: later there will be no memory. */
void mt_stacks_prepare(void);

/* In a forked child: keeps the parent's tables aside; begins its own, once attached, with
   a copy of them (false if there is no space); unmaps the parent's. */
void mt_stacks_forked(void);
bool mt_stacks_copy(void);
void mt_stacks_release(void);

/* In a forked child whose only thread is writing to them: see growing_make_private(). */
void mt_stacks_make_private(void);

/* In a forked child whose parent had no tables yet, only some of their memory. */
void mt_stacks_unmap(void);

/* Returns the id of a stack, which is entered if it is new.  Returns 0 if it has no
   frames, or if there is no space, which is counted.  Keeps errno. */
uint32_t mt_stacks_intern(const void *const *frames, size_t depth, uint64_t now);

/* Returns the number of a place, which is entered if it is new; 0 if there is no space,
   which is counted. */
struct mt_python_place;
uint32_t mt_stacks_place(const struct mt_python_place *place);

/* A hash of some words; all its bits are usable. */
uint64_t mt_sites_hash(const void *words, size_t count);

#endif
