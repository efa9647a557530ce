/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One run of memtop.  The order matters: everything that can fail in memtop is tried
 * before the program starts, and nothing after that stops it.
 */
#include "config.h"

#include "programs/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "programs/exports.h"
#include "programs/metrics.h"
#include "programs/names.h"
#include "programs/open.h"
#include "programs/attach.h"
#include "programs/blockreports.h"
#include "programs/budget.h"
#include "programs/say.h"
#include "programs/status.h"
#include "base/i18n.h"
#include "system/library.h"
#include "monitor/saved.h"
#include "monitor/together.h"
#include "monitor/tracked.h"
#include "files/archive.h"
#include "report/json.h"
#include "report/plot.h"
#include "report/png.h"
#include "report/site-report.h"
#include "report/summary.h"
#include "base/textwidth.h"
#include "base/clock.h"
#include "segment/names.h"

/* Says before the program's first output whether it can be measured. */
static void
announce(const struct preflight *preflight)
{
    char reason[2 * PATH_MAX];

    preflight_message(preflight, reason, sizeof reason);
    if (preflight->verdict == PREFLIGHT_NOT_OBSERVED)
        /* TRANSLATORS: %s is a sentence, such as "./prog is statically linked". */
        say(_("%s: it runs, but is not measured"), reason);
    else if (preflight->verdict == PREFLIGHT_PARTLY)
        say(_("%s: only calls of the C library's malloc are measured"), reason);
    else if (reason[0] != '\0')
        say("%s", reason);
}

/* If MEMTOP_DIR cannot be used, segments go elsewhere, where the user would not look for
   them. */
static void
check_directory(void)
{
    const char *directory = getenv("MEMTOP_DIR");
    int error = segment_directory_refused(directory);

    if (error != 0)
        /* TRANSLATORS: the second is the reason, such as "No such file or directory". */
        say(_("MEMTOP_DIR=%s cannot be used: %s"), directory,
            error == -EINVAL        ? _("it is not an absolute path")
            : error == -EMEDIUMTYPE ? _("it is not on a memory file system")
            : error == -EPERM ? _("it is not a private directory of yours (mode 0700)")
                              : strerror(-error));
}

static int
check_program(struct run *run)
{
    preflight_check(run->options->program[0], getenv("PATH"), &run->preflight);
    announce(&run->preflight);
    return preflight_exit_status(&run->preflight);
}

/* If error is not 0, reports it and returns false. */
static bool
can_write(const char *name, int error)
{
    if (error != 0)
        output_lost(name, error);
    return error == 0;
}

static const char *
png_module(struct library_search *search)
{
    return library_find_module("memtop-png.so", search) ? search->path : NULL;
}

static bool
check_picture(const struct options *options)
{
    char name[PATH_MAX], why[1024];
    struct library_search search;
    int error;

    options_png_name(options->png, name, sizeof name);
    if (!png_usable(png_module(&search), why, sizeof why)) {
        output_lost_as("%s", why);
        return false;
    }
    error = output_check_new(name);
    if (options->as_memusage && error == -EEXIST) /* memusage replaces the file */
        error = access(name, W_OK) == 0 || errno == ENOENT ? 0 : -errno;
    return can_write(name, error);
}

/* Checks, as far as possible now, whether the files can be written at the end. */
static bool
check_later(const struct options *options)
{
    if (options->save != NULL
        && !can_write(options->save, output_check_new(options->save)))
        return false;
    if (options->png != NULL && !check_picture(options))
        return false;
    if (!exports_check(options->sites.exports, options->sites.export_count))
        return false;
    if (options->snapshots > 0
        && !can_write(".", access(".", W_OK | X_OK) == 0 ? 0 : -errno))
        return false;
    return options->metrics == NULL
           || can_write(options->metrics, metrics_check(options->metrics));
}

static int
check_output(struct run *run)
{
    const struct options *options = run->options;

    if (!can_write(options->output, output_open(&run->output, options->output)))
        return status_of(STATUS_OUTPUT);
    if (check_later(options))
        return 0;
    output_discard(&run->output);
    return status_of(STATUS_OUTPUT);
}

/* Opens a file instead of running a program. */
static int
read_file(struct run *run)
{
    int status = check_output(run);

    if (status != 0)
        return status;
    run->session = open_session(
        run->options->read, run->options->sites.export_count > 0 ? USE_SITES : USE_SHOW);
    if (run->session == NULL) {
        output_discard(&run->output);
        return status_of(STATUS_INPUT);
    }
    run->read_blocks = blockreports_read(run->options->read);
    run->mark = (struct tui_mark){session_saved(run->session)->marked,
                                  session_saved(run->session)->mark};
    return 0;
}

