/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When the bands of a process are read, and the reading: it costs some
 * microseconds a mapping and a MiB, for the kernel goes through all pages.
 */
#ifndef MEMTOP_BANDREADER_H
#define MEMTOP_BANDREADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/session.h"

/* Zero-filled at first. */
struct band_reader {
    bool tried;
    int64_t read_ns;   /* when it was done last */
    int64_t cost_ns;   /* how long that took */
};

/* Once a second at most and, so that it costs next to nothing, rarer the longer it
   takes: at most 2 % of the time while it is shown, 0.1 % otherwise. */
bool band_reader_due(const struct band_reader *reader, int64_t now_ns, bool shown);

/* Reads process->bands; threads tell where stacks are.  If that fails they stay as
   they were. */
void band_reader_read(struct band_reader *reader, int64_t now_ns, struct process *process,
                      const struct thread_counters *threads, size_t count);

#endif
