/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which blocks are sampled for the sites, and what becomes of them.  While they are,
 * mt_guard.sites is set.
 *
 * Every word is hit with the same probability; how far it is to the next hit is known
 * beforehand: a block between two hits costs nothing on the fast path, whose count of
 * usable bytes passes a limit there (account.h), and elsewhere a subtraction.  A sampled
 * block says so in its trailer; where there are none its address is looked up in a table
 * when it goes.
 */
#ifndef MEMTOP_SAMPLE_H
#define MEMTOP_SAMPLE_H

#include "preload/account.h"
#include "preload/sites/sites.h"
#include "preload/state.h"
#include "segment/sampling.h"

static inline bool
with_sites(void)
{
    return unlikely(mt_guard.sites);
}

/* What a block is besides the program's, in its trailer. */
#define BLOCK_SAMPLED 1u
#define BLOCK_OURS    2u  /* see ours.h */

/* As the process starts: draws for it.  False: there is no memory for it. */
bool mt_sample_start(void);

/* A thread has claimed that shard and has not used it yet: draws for it.  To the fast path
   it is one byte from there to the limit. */
void mt_sample_claimed(unsigned index);

/* In a child: as mt_sites_inherit(). */
bool mt_sample_inherit(const struct mt_segment *parent);

/*
 * From our constructor on: stacks can be walked.  Not before, from a sampled call, though
 * other libraries' constructors have run: the walker has to be loaded, and a call of
 * malloc may come from the midst of the loader (from an ifunc resolver while it relocates,
 * or from another thread's dlopen), or with a lock held that loading wants, as libc
 * holds that of its exit functions when it makes room for more.
 */
void mt_sample_loaded(void);

/* A call of fn made a block that is counted already: is it hit?  Returns BLOCK_SAMPLED
   if it is and is followed from now on, else 0.  caller: see mt_unwind().  Keeps errno. */
unsigned mt_sample_made(enum segment_function fn, const void *block, uint64_t size,
                        const void *caller);

/*
 * The same on the fast path, in two steps.  In the update in which the shard's count has
 * come to a limit: how many words of the block that came last are hit; sets the next
 * limit, also where nothing is sampled.  And after it, if any is.
 */
uint64_t mt_sample_due(struct shard *shard, uint64_t size, uint64_t usable);
unsigned mt_sample_hit(enum segment_function fn, const void *block, uint64_t size,
                       uint64_t hits, const void *caller);

/* What a block without a trailer is: a set of BLOCK_*.  It is taken out of the table if
   it is any, and in *taken. */
unsigned mt_sample_take(const void *block, struct mt_followed *taken);

/* A sampled block is about to be freed. */
void mt_sample_freed(const void *block);

/* What was taken: it has gone, or is still there after all (then BLOCK_SAMPLED, or 0 if
   it is not followed any more). */
void mt_sample_gone(const struct mt_followed *taken);
unsigned mt_sample_keep(const void *block, const struct mt_followed *taken);

#endif
