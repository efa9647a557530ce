/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which thread owns which shard. */
#ifndef MEMTOP_SHARD_H
#define MEMTOP_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/state.h"
#include "preload/windows.h"

/* Called once per process, before threads can end: makes the key that tells of their
   end. */
void mt_shard_install(void);

/* Makes shard 0 present, for a process that begins to count; false if there is no
   memory. */
bool mt_shards_begin(void);

/* Gives the calling thread a shard, or marks it as sharing shard 0. */
void mt_shard_claim(void);

/* Has a shard ever counted?  Only then is it mapped and present. */
static inline bool
mt_shard_counts(unsigned index)
{
    uint32_t state = __atomic_load_n(&mt_segment.directory[index], __ATOMIC_ACQUIRE);

    return state == SHARD_FREE || state == SHARD_OWNED;
}

/* The index of the shard that the thread owns, or 0. */
static inline unsigned
mt_own_shard(void)
{
    return mt_thread.state == THREAD_COUNTED
               ? mt_thread.ring_place / (unsigned)sizeof(struct ring)
               : 0;
}

/* The shard in which the thread counts with atomic operations: that of its group if no
   shard was free for it, otherwise shard 0. */
static inline struct shard *
mt_shared_shard(void)
{
    bool in_group = mt_thread.state == THREAD_SHARED;

    return mt_shard(in_group ? mt_thread.ring_place / (unsigned)sizeof(struct ring) : 0);
}

/* The thread's own shard, or the stand-in if it has none. */
static inline struct shard *
mt_counted_in(void)
{
    unsigned index = mt_own_shard();

    return index != 0 ? mt_shard(index) : MT_NO_SHARD;
}

/* Tries to copy another thread's hot block (segment/live.h): enough unless that thread
   does nothing but allocate. */
#define MT_COPY_TRIES 16
/* Is this a signal handler with a stack of its own?  True as well if that is not known.
   Asks the kernel. */
bool mt_on_signal_stack(void);

/* Is this depth, which is beyond the known limit, within a limit raised meanwhile? */
bool mt_stack_grew(uint64_t depth);

#endif
