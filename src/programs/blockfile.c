/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reports by block size from a file of recorded calls.
 *
 * Usually one pass over the file is enough.  Steps of only the most frequent sizes need
 * two: the first pass finds these sizes, the second one keeps their steps.
 */
#include "config.h"

#include "programs/blockreports.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "programs/output.h"
#include "programs/say.h"
#include "programs/status.h"
#include "programs/tracefile.h"
#include "base/i18n.h"
#include "system/library.h"
#include "report/blockplot.h"
#include "base/textwidth.h"
#include "files/trace.h"

#define AT_ONCE   4096 /* events per read */
#define AHEAD     6    /* events between announcing a call and taking it */
#define TOP_DRAWN 8

/* State and result of one pass over the file. */
struct pass {
    const struct blockreports_file *file;
    enum report_view view;
    struct trace *trace;
    enum file_kind kind;
    int status; /* exit status; 0 until something fails */
    struct blocksizes *blocks;
    struct blocklog *log;
    uint64_t pid;        /* of the process to report */
    bool all;
    bool *chosen;        /* for each process of the trace: is it reported? */
    uint32_t known;      /* number of elements in chosen */
    struct ended {
        uint32_t process;
        uint64_t time_ns;
    /* Ended processes; their blocks are gone if another event follows. */
    } ended[64];
    unsigned ended_count;
    uint32_t others;     /* number of images that are not reported */
    bool at_given;
    uint64_t at_ns;      /* events after this time do not count; one of them sets
                            `over` */
    bool over;
};

/* ---- which processes ---- */

static bool
know_processes(struct pass *pass)
{
    const struct trace_info *about = trace_about(pass->trace);
    const char *wanted = pass->file->options->process;
    bool *chosen;

    if (pass->known == about->processes)
        return true;
    chosen = reallocarray(pass->chosen, about->processes, sizeof *chosen);
    if (chosen == NULL)
        return false;
    pass->chosen = chosen;
    if (pass->known == 0) {
        pass->all = wanted != NULL && strcmp(wanted, "all") == 0;
        pass->pid = wanted != NULL && !pass->all ? strtoull(wanted, NULL, 10)
                                                 : about->process[0].pid;
    }
    for (; pass->known < about->processes; pass->known++) {
        chosen[pass->known] = pass->all || about->process[pass->known].pid == pass->pid;
        pass->others += !chosen[pass->known];
    }
    return true;
}

/* ---- events ---- */

/* The kind of an event in the view that is reported: for the pool as if malloc had been
   called.  UINT8_MAX: not in it. */
static uint8_t
kind_in_view(const struct pass *pass, uint8_t kind)
{
    if (pass->view != REPORT_VIEW_POOL)
        return kind;
    return kind == EVENT_CUSTOM_MADE    ? FN_MALLOC
           : kind == EVENT_CUSTOM_FREED ? FN_FREE
                                        : UINT8_MAX;
}

static struct block_call
call_of(const struct pass *pass, const struct trace_event *event)
{
    return (struct block_call){.time_ns = event->time_ns,
                               .address = event->address,
                               .size = event->size,
                               .process = event->process,
                               .thread = event->thread,
                               .kind = kind_in_view(pass, event->kind)};
}

static void
forget_ended(struct pass *pass)
{
    for (unsigned i = 0; i < pass->ended_count; i++)
        blocksizes_forget(pass->blocks, pass->ended[i].process, pass->ended[i].time_ns);
    pass->ended_count = 0;
}

/* Blocks that are live at the end of a process stay, unless another event follows.
   But if all processes are reported, blocks of ended children go at once, as when
   recording. */
static void
note_end(struct pass *pass, const struct trace_event *event)
{
    const struct trace_process *process = trace_about(pass->trace)->process;

    if (pass->all && process[event->process].pid != process[0].pid) {
        blocksizes_forget(pass->blocks, event->process, event->time_ns);
        return;
    }
    if (pass->ended_count == sizeof pass->ended / sizeof *pass->ended)
        forget_ended(pass);
    pass->ended[pass->ended_count++] = (struct ended){event->process, event->time_ns};
}

