/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Connects the recorder with the run: names its files, and reports what goes wrong with
 * them.  Such failures never affect the program.
 */
#include "config.h"

#include "programs/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "programs/blockask.h"
#include "programs/output.h"
#include "programs/say.h"
#include "programs/status.h"
#include "base/i18n.h"
#include "monitor/timeline.h"
#include "base/clock.h"
#include "record/record.h"

static void
give_up(void *context, const char *path, int error)
{
    (void)context;
    output_lost(path, error);
}

/* Adds a record to the picture. */
static void
follow(void *context, const struct dat_record *record)
{
    struct run *run = context;
    int64_t time_ns = (int64_t)record->time - run->started_epoch_ns;
    uint64_t x = run->timeline->calls;

    if (run->options->time_based)
        x = time_ns > 0 ? (uint64_t)time_ns : 0;
    timeline_add(run->timeline, x, record->heap, record->stack, true);
}

/* Are blocks counted by size?  They are for a report, for the display, and for requests
   while a trace is recorded. */
static bool
counts_blocks(const struct options *options)
{
    return options->report.reports != 0 || options->record != NULL || !options->batch;
}

/* 0 means no limit, so a requested limit of 0 becomes 1 ns. */
static uint64_t
blocks_until(const struct report_options *options)
{
    if (!options->at_given)
        return 0;
    return options->at_ns > 0 ? options->at_ns : 1;
}

int
recording_open(struct run *run)
{
    const struct options *options = run->options;
    const struct record_options wanted = {
        .path = options->data,
        .trace = options->record,
        .replace = options->as_memusage,
        .buffered = options->buffered,
        .watch = options->png != NULL ? follow : NULL,
        .failed = give_up,
        .blocks = counts_blocks(options) ? blocklive_make : NULL,
        .blocks_until_ns = blocks_until(&options->report),
        .context = run,
    };

    if (!options_record(options))
        return 0;
    if (counts_blocks(options)) {
        int status = blocklive_open(run);

        if (status != 0)
            return status;
    }
    if (options->png != NULL
        && (run->timeline = timeline_new(TIMELINE_SLOTS, 1)) == NULL) {
        output_lost(options->png, -ENOMEM);
        return status_of(STATUS_OUTPUT);
    }
    return record_new(&wanted, &run->record) == 0 ? 0 : status_of(STATUS_OUTPUT);
}

void
recording_start(struct run *run)
{
    run->started_epoch_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC)
                            + run->launched.started_ns;
    if (run->record != NULL)
        record_start(run->record, &run->launched, session_tree(run->session));
}

void
recording_discard(struct run *run)
{
    record_free(run->record, true);
    run->record = NULL;
    blocklive_discard(run);
    timeline_free(run->timeline);
    run->timeline = NULL;
}

int64_t
recording_work(void *context)
{
    struct run *run = context;

    if (run->record == NULL)
        return INT64_MAX;
    blockask_serve(run);
    return record_poll(run->record);
}

void
recording_finish(struct run *run)
{
    char text[256];
    uint64_t lost;

    if (run->record == NULL || run->recorded)
        return;
    run->recorded = true;
    record_finish(run->record, session_process(run->session)->ended);
    lost = record_lost(run->record);
    if (lost == 0)
        return;
    snprintf(text, sizeof text,
             ngettext("%" PRIu64 " call was not recorded: the ring of its thread was "
                      "full",
                      "%" PRIu64 " calls were not recorded: the rings of their threads "
                      "were full",
                      plural(lost)),
             lost);
    (run->options->drop ? say : output_lost_as)("%s", text);
}

void
recording_free(struct run *run)
{
    record_free(run->record, false);
    run->record = NULL;
    blocklive_close(run);
}
