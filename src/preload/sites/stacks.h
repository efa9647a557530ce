/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The segment's pool of call stacks and its table of the objects they lie in. */
#ifndef MEMTOP_STACKS_H
#define MEMTOP_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct link_map;

#include "segment/sites-layout.h"

/* Memory beside the segment; false: none.  Again: nothing happens. */
bool mt_stacks_start(void);

/* Stacks are entered in this segment's tables from now on, which are empty. */
void mt_stacks_attach(unsigned char *sites);

/* The same in a forked child: they begin with what its parent's hold.  False: no
   room. */
bool mt_stacks_copy(unsigned char *sites, const unsigned char *parent);

/* Enters the objects of the list that have no build-id, with their files, which are asked for
   now: later a call of malloc would have to.  Calls the kernel for each of them. */
void mt_stacks_loaded(const struct link_map *first, uint64_t now);

/* The id of a stack, entered if it is new; 0: it has no frames, or there is no room,
   which is counted.  Keeps errno. */
uint32_t mt_stacks_intern(const void *const *frames, size_t depth, uint64_t now);

/* Makes the pages of a table exist up to end, of limit bytes.  present says how far they
   do.  False: there is no room. */
bool mt_sites_present(uint64_t *present, unsigned char *table, uint64_t end,
                      uint64_t limit);

/* Where the kernel cannot make pages later, so much of each table exists from the
   start. */
#define SITES_AHEAD 262144u

/* The hash of some words, all bits of it good. */
uint64_t mt_sites_hash(const void *words, size_t count);

#endif
