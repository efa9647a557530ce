/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tables of sampled blocks (segment/sites-layout.h), as the process writes them:
 * any thread at any time, nobody waits, what finds no room is counted as lost.
 */
#ifndef MEMTOP_PRELOAD_SITES_H
#define MEMTOP_PRELOAD_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/state.h"
#include "segment/sites-layout.h"

/* A block that is followed, or was a moment ago. */
struct mt_followed {
    uint64_t size;
    uint64_t born_ns;
    uint64_t samples;
    uint32_t site;
    uint32_t thread;
    uint32_t function;
    bool ours;       /* nothing but this is known of it: see ours.h */
};

/* Makes ready what lies beside the segment, then begins to fill the segment's tables.
   False: there is no memory; nothing is sampled. */
bool mt_sites_start(double rate, unsigned depth);

/* Says in the segment who walks the stacks. */
void mt_sites_unwinder(enum site_unwinder unwinder);

/* In a child: its tables begin with what was live when it was forked.  parent is still
   mapped.  False: there was no room, and the child does not sample. */
bool mt_sites_inherit(const struct mt_segment *parent);

/* Follows a block that was just made; sampled is all but site.  False: no room. */
bool mt_sites_made(const void *block, const struct mt_followed *sampled,
                   const void *const *frames, size_t depth, bool walked);

/* Takes a block out of the tables that is about to go: false if it is not there. */
bool mt_sites_take(const void *block, struct mt_followed *taken);

/* Ends what mt_sites_take() began: the block is gone; or it is still there. */
void mt_sites_gone(const struct mt_followed *taken, uint64_t now);
bool mt_sites_keep(const void *block, const struct mt_followed *taken);

/* A block was marked as sampled, but not found. */
void mt_sites_missed(void);

/* A block that is not the program's; false: no room. */
bool mt_sites_mark_ours(const void *block);

/* A dormant process wakes: what was live before is not followed any more. */
void mt_sites_forget(void);

#endif
