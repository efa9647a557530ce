/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When to save a snapshot automatically.  A condition is parsed once and checked after
 * every poll; it keeps the state it needs.
 *
 *   heap>SIZE          the heap is above SIZE
 *   stack>SIZE         the stack is above SIZE
 *   growth>SIZE/TIME   the heap is more than SIZE above what it was a TIME (s, min, h)
 *                      ago, or at the start if that is later
 *   peak               the heap has a new peak, a tenth above the one for which this came
 *                      true before; at most once a minute, and not in the first second
 *   exit               the program has ended
 *   signal             memtop got SIGUSR1
 *
 * The first three come true once per crossing: they can come true again only after the
 * value was seen below nine tenths of the limit.
 */
#ifndef MEMTOP_CONDITION_H
#define MEMTOP_CONDITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/session.h"

enum condition_kind {
    CONDITION_HEAP,
    CONDITION_STACK,
    CONDITION_GROWTH,
    CONDITION_PEAK,
    CONDITION_EXIT,
    CONDITION_SIGNAL
};

/* Number of past values, enough for a window of any length. */
#define CONDITION_PAST 64

struct condition {
    enum condition_kind kind;
    const char *text;      /* as given; borrowed */
    uint64_t limit;        /* bytes; used by the first three kinds */
    int64_t window_ns;     /* used by growth */

    /* State from here on. */
    unsigned generation;   /* number of the program's image; 0: never looked at */
    bool above;            /* it has come true and waits until the value falls again */
    uint64_t peak;         /* the last one seen; for CONDITION_PEAK: the last one saved */
    int64_t true_ns;       /* for CONDITION_PEAK: when it last came true; 0: never */
    size_t oldest, count;  /* of the ring `past` */
    struct {
        int64_t time_ns;
        uint64_t heap;
    } past[CONDITION_PAST];
};

/* Parses text; returns false if it is not a condition. */
bool condition_parse(const char *text, struct condition *condition);

/* Does the condition come true with this reading? asked: SIGUSR1 has arrived.  If the
   program is not measured, only exit and signal can come true. */
bool condition_look(struct condition *condition, const struct process *process,
                    bool asked);

#endif