static bool
take(struct pass *pass, const struct trace_event *event)
{
    const struct block_call call = call_of(pass, event);

    if (!pass->chosen[event->process])
        return true;
    if (event->kind == TRACE_BEGAN && pass->view != REPORT_VIEW_POOL)
        blocksizes_begin(pass->blocks, event->size);
    if (event->kind == TRACE_ENDED) {
        note_end(pass, event);
        return true;
    }
    if (pass->ended_count > 0)
        forget_ended(pass);
    return call.kind >= TRACE_LOST || blocksizes_call(pass->blocks, &call);
}

/* Announces the next calls, so that the tables of addresses and sizes can be
   prefetched. */
static void
announce(const struct pass *pass, const struct trace_event *events, long count)
{
    struct block_call call;

    if (count > 2 * AHEAD) {
        call = call_of(pass, &events[2 * AHEAD]);
        blocksizes_expect(pass->blocks, &call);
    }
    if (count > AHEAD) {
        call = call_of(pass, &events[AHEAD]);
        blocksizes_expect_soon(pass->blocks, &call);
    }
}

static bool
take_events(struct pass *pass, const struct trace_event *events, long count)
{
    for (long i = 0; i < count; i++) {
        if (pass->at_given && events[i].time_ns > pass->at_ns) {
            pass->over = true;
            return true;
        }
        announce(pass, events + i, count - i);
        if (!take(pass, &events[i]))
            return false;
    }
    return true;
}

/* Sets the time of --at.  In a log without times --at must be the number of an event; if
   it is not, reports that and returns false. */
static bool
take_moment(struct pass *pass)
{
    const struct report_options *options = pass->file->options;
    char *end;

    pass->at_given = options->at_given;
    pass->at_ns = options->at_ns;
    if (!pass->at_given || trace_about(pass->trace)->has_time)
        return true;
    errno = 0;
    pass->at_ns = strtoull(options->at, &end, 10);
    if (*end == '\0' && errno == 0)
        return true;
    say(_("%s has no times: --at takes the number of an event"), pass->file->path);
    return false;
}

/* Returns 0 or -errno. */
static int
read_all(struct pass *pass)
{
    static struct trace_event events[AT_ONCE];
    long got = 0;

    while (!pass->over && (got = trace_read(pass->trace, events, AT_ONCE)) > 0)
        if (!know_processes(pass) || !take_events(pass, events, got))
            return -ENOMEM;
    if (pass->over)
        blocksizes_pass(pass->blocks, pass->at_ns);
    return got < 0 ? (int)got : 0;
}

static int
open_pass(struct pass *pass, const struct blockparams *params,
          const struct trace_progress *progress)
{
    int error = trace_open_any(pass->file->path, progress, &pass->kind, &pass->trace);

    if (error != 0)
        return error;
    pass->blocks = blockreports_new(pass->file->options, params,
                                    trace_about(pass->trace)->has_time);
    if (pass->blocks == NULL)
        return -ENOMEM;
    if (pass->log != NULL)
        blocksizes_set_watch(pass->blocks, blocklog_watch, pass->log);
    return 0;
}

static void
close_pass(struct pass *pass)
{
    blocksizes_free(pass->blocks);
    blocklog_free(pass->log);
    trace_close(pass->trace);
    free(pass->chosen);
}

/* ---- passes ---- */

/* Makes one pass over the file.  Reports an error and returns false on failure. */
static bool
run_pass(struct pass *pass, const struct blockparams *params)
{
    const char *path = pass->file->path;
    struct progress progress;
    const struct trace_progress shown = {progress_tell, &progress};
    int error;

    progress_begin(&progress, path);
    error = open_pass(pass, params, &shown);
    if (error == 0 && !take_moment(pass)) {
        pass->status = status_of(STATUS_USAGE);
        return false;
    }
    if (error == 0)
        error = read_all(pass);
    progress_end(&progress);
    if (error == 0)
        return true;
    tracefile_say_error(path, error, pass->kind, USE_CALLS);
    pass->status = status_of(STATUS_INPUT);
    return false;
}

/* Returns whether steps are needed. *top: the most sizes they are needed of, 0 for no
   limit. *some: they are needed of some sizes only. */
