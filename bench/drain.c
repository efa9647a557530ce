/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * drain THREADS [FILE]
 *
 * Measures how fast full rings are emptied: prints "BEST MEDIAN" million events a second.
 * The events have the sizes and the order of real ones.  With FILE each event becomes a
 * record of that data file.  The rings are in a segment in MEMTOP_DIR; this program fills
 * them itself, outside the measured time.
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "segment/drain.h"
#include "segment/names.h"
#include "files/dat.h"

#define ROUNDS 200
#define CAPACITY RING_CAPACITY_DEFAULT

static unsigned char *segment;
static unsigned threads;
static struct dat_writer *file;
static struct dat_record record;
static uint64_t taken, ticks;

static struct ring *
ring(unsigned index)
{
    return (struct ring *)(void *)(segment + RINGS_OFFSET) + index;
}

static struct event *
event(unsigned index, uint64_t number)
{
    return (struct event *)(void *)(segment + EVENTS_OFFSET) + (size_t)index * CAPACITY
           + number % CAPACITY;
}

/* Fills half of each ring, as memtop finds rings: the threads take turns of some tens of
   events. */
static void
fill(void)
{
    for (unsigned i = 0; i < CAPACITY / 2; i++)
        for (unsigned thread = 1; thread <= threads; thread++)
            *event(thread, ring(thread)->head + i) = (struct event){
                .ticks = ticks + (i / 32 * threads + thread) * 32 + i % 32,
                .address = 0x5555000 + i * 64,
                .size = 64,
                .depth = 200,
                .kind = i % 2 == 0 ? FN_MALLOC : FN_FREE,
            };
    for (unsigned thread = 1; thread <= threads; thread++)
        ring(thread)->head += CAPACITY / 2;
    ticks += (uint64_t)CAPACITY / 2 * threads + 64 * threads;
}

static void
take(void *context, const struct drained *events, size_t count)
{
    (void)context;
    taken += count;
    if (file == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        record.heap += events[i].kind == FN_FREE ? -events[i].size : events[i].size;
        record.stack = events[i].depth;
        record.time = events[i].time_ns;
        dat_write(file, &record);
    }
}

static int
compare(const void *left, const void *right)
{
    double difference = *(const double *)right - *(const double *)left;

    return (difference > 0) - (difference < 0);
}

/* Creates the segment as if threads had claimed their shards.  Returns its path. */
static const char *
make_segment(void)
{
    static char path[SEGMENT_PATH_MAX + 32];
    char name[24];
    uint32_t generation;
    int directory = segment_directory(getenv("MEMTOP_DIR"), NULL, path);
    int fd = directory < 0 ? -1
                           : segment_create(directory, getpid(), threads + 1, CAPACITY,
                                            false, &generation);

    if (fd < 0)
        return NULL;
    segment_name(name, getpid(), generation);
    strcat(strcat(path, "/"), name);
    segment = mmap(NULL, segment_size(CAPACITY, false), PROT_READ | PROT_WRITE,
                   MAP_SHARED, fd, 0);
    if (segment == MAP_FAILED)
        return NULL;
    struct segment_header *header = (void *)segment;
    segment_header_init(header, CAPACITY, false);
    header->pid = (uint32_t)getpid();
    header->state = SEGMENT_ACTIVE;
    header->accounting = ACCOUNTING_REQUESTED;
    ((struct segment_process *)(void *)(segment + PROCESS_OFFSET))->shards_used =
        threads + 1;
    for (unsigned i = 0; i <= threads; i++)
        ((uint32_t *)(void *)(segment + DIRECTORY_OFFSET))[i] = i == 0 ? SHARD_FREE
                                                                      : SHARD_OWNED;
    close(fd);
    close(directory);
    return path;
}

static bool
measure(const char *path, double rates[ROUNDS])
{
    struct drain *drain;

    if (drain_open(path, getuid(), geteuid(), &drain) < 0)
        return false;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t before = taken;
        fill();
        int64_t from = clock_ns(CLOCK_MONOTONIC);
        if (drain_round(drain, false, take, NULL) < 0)
            return false;
        int64_t ns = clock_ns(CLOCK_MONOTONIC) - from;
        if (taken - before != (uint64_t)CAPACITY / 2 * threads)
            return false;
        rates[i] = (double)(taken - before) * 1e3 / (double)ns;
    }
    drain_close(drain);
    return true;
}

int
main(int argc, char **argv)
{
    static double rates[ROUNDS];
    const char *path;
    bool good;

    threads = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    if (threads < 1 || threads >= 64)
        return 2;
    if (argc > 2 && dat_create(argv[2], true, 0, DAT_BUFFER_MAX, &file) != 0)
        return 1;
    path = make_segment();
    if (path == NULL)
        return 1;
    good = measure(path, rates);
    unlink(path);
    if (file != NULL)
        dat_close(file, 1);
    if (!good)
        return 1;
    qsort(rates, ROUNDS, sizeof *rates, compare);
    printf("%.1f %.1f\n", rates[0], rates[ROUNDS / 2]);
    return 0;
}
