/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of the segment that are mapped when they are needed: shards, in windows, and
 * the events of each ring.  A process that maps all of a sparse file at its start would
 * reach its limit of addresses sooner, and could not lock its memory.
 */
#ifndef MEMTOP_WINDOWS_H
#define MEMTOP_WINDOWS_H

#include <stdbool.h>

/* The events of each ring; NULL until they are mapped. */
extern unsigned char *mt_ring_pieces[] __attribute__((visibility("hidden")));

/* For a process that has just mapped its segment: the pieces mapped with it. */
void mt_windows_start(unsigned char *shards, unsigned char *events);

/* Maps a shard and, if there are rings, its ring, unless they are; false if the kernel
   refuses it.  Any thread may call it, and a signal handler.  Call it only while system
   calls are allowed. */
bool mt_window_map(unsigned shard);

/* For a forked child: unmaps what mt_window_map() has mapped. */
void mt_windows_unmap(void);

#endif
