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

#include "preload/account.h"
#include "preload/sites/sites.h"
#include "preload/sizes.h"
#include "preload/state.h"
#include "segment/sampling.h"

static inline bool
with_sites(void)
{
    return unlikely(mt_guard.sites);
}

/* Called as the process starts: draws its first distance, unless the segment says that
   nothing is sampled (header.sites_state); then it returns false. */
bool mt_sample_start(void);

/* Called when a thread has claimed that shard and has not used it yet: draws for it.  The
   first block of the fast path reaches the limit. */
void mt_sample_claimed(unsigned index);

/* The same in a child, after mt_sites_forked(). */
bool mt_sample_inherit(void);

/* Called by our constructor: stacks can be walked from now on at the latest.  Before
   glibc 2.35 not earlier, see mt_unwind_start(). */
void mt_sample_loaded(void);

/* A call of fn made a block that is counted already: samples it if it is hit.  Returns
   BLOCK_SAMPLED if the block is followed from now on, else 0.  caller: see mt_unwind().
   Keeps errno. */
unsigned mt_sample_made(enum segment_function fn, const void *block, uint64_t size,
                        const void *caller);

/*
 * The same on the fast path, in two steps.  mt_sample_due() is called in the update in
 * which the shard's count has reached a limit: it returns how many words of the last
 * block are hit (with the rate, for mt_sample_hit()), and sets the next limit, even if
 * nothing is sampled.  mt_sample_hit() is
 * called after that update if any are.
 */
uint64_t mt_sample_due(struct shard *shard, uint64_t size, uint64_t space);
unsigned mt_sample_hit(enum segment_function fn, const void *block, uint64_t size,
                       uint64_t hits, const void *caller);

/* Returns the flags (BLOCK_*) of a block whose size is not kept.  If it has any, the
   block is taken out of the table and described in *taken. */
unsigned mt_sample_take(const void *block, struct mt_followed *taken);

/* A sampled block is about to be freed. */
void mt_sample_freed(const void *block);

/* Ends mt_sample_take(): the block is gone, or it is still there after all (returns
   BLOCK_SAMPLED, or 0 if it is no longer followed). */
void mt_sample_gone(const struct mt_followed *taken);
unsigned mt_sample_keep(const void *block, const struct mt_followed *taken);

#endif
