/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is reported is the program, a child, or all processes; steps for the log are
 * kept of that alone.  The display shows any process, so with it all are counted.
 */
#include "config.h"

#include "app/blocklive.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/blockask.h"
#include "app/blockreports.h"
#include "app/run.h"
#include "app/say.h"
#include "i18n.h"
#include "report/blockreport.h"

/* The process that is reported: its pid, 0 for all. */
static pid_t
reported(const struct run *run, const struct report_options *options)
{
    if (options->process == NULL)
        return run->launched.pid;
    return strcmp(options->process, "all") == 0 ? 0 : (pid_t)atol(options->process);
}

static bool
wants_log(const struct run *run)
{
    const struct report_options *options = &run->options->report;

    return options->reports != 0 && run->blocks.params.reports & BLOCK_LOG
           && options->format == REPORT_TEXT;
}

static int
open_logs(struct run *run)
{
    const struct report_options *options = &run->options->report;
    const char *directory = blockreports_directory(options, &run->blocks.params);
    int error = 0;

    if (wants_log(run) && options->view != REPORT_VIEW_POOL)
        error = blocklog_new(directory, &run->blocks.params,
                             &run->blocks.log[RECORD_BLOCKS_MALLOC]);
    if (error == 0 && wants_log(run) && options->view != REPORT_VIEW_MALLOC)
        error = blocklog_new(directory, &run->blocks.params,
                             &run->blocks.log[RECORD_BLOCKS_POOL]);
    if (error != 0)
        say(_("cannot write %s: %s"), directory, strerror(-error));
    return error == 0 ? 0 : EXIT_MEMTOP;
}

int
blocklive_open(struct run *run)
{
    const struct report_options *options = &run->options->report;

    run->blocks.listener = -1;
    if (!report_params(options, &run->blocks.params)
        || !blockreports_params(options, &run->blocks.params))
        return EXIT_MEMTOP;
    run->blocks.listener = blockask_listen();
    return open_logs(run);
}

struct blocksizes *
blocklive_make(void *context, pid_t pid, enum record_blocks which)
{
    struct run *run = context;
    const struct report_options *options = &run->options->report;
    bool report = pid == reported(run, options);
    struct blocksizes *blocks;

    if (pid == 0 && !report)
        return NULL;
    blocks = blockreports_new(options, &run->blocks.params, true);
    if (blocks != NULL && report && run->blocks.log[which] != NULL)
        blocksizes_set_watch(blocks, blocklog_watch, run->blocks.log[which]);
    return blocks;
}

const struct blocksizes *
blocklive_of(void *context, pid_t pid, uint64_t *now_ns)
{
    const struct run *run = context;

    if (now_ns != NULL)
        *now_ns = run->record != NULL ? record_blocks_now(run->record, pid) : 0;
    return run->record != NULL ? record_blocks(run->record, pid, RECORD_BLOCKS_MALLOC)
                               : run->read_blocks;
}

/* ---- writing ---- */

static bool
write_view(const struct run *run, const struct report_options *options,
           const struct blockparams *params, pid_t pid, enum record_blocks which,
           FILE *out)
{
    const struct blocksizes *blocks = record_blocks(run->record, pid, which);
    struct counts counts;
    struct blocksizes *empty = NULL;
    char program[PATH_MAX], name[256];
    bool written;

    if (blocks == NULL) { /* it called nothing */
        blockreport_counts(params, options->compat, &counts);
        blocks = empty = blocksizes_new(&counts, 1);
        if (empty == NULL)
            return false;
    }
    snprintf(program, sizeof program, "%s", run->options->program[0]);
    snprintf(name, sizeof name, "%.200s%s",
             options->compat ? "ascMemStatReport" : basename(program),
             which == RECORD_BLOCKS_POOL ? "-pool" : "");
    const struct blockreports reports = {
        .options = options,
        .params = params,
        .blocks = blocks,
        .log = options == &run->options->report ? run->blocks.log[which] : NULL,
        .caption = run->options->program[0],
        .log_name = name,
        .pool = which == RECORD_BLOCKS_POOL,
        .runs = !session_process(run->session)->ended || options->at_given,
        .out = out,
    };
    written = blockreports_write(&reports) == REPORTED;
    blocksizes_free(empty);
    return written;
}

bool
blocklive_write(const struct run *run, const struct report_options *options,
                const struct blockparams *params, pid_t pid, FILE *out)
{
    bool written = true;

    if (pid == 0)
        pid = reported(run, options);
    if (options->view != REPORT_VIEW_POOL)
        written = write_view(run, options, params, pid, RECORD_BLOCKS_MALLOC, out);
    if (options->view == REPORT_VIEW_BOTH)
        blockreports_part(options, out);
    if (options->view != REPORT_VIEW_MALLOC)
        written =
            write_view(run, options, params, pid, RECORD_BLOCKS_POOL, out) && written;
    return written;
}

void
blocklive_report(struct run *run)
{
    if (run->record != NULL && run->options->report.reports != 0)
        blocklive_write(run, &run->options->report, &run->blocks.params, 0,
                        run->output.file);
}

void
blocklive_close(struct run *run)
{
    for (int i = 0; i < RECORD_BLOCKS; i++) {
        blocklog_free(run->blocks.log[i]);
        run->blocks.log[i] = NULL;
    }
    if (run->blocks.listener >= 0)
        close(run->blocks.listener);
    run->blocks.listener = -1;
}
