/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Figures for Prometheus.  The text is valid both as OpenMetrics and for node_exporter's
 * textfile collector and promtool.  Therefore counters have no TYPE: one format wants the
 * family's name there without "_total", the other with it.
 *
 * Every metric has the labels pid and program; names and meanings are an interface and
 * never change, new ones may be added:
 *
 *   memtop_up                      1 while the process lives, 0 once it has ended
 *   memtop_measured                1 if its calls are counted; with 0 the only further
 *                                  metric is its resident memory
 *   memtop_run_seconds             since its start
 *   memtop_resident_bytes          resident memory; absent if unknown
 *   memtop_resident_anonymous_bytes   absent if unknown
 *   memtop_heap_bytes              live: allocated and not freed
 *   memtop_heap_peak_bytes
 *   memtop_heap_usable_bytes       usable bytes of the live blocks
 *   memtop_heap_blocks             live blocks
 *   memtop_stack_peak_bytes        deepest at a call
 *   memtop_threads                 that have called and not ended
 *   memtop_allocated_bytes_total
 *   memtop_calls_total             by function, including failed ones
 *   memtop_failed_calls_total      by function
 *   memtop_unmatched_frees_total   of blocks not seen allocated
 *   memtop_children_seen_total     descendants that loaded the library; only of the
 *                                  program that memtop started
 *
 * memtop_heap_usable_bytes and all below it are written only for a process with counters.
 */
#ifndef MEMTOP_METRICS_H
#define MEMTOP_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "monitor/session.h"

/* What is known about a process. */
struct metrics_process {
    pid_t pid;
    const char *program;      /* any bytes */
    bool running;
    bool measured;
    int64_t run_ns;
    uint64_t rss, rss_anon;   /* 0: unknown */
    uint64_t heap, heap_peak; /* if measured */
    const struct snapshot *counters; /* or NULL */
    bool children_known;
    unsigned children_seen;
};

/* Writes the whole text, up to "# EOF".  Returns false if writing failed. */
bool report_metrics(FILE *out, const struct metrics_process *processes, size_t count);

#endif