static bool
wants_steps(const struct blockreports_file *file, const struct blockparams *params,
            unsigned *top, bool *some)
{
    const struct report_options *options = file->options;
    bool log = params->reports & BLOCK_LOG && options->format == REPORT_TEXT;

    *top = options->top == 0 && file->picture != NULL && !log ? TOP_DRAWN : options->top;
    *some = *top > 0 || options->size_count > 0;
    return log || file->picture != NULL;
}

static bool
keep_steps(struct pass *pass, const struct blockparams *params)
{
    const char *directory = blockreports_directory(pass->file->options, params);
    struct blockparams kept = *params;
    int error;

    if (pass->file->picture != NULL && !(params->reports & BLOCK_LOG))
        kept.group = pass->file->options->compat && params->group;
    error = blocklog_new(directory, &kept, &pass->log);
    if (error == -EACCES || error == -EROFS || error == -ENOENT)
        /* Later writing the log itself will report the error. */
        error = blocklog_new("/tmp", &kept, &pass->log);
    if (error != 0)
        output_lost(directory, error);
    return error == 0;
}

static bool
gather(struct pass *pass, const struct blockparams *params)
{
    const struct blockreports_file *file = pass->file;
    unsigned top;
    bool some, steps = wants_steps(file, params, &top, &some);
    bool twice = steps && some && !tracefile_is_stream(file->path);
    struct pass second = {.file = file, .view = pass->view};
    uint32_t *chosen;
    size_t count;

    if (steps && !twice && !keep_steps(pass, params))
        return false;
    if (!run_pass(pass, params))
        return false;
    if (!twice)
        return true;
    chosen = blockreports_choose(file->options, pass->blocks, top, &count);
    if (chosen == NULL || !keep_steps(&second, params)) {
        free(chosen);
        return false;
    }
    blocklog_choose(second.log, chosen, count);
    free(chosen);
    close_pass(pass);
    *pass = second;
    return run_pass(pass, params);
}

/* ---- writing reports ---- */

static void
say_oddities(const struct pass *pass)
{
    const char *path = pass->file->path;

    tracefile_say_oddities(path, trace_about(pass->trace));
    if (pass->others > 0 && pass->file->options->process == NULL)
        say(_("%s holds other processes too: --process=all reports them together"), path);
    if (pass->others == pass->known && pass->known > 0)
        say(_("%s has no process %s"), path, pass->file->options->process);
}

/* The name of the program that is reported, or else of the file. */
static const char *
caption_of(const struct pass *pass, char *text, size_t size)
{
    const struct trace_info *about = trace_about(pass->trace);
    const char *program = NULL;

    for (uint32_t i = 0; i < pass->known; i++)
        if (pass->chosen[i] && about->process[i].program != NULL) {
            program = about->process[i].program;
            if (pass->all)
                break;
        }
    if (program == NULL)
        program = pass->file->path;
    snprintf(text, size, "%s", program);
    return text;
}

static void
name_of(const struct pass *pass, const char *caption, char *name, size_t size)
{
    char copy[PATH_MAX];

    if (pass->file->options->compat) {
        snprintf(name, size, "%s", "ascMemStatReport");
        return;
    }
    snprintf(copy, sizeof copy, "%s", caption);
    snprintf(name, size, "%.200s%s", basename(copy),
             pass->view == REPORT_VIEW_POOL ? "-pool" : "");
}

static bool
draw(const struct pass *pass, const char *caption)
{
    const struct blockreports_file *file = pass->file;
    struct library_search module;
    const struct blockplot_options options = {
        .module = library_find_module("memtop-png.so", &module) ? module.path : NULL,
        .title = file->title != NULL ? file->title : caption,
        .width = file->width,
        .height = file->height,
        .counts = file->options->top > 0 ? file->options->top : TOP_DRAWN,
    };
    char error[1024];
    bool written = blockplot_write(pass->blocks, pass->log, &options, file->picture,
                                   error, sizeof error);

    if (*error != '\0')
        say("%s", error);
    return written;
}

static enum reported
worse(enum reported one, enum reported other)
{
    return one > other ? one : other;
}

