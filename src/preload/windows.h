/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of the segment that are mapped when they are needed: shards, in windows, and
 * the events of each ring.  A process that maps all of a sparse file at its start would
 * reach its limit of addresses sooner, and could not lock its memory.
 */
#ifndef MEMTOP_WINDOWS_H
#define MEMTOP_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>

#include "preload/state.h"

/* Shards are mapped so many at a time.  Large enough for few mappings, small enough for
   programs that lock all their memory: the kernel then fills whatever is mapped. */
#define WINDOW_SHARDS 4u
#define WINDOW_SIZE   ((size_t)WINDOW_SHARDS * SHARD_SIZE)

/* Each NULL until it is mapped. */
HIDDEN extern unsigned char *mt_windows[SHARD_COUNT / WINDOW_SHARDS];

/* A shard whose window is mapped: one that has ever been claimed, and the first ones. */
static inline struct shard *
mt_shard(unsigned index)
{
    return (struct shard *)(void *)(mt_windows[index / WINDOW_SHARDS]
                                    + (size_t)(index % WINDOW_SHARDS) * SHARD_SIZE);
}

/* The events of each ring; NULL until they are mapped. */
HIDDEN extern unsigned char *mt_ring_pieces[];

/* Where the events of a shard's ring begin; NULL if there are no rings. */
static inline struct event *
mt_ring_events(unsigned index)
{
    return (struct event *)(void *)mt_ring_pieces[index];
}

/* For a process that has just mapped its segment: the pieces mapped with it. */
void mt_windows_start(unsigned char *shards, unsigned char *events);

/* Maps a shard and, if there are rings, its ring, unless they are; false if the kernel
   refuses it.  Any thread may call it, and a signal handler.  Call it only while system
   calls are allowed. */
bool mt_window_map(unsigned shard);

/* Where to map size bytes of the library's own, as a hint for mmap(): far from where the
   kernel puts the program's mappings, so that these can grow in place as they would
   without the library. */
void *mt_far_place(size_t size);

/* For a forked child: unmaps what mt_window_map() has mapped. */
void mt_windows_unmap(void);

#endif
