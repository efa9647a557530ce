/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The course of a run of a length nobody knows before: slots of equal length, which
   doubles whenever they do not suffice.  Peaks stay. */
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

/* Goes on to a time, which is never earlier than the last.  True if a slot was
   closed. */
bool timeline_reach(struct timeline *timeline, uint64_t time_ns);

/* Then heap and stack are like this; called: after a call. */
void timeline_set(struct timeline *timeline, uint64_t heap, uint64_t stack, bool called);

/* A history of it all, until end_ns; what is known beside the heap: rates, calls a
   second mean something; stack.  NULL if memory is short. */
struct history *timeline_history(const struct timeline *timeline, uint64_t end_ns,
                                 bool rates, bool stack);

#endif
