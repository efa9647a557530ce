/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides when to read a process's RSS breakdown, and reads it.  A reading costs some
 * microseconds per mapping and per MiB, because the kernel goes through all pages.
 */
#ifndef MEMTOP_RSS_READER_H
#define MEMTOP_RSS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/session.h"

/* All zeros at first. */
struct rss_reader {
    bool tried;
    int64_t read_ns;   /* when it was last read */
    int64_t cost_ns;   /* how long that took */
};

/* Is a reading due?  Once a second at most, and less often the longer it takes, so that
   readings use at most 2 % of the time while the breakdown is shown, 0.1 % otherwise. */
bool rss_reader_due(const struct rss_reader *reader, int64_t now_ns, bool shown);

/* Reads process->bands; threads say where the stacks are.  On failure the old breakdown
   stays. */
void rss_reader_read(struct rss_reader *reader, int64_t now_ns, struct process *process,
                      const struct thread_counters *threads, size_t count);

#endif