/* Opens a session on a running process, which is only watched. */
static int
attach(struct run *run)
{
    const struct session_options options = {0};
    pid_t pid = attach_find(run->options->attach);
    int status = pid < 0 ? status_of(STATUS_FAILED) : check_output(run);

    if (status != 0)
        return status;
    run->session = session_new(&options);
    if (run->session == NULL)
        say("%s", strerror(ENOMEM));
    if (run->session == NULL || attach_session(run->session, pid) != 0) {
        output_discard(&run->output);
        return status_of(STATUS_FAILED);
    }
    run->launched.pid = pid;
    run->launched.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    run->launched.started_ns = clock_ns(CLOCK_MONOTONIC);
    return 0;
}

static void
discard_files(struct run *run)
{
    output_discard(&run->output);
    recording_discard(run);
    textlog_discard(&run->log);
}

int
run_check(struct run *run, const struct options *options)
{
    int status;

    *run = (struct run){.options = options,
                        .output = {.file = stderr},
                        .launched = {.pidfd = -1, .pty = -1},
                        .blocks = {.listener = -1}};
    if (options->read != NULL)
        return read_file(run);
    if (options->attach != NULL)
        return attach(run);
    if (options->program == NULL)
        return 0;
    status = check_program(run);
    if (status == 0)
        check_directory();
    if (status == 0)
        status = check_output(run);
    if (status != 0)
        return status;
    status = recording_open(run);
    if (status == 0)
        status = textlog_open(&run->log, options->log);
    if (status != 0)
        discard_files(run);
    return status;
}

/* Returns the library's path, "" to run without it.  Reports an error and returns NULL
   if it is missing. */
static const char *
choose_library(const struct run *run, struct library_search *search)
{
    if (!run->preflight.preload)
        return "";
    if (run->options->library != NULL)
        setenv("MEMTOP_LIBRARY", run->options->library, 1);
    if (library_find(search))
        return search->path;
    say(_("cannot find libmemtop.so (searched: %s)"), search->searched);
    return NULL;
}

static int
launch_failed(struct run *run, int error, const char *stage)
{
    if (strcmp(stage, "exec") != 0) {
        say(_("cannot start %s: %s: %s"), run->options->program[0], stage,
            strerror(-error));
        return status_of(STATUS_FAILED);
    }
    say(_("cannot run %s: %s"), run->options->program[0], strerror(-error));
    return status_of(error == -ENOENT ? STATUS_MISSING : STATUS_CANNOT);
}

/* Are sampled allocation sites saved or exported at the end? */
static bool
wants_sites(const struct options *options)
{
    return options->save != NULL || options->sites.export_count > 0;
}

/* Number of allocation sites in the report. */
static unsigned
sites_reported(const struct options *options)
{
    if (options->sites.top_given)
        return options->sites.top;
    if (sites_off(&options->sites))
        return 0;
    return options->sites.rate != NULL || sites_choice(&options->sites) != NULL
               ? SITE_REPORT_TOP
               : 0;
}

static struct judge_options
judged(const struct run *run)
{
    return (struct judge_options){
        .budget = &run->options->budget,
        .only = run->options->progname,
        .unit = run->options->si ? UNIT_AUTO + UNIT_SI : UNIT_AUTO,
    };
}

bool (*run_open_source)(const char *name, struct session_source *out);

/* script: a file of scripted readings (run_open_source), or NULL. */
static struct session *
new_session(const char *script)
{
    struct session_source source;
    const struct session_options options = {.source = script != NULL ? &source : NULL};

    return script == NULL || run_open_source(script, &source) ? session_new(&options)
                                                              : NULL;
}

static int
watch(struct run *run)
{
    const struct judge_options limits = judged(run);

    if (run->session == NULL)
        run->session = new_session(run->options->script);
    int error = run->session == NULL ? -ENOMEM
                : run->options->program == NULL
                    ? 0
                    : session_watch(run->session, &run->launched);
    if (error == 0 && run->options->program != NULL
        && !judge_prepare(run->session, &limits))
        error = -ENOMEM;
    if (error == 0 && run->options->save != NULL
        && (!session_keep_checkpoints(run->session)
            || !session_keep_processes(run->session)))
        error = -ENOMEM;
    if (error == 0 && (wants_sites(run->options) || sites_reported(run->options) > 0)
        && !session_keep_profile(run->session))
        error = -ENOMEM;
    if (error == 0) {
        trigger_init(&run->trigger, run->session, run->options->snapshot_when,
                     run->options->snapshots, run->options->exec,
                     run->options->si ? UNIT_AUTO + UNIT_SI : UNIT_AUTO, &run->displayed);
        return 0;
    }
    say(_("cannot watch %s: %s"),
        run->options->program != NULL ? run->options->program[0] : "-", strerror(-error));
    return status_of(STATUS_FAILED);
}