/* The exit status for the outcome. */
static int
status_after(const struct pass *pass, enum reported reported)
{
    if (reported == NOT_REPORTED)
        return pass->status != 0 ? pass->status : status_of(STATUS_FAILED);
    if (reported == REPORTED_ALONE)
        return status_of(STATUS_OUTPUT);
    return trace_about(pass->trace)->refused > 0 ? status_of(STATUS_REFUSED) : 0;
}

/* Reports one view.  Sets *status if it was 0. */
static enum reported
report_view(const struct blockreports_file *file, const struct blockparams *params,
            enum report_view view, FILE *out, int *status)
{
    struct pass pass = {.file = file, .view = view};
    char caption[PATH_MAX], name[256];
    enum reported reported = gather(&pass, params) ? REPORTED : NOT_REPORTED;

    if (reported == REPORTED) {
        say_oddities(&pass);
        name_of(&pass, caption_of(&pass, caption, sizeof caption), name, sizeof name);
        const struct blockreports reports = {
            .options = file->options,
            .params = params,
            .blocks = pass.blocks,
            .log = pass.log,
            .caption = caption,
            .log_name = name,
            .pool = view == REPORT_VIEW_POOL,
            .runs = pass.over,
            .out = out,
        };
        if (out != NULL)
            reported = blockreports_write(&reports);
        if (file->picture != NULL && !draw(&pass, caption))
            reported = worse(reported, REPORTED_ALONE);
    }
    if (*status == 0)
        *status = status_after(&pass, reported);
    close_pass(&pass);
    return reported;
}

static enum reported
report_views(const struct blockreports_file *file, const struct blockparams *params,
             FILE *out, int *status)
{
    enum report_view view = file->options->view;
    enum reported of_malloc;

    if (view != REPORT_VIEW_BOTH)
        return report_view(file, params, view, out, status);
    if (tracefile_is_stream(file->path)) {
        say(_("%s cannot be read twice: use --blocks=malloc or --blocks=pool"),
            file->path);
        *status = status_of(STATUS_USAGE);
        return NOT_REPORTED;
    }
    of_malloc = report_view(file, params, REPORT_VIEW_MALLOC, out, status);
    if (of_malloc == NOT_REPORTED)
        return of_malloc;
    if (out != NULL)
        blockreports_part(file->options, out);
    return worse(of_malloc, report_view(file, params, REPORT_VIEW_POOL, out, status));
}

static enum reported
report_to(const struct blockreports_file *file, const struct blockparams *params,
          int *status)
{
    const char *name = file->output != NULL ? file->output : "-";
    struct output output = {.file = NULL};
    enum reported reported;
    int error = output_open(&output, name);

    if (error != 0) {
        output_lost(name, error);
        *status = status_of(STATUS_OUTPUT);
        return NOT_REPORTED;
    }
    reported = report_views(file, params, output.file, status);
    output_check(&output, !ferror(output.file));
    if (reported == NOT_REPORTED && output.created)
        output_discard(&output);
    else
        output_close(&output);
    if (*status == 0 && output.failed)
        *status = status_of(STATUS_OUTPUT);
    return reported;
}

int
blockreports_file(const struct blockreports_file *file)
{
    struct blockparams params;
    enum reported reported;
    bool created;
    int status = report_params(file->options, &params);

    if (status != 0)
        return status;
    if (!blockreports_params(file->options, &params, &created))
        return status_of(STATUS_OUTPUT);
    if (file->options->reports == 0 && file->picture != NULL) {
        params.reports = 0;
        reported = report_views(file, &params, NULL, &status);
    } else {
        reported = report_to(file, &params, &status);
    }
    if (reported == NOT_REPORTED && created)
        unlink(file->options->params_out);
    return status;
}

struct blocksizes *
blockreports_read(const char *path)
{
    const struct report_options options = {.reports = BLOCK_OVERVIEW};
    const struct blockreports_file file = {.options = &options, .path = path};
    struct pass pass = {.file = &file};
    struct blocksizes *blocks = NULL;
    struct blockparams params;

    blockparams_default(&params);
    if (!tracefile_is_stream(path) && open_pass(&pass, &params, NULL) == 0
        && read_all(&pass) == 0) {
        blocks = pass.blocks;
        pass.blocks = NULL;
    }
    close_pass(&pass);
    return blocks;
}
