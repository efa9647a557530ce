/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * look SEGMENT
 *
 * Measures how long it takes to read a segment: prints a line "NAME BEST MEDIAN", in
 * milliseconds, for each of a snapshot, the list of threads and the histogram; then some
 * figures of the snapshot.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "segment/reader.h"

#define ROUNDS 51

static struct snapshot snapshot;
static struct histogram histogram;
static struct thread_counters threads[SHARD_COUNT];
static size_t thread_count;

static int
read_snapshot(struct reader *reader)
{
    return reader_snapshot(reader, &snapshot);
}

static int
read_threads(struct reader *reader)
{
    return reader_threads(reader, threads, SHARD_COUNT, &thread_count);
}

static int
read_histogram(struct reader *reader)
{
    return reader_histogram(reader, &histogram);
}

static int
compare(const void *left, const void *right)
{
    double difference = *(const double *)left - *(const double *)right;

    return (difference > 0) - (difference < 0);
}

static void
measure(const char *name, int (*body)(struct reader *), struct reader *reader)
{
    double times[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        int64_t from = clock_ns(CLOCK_MONOTONIC);
        if (body(reader) < 0)
            exit(1);
        times[i] = (double)(clock_ns(CLOCK_MONOTONIC) - from) / 1e6;
    }
    qsort(times, ROUNDS, sizeof *times, compare);
    printf("%s %.3f %.3f\n", name, times[0], times[ROUNDS / 2]);
}

int
main(int argc, char **argv)
{
    struct reader *reader;

    if (argc != 2 || reader_open(argv[1], getuid(), geteuid(), &reader) < 0)
        return 1;
    measure("snapshot", read_snapshot, reader);
    measure("threads", read_threads, reader);
    measure("histogram", read_histogram, reader);
    printf("calls %" PRIu64 "\nfrees %" PRIu64 "\nlive_bytes %" PRIu64
           "\nlive_blocks %" PRIu64 "\nthread_count %zu\nthreads_started %" PRIu64
           "\nthreads_merged %" PRIu64 "\nunmatched %" PRIu64 "\n",
           snapshot.calls[FN_MALLOC], snapshot.calls[FN_FREE], snapshot.live_bytes,
           snapshot.live_blocks, thread_count, snapshot.threads_started,
           snapshot.threads_merged, snapshot.unmatched);
    reader_close(reader);
    return 0;
}