int
run_start(struct run *run, int rows, int cols)
{
    char words[128];
    const char *stage;
    struct library_search search;

    if (run->options->program == NULL)
        return watch(run);
    const char *library = choose_library(run, &search);
    if (library == NULL) {
        discard_files(run);
        return status_of(STATUS_FAILED);
    }
    options_words(run->options, words, sizeof words);
    const struct launch_options options = {
        .argv = run->options->program,
        .library = library[0] != '\0' ? library : NULL,
        .memtop_options = words,
        .progname = run->options->progname,
        .log = run->log.target[0] != '\0' ? run->log.target : NULL,
        .ring_capacity = options_record(run->options) ? RING_CAPACITY_DEFAULT : 0,
        .sites = options_sites(run->options),
        .capture = rows > 0,
        .rows = rows,
        .cols = cols,
    };
    int error = launch_program(&options, &run->launched, &stage);
    if (error != 0) {
        discard_files(run);
        return launch_failed(run, error, stage);
    }
    if (run->preflight.verdict == PREFLIGHT_NOT_OBSERVED)
        preflight_message(&run->preflight, run->launched.why_no_segment,
                          sizeof run->launched.why_no_segment);
    error = watch(run);
    if (error != 0)
        return error;
    recording_start(run);
    textlog_start(&run->log, session_tree(run->session));
    return 0;
}

void
run_say_left(const struct run *run)
{
    say(_("%s is left running as process %ld"), run->options->program[0],
        (long)run->launched.pid);
}

static void
write_picture(const struct run *run)
{
    const struct options *options = run->options;
    const struct plot_record record = {
        .timeline = run->timeline,
        .axis = options->time_based ? PLOT_AXIS_TIME : PLOT_AXIS_CALLS,
        .end = run->timeline == NULL ? 0
               : options->time_based ? (uint64_t)session_process(run->session)->run_ns
                                     : run->timeline->calls,
        .total = options->draw_total,
    };
    const struct plot_options wanted = {
        .width = options->png_width,
        .height = options->png_height,
        .title = options->title,
        .unit = options->si ? UNIT_AUTO + UNIT_SI : UNIT_AUTO,
        .record = record.end > 0 && run->timeline->calls > 0 ? &record : NULL,
    };
    char name[PATH_MAX], error[1024];
    struct library_search search;
    const char *module = png_module(&search);
    struct plot *plot;

    options_png_name(options->png, name, sizeof name);
    png_speak(module);
    plot = plot_new(session_process(run->session), session_history(run->session),
                    session_command(run->session), &wanted);
    png_spoken();
    if (plot == NULL)
        output_lost(name, -ENOMEM);
    else if (!png_write(plot, module, name, options->as_memusage, error, sizeof error))
        output_lost_as("%s", error);
    else if (*error != '\0')
        say("%s", error);
    plot_free(plot);
}

static void
report_child(void *context, const struct process *child)
{
    const struct run *run = context;
    FILE *out = run->output.file;
    char name[2 * SEGMENT_PROGRAM_LEN];

    if (session_process(run->session)->children_seen > 1)
        /* TRANSLATORS: before the report of one of several programs. */
        fprintf(out, _("%s, process %ld:\n"),
                text_sanitise(name, sizeof name, child->identity.program,
                              strlen(child->identity.program)),
                (long)child->pid);
    report_summary(out, child,
                   options_colour(run->options, output_descriptor(&run->output)));
}

static void
name_other(void *context, struct session *session, const struct tracked *tracked)
{
    const struct run *run = context;

    names_find(session, tracked, run->options->sites.debuginfod);
}

/* Makes the report on the sites of all processes, in a copy of the root; of the root
   alone if no other has any, or against its mark. */
