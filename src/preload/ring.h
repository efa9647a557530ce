/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events (segment/layout.h): only if asked for at the start, which shows as
 * mt_guard.mode having MODE_EVENTS set.
 */
#ifndef MEMTOP_RING_H
#define MEMTOP_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "segment/layout.h"

/*
 * Writes an event into the calling thread's ring.  Whoever frees calls this
 * before the real free, whoever allocates after: so an address is never seen
 * handed out twice.  A full ring is waited for, a second at most, or the event
 * counts as lost.  Keeps errno.
 */
void mt_event(unsigned kind, const void *address, uint64_t size);

/*
 * mt_count_made() and mt_count_freed() (account.h) together with the event, in
 * one update of the shard if nothing is in the way.
 */
void mt_event_made(enum segment_function fn, const void *block, uint64_t size,
                   uint64_t usable);
void mt_event_freed(const void *block, uint64_t size, uint64_t usable);

/* Once a process that is to write events, when its segment is mapped. */
void mt_ring_start(void);

/* Makes the ring of a shard present; false if there is no room. */
bool mt_ring_present(unsigned index);

/* The clock of events; choose it first, in each process: true if it counts TSC
   ticks, else it is CLOCK_MONOTONIC. */
bool mt_ticks_choose(void);
uint64_t mt_ticks(void);

#endif
