/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When to save a snapshot of its own accord.  A condition is parsed once and
 * looked at after every poll; it keeps what it must remember.
 *
 *   heap>SIZE          the heap is above SIZE
 *   stack>SIZE         the stack is
 *   growth>SIZE/TIME   the heap is more than SIZE above what it was a TIME
 *                      (s, min, h) ago, or at the start if that is later
 *   peak               the heap has a new peak, a tenth above the one for which
 *                      this came true before; once a minute at most, and not in
 *                      the first second
 *   exit               the program has ended
 *   signal             memtop got SIGUSR1
 *
 * The first three come true once a crossing: again only after the value was
 * seen below nine tenths of the limit.
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

/* Values of the past, enough of them for a window of any length. */
#define CONDITION_PAST 64

struct condition {
    enum condition_kind kind;
    const char *text;      /* as given; borrowed */
    uint64_t limit;        /* bytes; of the first three kinds */
    int64_t window_ns;     /* of growth */

    /* What it remembers. */
    unsigned generation;   /* of the program's images; 0 before the first look */
    bool above;            /* has come true and waits for the way back */
    uint64_t peak;         /* the last one seen; of CONDITION_PEAK: saved */
    int64_t true_ns;       /* when it came true last, or 0; of CONDITION_PEAK */
    size_t oldest, count;  /* the ring of the past */
    struct {
        int64_t time_ns;
        uint64_t heap;
    } past[CONDITION_PAST];
};

/* False for what is no condition. */
bool condition_parse(const char *text, struct condition *condition);

/* Whether it comes true with this reading; asked: SIGUSR1 has come.  Of a
   program that is not measured only exit and signal do. */
bool condition_look(struct condition *condition, const struct process *process,
                    bool asked);

#endif