static struct site_report
sites_report(struct run *run)
{
    const struct options *options = run->options;
    const struct together how = {.name = name_other, .context = run};
    static struct tracked all;
    struct site_report report = {.tracked = session_root(run->session),
                                 .choice = sites_choice(&options->sites),
                                 .top = sites_reported(options),
                                 .unit =
                                     options->si ? UNIT_AUTO + UNIT_SI : UNIT_AUTO,
                                 .servers_asked = options->sites.debuginfod};

    if (report.top == 0 || options->sites.choice.mode == PROFILE_SINCE)
        return report;
    all = *report.tracked;
    all.profile = together_profile(run->session, &how, &report.processes);
    if (all.profile != NULL)
        report.tracked = &all;
    else
        report.processes = 1;
    return report;
}

static void
end_report(const struct run *run, const struct site_report *report)
{
    if (report->tracked != session_root(run->session))
        profile_free(report->tracked->profile);
}

/* Writes memusage's report on the program, or on those of its children that -n names. */
static void
report_text(struct run *run, const struct process *process)
{
    FILE *out = run->output.file;

    if (run->options->quiet || run->looked)
        return;
    if (judge_left_out(process, run->options->progname) && process->children_seen > 0) {
        session_each_child(run->session, report_child, run);
        return;
    }
    report_summary(out, process,
                   options_colour(run->options, output_descriptor(&run->output)));
    const struct site_report sites = sites_report(run);
    report_sites(out, &sites);
    end_report(run, &sites);
}

static bool
report_json(struct run *run, const struct process *process)
{
    const struct site_report sites = sites_report(run);
    FILE *out = run->output.file;
    bool written = report_json_sites(out, &sites);

    end_report(run, &sites);
    if (!written)
        return false;
    return run->options->attach != NULL && !process->ended
               ? report_json_snapshot(out, process)
               : report_json_exit(out, process);
}

/* Finds the names for the sites in the report. */
static void
find_reported_names(struct run *run)
{
    if (sites_reported(run->options) == 0 || run->options->quiet || run->looked)
        return;
    names_find(run->session, session_root(run->session), run->options->sites.debuginfod);
}

void
run_save(struct run *run, const struct capture *capture)
{
    const struct saved *saved = session_saved(run->session);
    const struct archive archive = {
        .session = run->session,
        .capture = saved != NULL ? saved->capture : capture,
        .mark = run->mark.set ? &run->mark.process : NULL,
        .interval_ns = saved != NULL ? saved->interval_ns : run->options->interval_ns,
        .name = name_other,
        .context = run,
    };
    const struct sites_options *sites = &run->options->sites;

    if (!wants_sites(run->options))
        return;
    session_show(run->session, session_process(run->session)->pid);
    names_find(run->session, session_root(run->session), sites->debuginfod);
    if (run->options->save != NULL) {
        int error = archive_save(&archive, run->options->save);
        if (error != 0)
            output_lost(run->options->save, error);
    }
    const struct exports exports = {run->session, &sites->choice, name_other, run};
    exports_write(&exports, sites->exports, sites->export_count);
}

void
run_report(struct run *run)
{
    const struct process *process = session_process(run->session);

    recording_finish(run);
    if (judge_left_out(process, run->options->progname) && process->ended
        && process->children_seen == 0)
        say(_("no program called %s was run"), run->options->progname);
    find_reported_names(run);
    output_keep(&run->output);
    if (run->options->format == FORMAT_JSON)
        output_check(&run->output, report_json(run, process));
    else
        report_text(run, process);
    blocklive_report(run);
    output_close(&run->output);
    if (run->options->png != NULL)
        write_picture(run);
}

bool
run_has_work(const struct run *run)
{
    return run->record != NULL || judge_polls(&run->options->budget);
}

int64_t
run_work(void *context)
{
    struct run *run = context;
    int64_t record_ns = recording_work(run);
    int64_t judge_ns = judge_poll(run->session, &run->options->budget);

    return record_ns < judge_ns ? record_ns : judge_ns;
}

int
run_finish(struct run *run)
{
    const struct process *process = session_process(run->session);
    bool ran = process->ended && session_saved(run->session) == NULL;
    int status = ran ? launch_exit_status(process->wait_status) : 0;
    const struct judge_options limits = judged(run);
    int verdict = judge_budget(run->session, &limits);

    recording_finish(run);
    textlog_finish(&run->log);
    output_close(&run->output);
    if (status == 0 && (!output_whole() || run->metrics_failed))
        status = status_of(STATUS_OUTPUT);
    if (status == 0)
        status = verdict;
    names_end();
    recording_free(run);
    blocksizes_free(run->read_blocks);
    run->read_blocks = NULL;
    session_free(run->session);
    run->session = NULL;
    timeline_free(run->timeline);
    run->timeline = NULL;
    return status;
}
