/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The flight recorder: the history of the whole run in fixed space (the shape
   stands in segment/layout.h). */
#ifndef MEMTOP_RECORDER_H
#define MEMTOP_RECORDER_H

#include <stdint.h>

/* Starts recording into the published segment; call once per process. */
void mt_recorder_start(void);

/* A thread made that many more calls (it tells every 64th) and stands depth
   bytes deep: closes the open slot if its time is over.  O(1) amortised. */
void mt_recorder_look(unsigned calls, uint64_t depth);

#endif
