/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Computes the figures of a process from its recorded calls (trace.h): those that a
 * reader of its segment would have had, except what events do not contain (failed calls,
 * usable sizes, frees of NULL and of blocks from elsewhere).
 */
#ifndef MEMTOP_LEDGER_H
#define MEMTOP_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "segment/reader.h"
#include "files/trace.h"

struct ledger_thread {
    struct thread_counters counters; /* the caller sets tid */
    uint64_t resized;                /* block of a realloc() that is not finished */
    uint64_t resized_size;
};

struct ledger_blocks;

struct ledger {
    struct snapshot now;             /* stack_now: at the last call */
    struct histogram *sizes;         /* NULL: not wanted */
    struct ledger_thread *threads;   /* by number, for those that have called */
    size_t thread_count;
    size_t thread_room;
    struct ledger_blocks *blocks;    /* NULL: events have the sizes of freed blocks */
};

/* sizes_known: see trace_info.sizes_of_freed. with_sizes: also count blocks by size.
   Returns false if memory is short; call ledger_fini() in either case. */
bool ledger_init(struct ledger *ledger, uint64_t baseline_bytes, bool sizes_known,
                 bool with_sizes);
void ledger_fini(struct ledger *ledger);

/* Takes an event of the process.  Returns 1 if it changed the heap, as memusage counts
   changes; 0 if not; -ENOMEM. */
int ledger_take(struct ledger *ledger, const struct trace_event *event);

#endif
