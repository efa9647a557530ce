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
   (hooks.h).  Returns false if there is no memory for sampling. */
bool mt_sample_start(void);

/* Called in a child: like mt_sites_inherit(). */
bool mt_sample_inherit(const struct mt_segment *parent);

/*
 * Stacks can be walked from now on; called by our constructor.  It cannot be done
 * earlier, in a sampled call, although other libraries' constructors have run by then:
 * the walker must be loaded, and a call of malloc may come from inside the loader (an
 * ifunc resolver during relocation, another thread's dlopen), or with a lock held that
 * loading needs, as libc holds that of its exit functions while it enlarges their list.
 */
void mt_sample_loaded(void);

#endif
