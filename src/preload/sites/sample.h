/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which blocks are sampled for the sites, and what happens to them.  While blocks are
 * sampled, mt_guard.sites is set.
 *
 * Every word is hit with the same probability, and the distance to the next hit is known
 * beforehand.  So a block between two hits costs nothing on the fast path, where the
 * count of bytes passes a limit (account.h), and one subtraction elsewhere.  A sampled
 * block is marked where its size is kept (sizes.h); with usable accounting its address is
 * looked up in a table when it is freed.
 */
#ifndef MEMTOP_SAMPLE_H
#define MEMTOP_SAMPLE_H

#include <stdbool.h>

#include "preload/state.h"

/* Called as the process starts: draws its first distance and attaches the sampler
   (hooks.h), unless the segment says that nothing is sampled (header.sites_state); then
   it returns false. */
bool mt_sample_start(void);

/* The same in a child, after mt_sites_forked(). */
bool mt_sample_inherit(void);

/* Called by our constructor: stacks can be walked from now on at the latest.  Before
   glibc 2.35 not earlier, see mt_unwind_start(). */
void mt_sample_loaded(void);

#endif
