/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which blocks are sampled for the sites, and what becomes of them.  While they are,
 * mt_guard.mode has MODE_SITES.
 *
 * Every word is hit with the same probability; how far it is to the next hit is known
 * beforehand, in bytes, in the thread's shard (hot.sample_left): a block between two
 * hits costs a subtraction.  A sampled block says so in its trailer; where there are
 * none its address is looked up in a table when it goes.
 */
#ifndef MEMTOP_SAMPLE_H
#define MEMTOP_SAMPLE_H

#include "preload/account.h"
#include "preload/sites.h"
#include "preload/state.h"
#include "segment/sampling.h"

static inline bool
with_sites(void)
{
    return (mt_guard.mode & MODE_SITES) != 0;
}

/* What a block is besides the program's, in its trailer. */
#define BLOCK_SAMPLED 1u
#define BLOCK_OURS    2u  /* see ours.h */

/* As the process starts: draws for it.  False: there is no memory for it. */
bool mt_sample_start(void);

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

/* The same when the thread's distance has been counted down already, and hit. */
unsigned mt_sample_hit(enum segment_function fn, const void *block, uint64_t size,
                       const void *caller);

/* What a block without a trailer is: a set of BLOCK_*.  It is taken out of the table if
   it is any, and in *taken. */
unsigned mt_sample_take(const void *block, struct mt_followed *taken);

/* A sampled block is about to be freed. */
void mt_sample_freed(const void *block);

/* What was taken: it has gone, or is still there after all (then BLOCK_SAMPLED, or 0 if
   it is not followed any more). */
void mt_sample_gone(const struct mt_followed *taken);
unsigned mt_sample_keep(const void *block, const struct mt_followed *taken);

/* Counts the block's words down; true: one of them is hit.  In an update of the shard,
   by its owner. */
static inline bool
sample_pass(struct shard *shard, uint64_t size)
{
    int64_t *left = &shard->hot.sample_left;
    int64_t span = (int64_t)sampling_span(size);

#if defined __x86_64__
    bool hit;

    __asm__ volatile("subq %2, %0" : "+m"(*left), "=@ccs"(hit) : "er"(span) : "cc");
    return hit;
#else
    __atomic_store_n(left, *left - span, __ATOMIC_RELAXED);
    return *left < 0;
#endif
}

#endif
