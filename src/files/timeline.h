/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Heap and stack of a run whose length is not known in advance: slots of equal length,
   which is doubled whenever they do not suffice.  Peaks are kept. */
#ifndef MEMTOP_TIMELINE_H
#define MEMTOP_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/history.h"

#define TIMELINE_SLOTS 8192u

struct timeline_slot {
    uint64_t heap_max, heap_last, stack_max, stack_last;
    uint64_t calls;
};

struct timeline {
    uint64_t slot_ns;
    size_t count;       /* the last of them is open */
    struct timeline_slot slots[TIMELINE_SLOTS];
};

void timeline_init(struct timeline *timeline);

/* Moves on to a time, which must not be earlier than the last.  Returns true if a slot
   was closed. */
bool timeline_reach(struct timeline *timeline, uint64_t time_ns);

/* Sets heap and stack at this time. called: this is after a call. */
void timeline_set(struct timeline *timeline, uint64_t heap, uint64_t stack, bool called);

/* Makes a history up to end_ns. rates: calls per second are known; stack: depths are
   known.  The caller frees it.  Returns NULL if memory is short. */
struct history *timeline_history(const struct timeline *timeline, uint64_t end_ns,
                                 bool rates, bool stack);

#endif
