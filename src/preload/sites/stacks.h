/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The segment's pool of call stacks and its table of the objects they lie in. */
#ifndef MEMTOP_STACKS_H
#define MEMTOP_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct link_map;

#include "segment/sites-layout.h"

/* Gets the private memory; false if there is none.  Calling it again does nothing. */
bool mt_stacks_start(void);

/* From now on stacks are entered in this segment's tables, which are empty. */
void mt_stacks_attach(unsigned char *sites);

/* The same in a forked child, whose tables begin with a copy of its parent's.  Returns
   false if there is no space. */
bool mt_stacks_copy(unsigned char *sites, const unsigned char *parent);

/* Enters the objects of the list that have no build-id, with their files' identity.  That
   is asked of the kernel now, once for each, because later a call of malloc would have
   to. */
void mt_stacks_loaded(const struct link_map *first, uint64_t now);

/* Returns the id of a stack, which is entered if it is new.  Returns 0 if it has no
   frames, or if there is no space, which is counted.  Keeps errno. */
uint32_t mt_stacks_intern(const void *const *frames, size_t depth, uint64_t now);

/* Makes the pages of a table present up to end, of limit bytes; *present is how far they
   are.  Returns false if there is no memory. */
bool mt_sites_present(uint64_t *present, unsigned char *table, uint64_t end,
                      uint64_t limit);

/* A hash of some words; all its bits are usable. */
uint64_t mt_sites_hash(const void *words, size_t count);

#endif
