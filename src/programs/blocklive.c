/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts block sizes while the program runs.  The report is on the program, one child or
 * all processes; only for these the steps of the log are kept.  The display can show any
 * process, so all processes are counted for it.
 */
#include "config.h"

#include "programs/blocklive.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "programs/blockask.h"
#include "programs/blockreports.h"
#include "programs/output.h"
#include "programs/run.h"
#include "programs/say.h"
#include "programs/status.h"
#include "base/i18n.h"
#include "report/blockreport.h"

/* The pid of the process to report; 0 for all. */
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

/* The default name of the log file. */
static void
name_log(const struct run *run, bool compat, enum record_blocks which, char *name,
         size_t size)
{
    char program[PATH_MAX];

    snprintf(program, sizeof program, "%s", run->options->program[0]);
    snprintf(name, size, "%.200s%s", compat ? "ascMemStatReport" : basename(program),
             which == RECORD_BLOCKS_POOL ? "-pool" : "");
}

static bool
open_log(struct run *run, enum record_blocks which)
{
    const struct report_options *options = &run->options->report;
    char name[256], path[PATH_MAX];
    const struct blocklog_files files = {
        .params = &run->blocks.params,
        .directory = blockreports_directory(options, &run->blocks.params),
        .name = options->log_name != NULL ? options->log_name : name,
    };
    int error;

    name_log(run, options->compat, which, name, sizeof name);
    snprintf(path, sizeof path, "%s", files.directory);
    error = blocklog_new(files.directory, &run->blocks.params, &run->blocks.log[which]);
    if (error == 0)
        error = blocklog_check(&files, path, sizeof path);
    if (error != 0)
        output_lost(path, error);
    return error == 0;
}

static bool
open_logs(struct run *run)
{
    const enum report_view view = run->options->report.view;

    if (!wants_log(run))
        return true;
    return (view == REPORT_VIEW_POOL || open_log(run, RECORD_BLOCKS_MALLOC))
           && (view == REPORT_VIEW_MALLOC || open_log(run, RECORD_BLOCKS_POOL));
}

int
blocklive_open(struct run *run)
{
    const struct report_options *options = &run->options->report;
    int status = report_params(options, &run->blocks.params);

    run->blocks.listener = -1;
    if (status != 0)
        return status;
    if (!open_logs(run)
        || !blockreports_params(options, &run->blocks.params,
                                &run->blocks.params_created))
        return status_of(STATUS_OUTPUT);
    run->blocks.listener = blockask_listen();
    return 0;
}

void
blocklive_discard(struct run *run)
{
    if (run->blocks.params_created)
        unlink(run->options->report.params_out);
    blocklive_close(run);
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
    char name[256];
    bool written;

    /* The process has called nothing. */
    if (blocks == NULL) {
        blockreport_counts(params, options->compat, &counts);
        blocks = empty = blocksizes_new(&counts, 1);
        if (empty == NULL)
            return false;
    }
    name_log(run, options->compat, which, name, sizeof name);
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
