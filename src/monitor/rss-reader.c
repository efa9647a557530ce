/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Combines what the kernel says with what the counters said in the same poll.
 */
#include "config.h"

#include "monitor/rss-reader.h"

#include <time.h>

#include "monitor/rss-breakdown.h"
#include "base/clock.h"
#include "segment/names.h"

#define SECOND_NS INT64_C(1000000000)

/* Reciprocals of the share of time that readings may take. */
#define SHOWN_TIMES  50
#define HIDDEN_TIMES 1000

bool
rss_reader_due(const struct rss_reader *reader, int64_t now_ns, bool shown)
{
    int64_t spacing = reader->cost_ns * (shown ? SHOWN_TIMES : HIDDEN_TIMES);

    if (spacing < SECOND_NS)
        spacing = SECOND_NS;
    return !reader->tried || now_ns - reader->read_ns >= spacing;
}

void
rss_reader_read(struct rss_reader *reader, int64_t now_ns, struct process *process,
                 const struct thread_counters *threads, size_t count)
{
    int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
    uint64_t pointers[THREADS_MAX];
    struct smaps_hints hints = {.stacks = pointers};
    struct resident resident = {0};
    char segment[24];

    for (size_t i = 0; i < count && i < THREADS_MAX; i++)
        pointers[hints.stack_count++] = threads[i].stack_base;
    segment_name(segment, process->identity.pid, process->identity.generation);
    hints.threads = process->os.threads;
    if (process->measured)
        hints.segment = segment;
    procfs_stack_limit(process->pid, &hints.stack_size);
    if (procfs_resident(process->pid, &hints, &resident) == 0)
        rss_divide(&resident, process, &process->breakdown);
    reader->tried = true;
    reader->read_ns = now_ns;
    reader->cost_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
}
