/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Heap and stack over a recorded run, call by call, in bounded memory: slots of equal
 * width, which doubles whenever they do not suffice.  No peak is lost.  A living
 * process is sampled at uneven times, and its newest samples are to stay exact: for that
 * there is monitor/history.h; checkpoints.h keeps whole readings, which cannot be merged.
 */
#ifndef MEMTOP_TIMELINE_H
#define MEMTOP_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/history.h"

enum timeline_line { TIMELINE_HEAP, TIMELINE_STACK, TIMELINE_TOTAL, TIMELINE_LINES };

/* Many enough for any picture. */
#define TIMELINE_SLOTS 32768u

struct timeline_slot {
    bool known; /* false: everything stayed as it was */
    uint64_t max[TIMELINE_LINES], last[TIMELINE_LINES];
    uint64_t calls;
};

struct timeline {
    size_t count, most; /* slots begun; the last of them is open */
    uint64_t width;     /* of a slot, in the units of x */
    uint64_t calls;
    uint64_t peak[TIMELINE_LINES], peak_x[TIMELINE_LINES];
    struct timeline_slot slots[];
};

/* Makes a timeline of at most that many slots, which have this width at first.  Returns
   NULL if memory is short. */
struct timeline *timeline_new(size_t most, uint64_t width);
void timeline_free(struct timeline *timeline);

/* Goes on to x, the number or time of a call, which is never less than that of the call
   before.  Returns true if a slot was closed. */
bool timeline_reach(struct timeline *timeline, uint64_t x);

/* Goes on to x; then heap and stack are like this.  called: after a call that counts. */
void timeline_add(struct timeline *timeline, uint64_t x, uint64_t heap, uint64_t stack,
                  bool called);

/* The highest value of a line and its x; false if there is no call. */
bool timeline_peak(const struct timeline *timeline, enum timeline_line line,
                   uint64_t *value, uint64_t *x);

/* Divides 0..end into count columns.  Between calls the values stay as the last one left
   them. */
void timeline_columns(const struct timeline *timeline, enum timeline_line line,
                      uint64_t end, struct column *columns, size_t count);

/* Makes a history of it all, until end_ns, if x is a time in ns.  Its first sample, that
   of the first call, begins at 0.  rates: calls a second mean something; stack: it is
   known.  Returns NULL if memory is short. */
struct history *timeline_history(const struct timeline *timeline, uint64_t end_ns,
                                 bool rates, bool stack);

#endif
