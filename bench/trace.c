/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace FILE
 *
 * Measures how fast a trace is read and written again (to /dev/null): prints "EVENTS READ
 * WRITTEN".  The rates are in million events a second of processor time, in the best
 * round.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "files/native.h"
#include "files/trace.h"

#define ROUNDS  7
#define AT_ONCE 4096u

static struct trace_event *events;
static size_t count, room;

/* Reads the whole trace; keeps the events the first time. */
static int64_t
read_all(const char *path, bool keep)
{
    static struct trace_event batch[AT_ONCE];
    int64_t from = clock_ns(CLOCK_PROCESS_CPUTIME_ID), ns;
    struct trace *trace;
    long got;

    if (trace_open(path, NULL, &trace) != 0)
        exit(1);
    while ((got = trace_read(trace, batch, AT_ONCE)) > 0) {
        if (!keep)
            continue;
        if (count + (size_t)got > room)
            events = reallocarray(events, room = room * 2 + AT_ONCE, sizeof *events);
        if (events == NULL)
            exit(1);
        memcpy(events + count, batch, (size_t)got * sizeof *events);
        count += (size_t)got;
    }
    ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - from;
    trace_close(trace);
    return ns;
}

/* Writes the events as those of one process that has enough threads. */
static int64_t
write_all(void)
{
    const struct trace_process process = {.pid = 1};
    int64_t from = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    struct native_writer *writer;

    if (native_create("/dev/null", false, 0, &writer) != 0)
        exit(1);
    native_process(writer, &process);
    for (size_t i = 0; i < count; i += AT_ONCE)
        native_events(writer, 0, events + i, count - i < AT_ONCE ? count - i : AT_ONCE);
    native_close(writer, events[count - 1].time_ns);
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID) - from;
}

int
main(int argc, char **argv)
{
    int64_t reading = INT64_MAX, writing = INT64_MAX;

    if (argc != 2)
        return 2;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t ns = read_all(argv[1], i == 0);

        if (i > 0 && ns < reading) /* the first round copies the events, too */
            reading = ns;
    }
    if (count == 0)
        return 1;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t ns = write_all();

        if (ns < writing)
            writing = ns;
    }
    printf("%zu %.1f %.1f\n", count, (double)count * 1e3 / (double)reading,
           (double)count * 1e3 / (double)writing);
    return 0;
}
