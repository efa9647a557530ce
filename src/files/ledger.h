/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a process's recorded calls (trace.h) have left: the figures a reader of its
 * segment would have had, but for what events do not tell (failed calls, usable sizes,
 * frees of NULL and of blocks from elsewhere).
 */
#ifndef MEMTOP_LEDGER_H
#define MEMTOP_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "segment/reader.h"
#include "files/trace.h"

struct ledger_thread {
    struct thread_counters counters; /* tid is for the caller to fill in */
    uint64_t resized;                /* the block a realloc() is about */
    uint64_t resized_size;
};

struct ledger_blocks;

struct ledger {
    struct snapshot now;             /* stack_now: of the last call */
    struct histogram *sizes;         /* NULL: not wanted */
    struct ledger_thread *threads;   /* by their numbers, those that have called */
    size_t thread_count;
    size_t thread_room;
    struct ledger_blocks *blocks;    /* NULL: events tell the sizes of what goes */
};

/* sizes_known: as trace_info.sizes_of_freed; with_sizes: also count blocks by size.
   False if memory is short; ledger_fini() is due in either case. */
bool ledger_init(struct ledger *ledger, uint64_t baseline_bytes, bool sizes_known,
                 bool with_sizes);
void ledger_fini(struct ledger *ledger);

/* An event of the process.  1: it has changed the heap, as memusage counts; 0: it has
   not; -ENOMEM. */
int ledger_take(struct ledger *ledger, const struct trace_event *event);

#endif
