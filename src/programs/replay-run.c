/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From replay_new() until the last figure is taken, nothing here may allocate: the
 * allocator under test must see only the calls of the log.
 */
#include "config.h"

#include "programs/replay-run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "replay/footprint.h"

_Static_assert(REPLAY_UNKNOWN_BYTES == FOOTPRINT_UNKNOWN, "one word for unknown");

struct replay_clock {
    const struct replay_setup *setup;
    struct footprint footprint;
};

static uint64_t
nanoseconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t
page_faults(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
}

void
replay_run_record(const struct allocator *allocator, struct replay_record *record)
{
    static const struct replay_figures none;

    memset(record, 0, sizeof *record);
    record->figures = &none;
    record->told_count = allocator_ask(allocator, record->told);
}

static void
take_record(void *context, const struct replay *replay)
{
    const struct replay_clock *run = context;
    struct replay_record record;

    allocator_note(&run->setup->allocator);
    replay_run_record(&run->setup->allocator, &record);
    record.figures = replay_figures(replay);
    record.rss = footprint_now(&run->footprint, record.figures->own_bytes);
    replay_slop(replay, &record.slop);
    if (run->setup->record != NULL)
        run->setup->record(&record);
}

static void
keep_refused(struct replay_result *result, uint64_t number, enum replay_verdict why)
{
    if (result->refused < REPLAY_REFUSED_KEPT) {
        result->kept[result->refused].number = number;
        result->kept[result->refused].why = why;
    }
    result->refused++;
}

/* Returns 0 or -errno. */
static int
replay_lines(struct replay *replay, struct input *input, struct replay_result *result)
{
    const char *text;
    size_t length;
    int got;

    for (uint64_t number = 1; (got = input_line(input, &text, &length)) > 0; number++) {
        enum replay_verdict verdict = replay_line(replay, text, length);

        if (verdict == REPLAY_NO_MEMORY)
            return -ENOMEM;
        if (verdict != REPLAY_GOOD)
            keep_refused(result, number, verdict);
    }
    replay_flush(replay);
    return got;
}

/* Returns 0 or -errno. */
static int
replay_parsed(struct replay *replay, struct input *input, struct replay_result *result)
{
    struct logalloc_line line;
    long got;

    for (uint64_t number = 1;
         (got = input_bytes(input, &line, sizeof line)) == (long)sizeof line; number++) {
        enum replay_verdict verdict = replay_call(replay, &line);

        if (verdict == REPLAY_NO_MEMORY)
            return -ENOMEM;
        if (verdict != REPLAY_GOOD)
            keep_refused(result, number, verdict);
    }
    replay_flush(replay);
    return got < 0 ? (int)got : 0;
}

static void
measure_end(const struct replay_clock *run, const struct replay *replay,
            struct replay_result *result)
{
    result->figures = *replay_figures(replay);
    result->rss_end = footprint_now(&run->footprint, result->figures.own_bytes);
    result->rss_peak = footprint_peak(&run->footprint, result->figures.own_bytes);
    if (result->rss_peak < result->rss_end && result->rss_end != REPLAY_UNKNOWN_BYTES)
        result->rss_peak = result->rss_end; /* the measured peak is less exact */
    replay_slop(replay, &result->end);
}

int
replay_run(const struct replay_setup *setup, struct replay_result *result)
{
    struct replay_clock run = {.setup = setup};
    struct replay_options options = setup->options;
    struct replay *replay;
    uint64_t wall, cpu, faults;
    int error;

    memset(result, 0, sizeof *result);
    snprintf(result->allocator, sizeof result->allocator, "%s", setup->allocator.name);
    options.stats = take_record;
    options.context = &run;
    replay = replay_new(&options);
    if (replay == NULL)
        return -ENOMEM;
    footprint_begin(&run.footprint);

    faults = page_faults();
    wall = nanoseconds(CLOCK_MONOTONIC);
    cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    error = (setup->parsed ? replay_parsed : replay_lines)(replay, setup->input, result);
    result->cpu_ns = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    result->wall_ns = nanoseconds(CLOCK_MONOTONIC) - wall;
    result->faults = page_faults() - faults;
    measure_end(&run, replay, result);
    replay_free(replay);
    return error;
}
