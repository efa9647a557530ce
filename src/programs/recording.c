/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Joins the recorder to the run: its files' names, and words for what goes
 * wrong with them.  Trouble never is the program's.
 */
#include "config.h"

#include "programs/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "programs/blockask.h"
#include "programs/output.h"
#include "programs/run.h"
#include "programs/say.h"
#include "programs/status.h"
#include "base/i18n.h"
#include "report/curve.h"
#include "base/clock.h"
#include "record/record.h"

static void
give_up(void *context, const char *path, int error)
{
    (void)context;
    output_lost(path, error);
}

/* For the picture. */
static void
follow(void *context, const struct dat_record *record)
{
    struct run *run = context;
    int64_t time_ns = (int64_t)record->time - run->started_epoch_ns;
    uint64_t x = curve_count(run->curve);

    if (run->options->time_based)
        x = time_ns > 0 ? (uint64_t)time_ns : 0;
    curve_add(run->curve, x, record->heap, record->stack);
}

/* For the report, and for those who may ask: the display, and with a trace others. */
static bool
counts_blocks(const struct options *options)
{
    return options->report.reports != 0 || options->record != NULL || !options->batch;
}

/* No time is 0; the time 0 is as good as over. */
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
    if (options->png != NULL && (run->curve = curve_new()) == NULL) {
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
    curve_free(run->curve);
    run->curve = NULL;
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
             ngettext("%" PRIu64 " call is not recorded: its thread's ring was full",
                      "%" PRIu64
                      " calls are not recorded: their threads' rings were full",
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
