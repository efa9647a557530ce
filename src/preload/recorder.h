/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The flight recorder: the history of the whole run in fixed space (layout in
   segment/layout.h). */
#ifndef MEMTOP_RECORDER_H
#define MEMTOP_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

struct shard;

/* Starts recording into the published segment; call once per process. */
void mt_recorder_start(void);

/* Gives the recorder its first page, if there is memory for it.  Call it before the
   process counts. */
void mt_recorder_ready(void);

/* Is it time for this thread, whose shard that is, to look?  Looking writes words
   that all threads share, so each thread does it only some hundred times a second,
   however often it calls. */
bool mt_recorder_due(const struct shard *shard);

/* Adds the thread's calls since its last look, notes that its stack is depth bytes deep,
   and closes the open slot if its time is over.  O(1) amortised. */
void mt_recorder_look(const struct shard *shard, uint64_t depth);

/* The owner of the recorder closes slots; nobody waits to become it.  take returns false
   if there is an owner already. */
bool mt_recorder_take(void);
void mt_recorder_give(void);

/* Gives the recorder back if this thread owned it in a call that it has left. */
void mt_recorder_left(void);

/* Called before the program shuts itself in, after which the recorder can be given no
   more memory: gives it all that it may need. */
void mt_recorder_complete(void);

/* For the owner: sleep closes the open slot as the last known one and closes no more;
   wake begins a new one. */
void mt_recorder_sleep(uint64_t now);
void mt_recorder_wake(uint64_t now);

#endif
