/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The flight recorder: the history of the whole run in fixed space (the shape
   stands in segment/layout.h). */
#ifndef MEMTOP_RECORDER_H
#define MEMTOP_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

/* Starts recording into the published segment; call once per process. */
void mt_recorder_start(void);

/* Is it time for this thread, whose shard is at sequence, to look?  Looking
   writes words that all threads share: they shall meet there some hundred
   times a second, however often they call. */
bool mt_recorder_due(uint64_t sequence);

/* Adds the thread's calls since it looked last and notes that it stands depth
   bytes deep; closes the open slot if its time is over.  O(1) amortised. */
void mt_recorder_look(uint64_t sequence, uint64_t depth);

/* Its owner closes slots; nobody waits to become it.  False: there is one. */
bool mt_recorder_take(void);
void mt_recorder_give(void);

/* By its owner: closes the open slot as one after which nothing is known, and
   closes no more; begins a new one. */
void mt_recorder_sleep(uint64_t now);
void mt_recorder_wake(uint64_t now);

#endif
