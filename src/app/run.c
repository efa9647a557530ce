/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order matters: everything that may fail on memtop's side is tried before
 * the program runs, and nothing after that stops it.
 */
#include "config.h"

#include "app/run.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "app/exports.h"
#include "app/metrics.h"
#include "app/names.h"
#include "app/open.h"
#include "app/attach.h"
#include "app/blockreports.h"
#include "app/recording.h"
#include "app/say.h"
#include "i18n.h"
#include "monitor/library.h"
#include "monitor/saved.h"
#include "report/archive.h"
#include "report/json.h"
#include "report/plot.h"
#include "report/png.h"
#include "report/site-report.h"
#include "report/summary.h"
#include "report/textwidth.h"
#include "segment/clock.h"
#include "segment/names.h"

/* One line before the program's own first. */
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

/* Segments are then where nobody who has set it looks for them. */
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
            : error == -EPERM       ? _("it is not a private directory of yours (mode 0700)")
                                    : strerror(-error));
}

static int
check_program(struct run *run)
{
    preflight_check(run->options->program[0], getenv("PATH"), &run->preflight);
    announce(&run->preflight);
    return preflight_exit_status(&run->preflight);
}

/* Can the file be written at the end, as far as can be told now? */
static int
check_later(const char *path, bool overwrite)
{
    char copy[PATH_MAX];

    if (access(path, F_OK) == 0)
        return overwrite ? 0 : -EEXIST;
    snprintf(copy, sizeof copy, "%s", path);
    return access(dirname(copy), W_OK | X_OK) == 0 ? 0 : -errno;
}

static int
check_output(struct run *run)
{
    const struct options *options = run->options;
    char png[PATH_MAX];
    int error = output_open(&run->output, options->output);

    if (error != 0) {
        say(_("cannot write %s: %s"), options->output, strerror(-error));
        return EXIT_MEMTOP;
    }
    const char *name = options->save;
    if (name != NULL)
        error = check_later(name, false);
    if (error == 0 && options->png != NULL) {
        options_png_name(options->png, png, sizeof png);
        name = png;
        error = check_later(png, options->as_memusage);
    }
    for (size_t i = 0; error == 0 && i < options->sites.export_count; i++) {
        name = options->sites.exports[i].file;
        error = strcmp(name, "-") == 0 ? 0 : check_later(name, false);
    }
    if (error == 0 && options->metrics != NULL) {
        name = options->metrics;
        error = metrics_check(name);
    }
    if (error == 0)
        return 0;
    say(_("cannot write %s: %s"), name, strerror(-error));
    output_discard(&run->output);
    return EXIT_MEMTOP;
}

/* Instead of a program. */
static int
read_file(struct run *run)
{
    int status = check_output(run);

    if (status != 0)
        return status;
    run->session = open_session(run->options->read);
    if (run->session == NULL) {
        output_discard(&run->output);
        return EXIT_MEMTOP;
    }
    run->read_blocks = blockreports_read(run->options->read);
    run->mark = (struct tui_mark){session_saved(run->session)->marked,
                                  session_saved(run->session)->mark};
    return 0;
}

/* Of a process that runs already; it is only looked at. */
static int
attach(struct run *run)
{
    const struct session_options options = {0};
    pid_t pid = attach_find(run->options->attach);
    int status = pid < 0 ? EXIT_MEMTOP : check_output(run);

    if (status != 0)
        return status;
    run->session = session_new(&options);
    if (run->session == NULL)
        say("%s", strerror(ENOMEM));
    if (run->session == NULL || attach_session(run->session, pid) != 0) {
        output_discard(&run->output);
        return EXIT_MEMTOP;
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

/* The library's path, "" to run without it, NULL (said) if it is missing. */
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
        return EXIT_MEMTOP;
    }
    say(_("cannot run %s: %s"), run->options->program[0], strerror(-error));
    return error == -ENOENT ? 127 : 126;
}

/* Whether allocation sites are saved or exported at the end, if they were sampled. */
static bool
wants_sites(const struct options *options)
{
    return options->save != NULL || options->sites.export_count > 0;
}

/* How many of them are reported. */
static unsigned
sites_reported(const struct options *options)
{
    if (options->sites.top_given)
        return options->sites.top;
    return options->sites.rate != NULL || sites_choice(&options->sites) != NULL
               ? SITE_REPORT_TOP
               : 0;
}

static int
watch(struct run *run)
{
    const struct session_options options = {.source_script = run->options->script};

    if (run->session == NULL)
        run->session = session_new(&options);
    int error = run->session == NULL ? -ENOMEM
                : run->options->program == NULL
                    ? 0
                    : session_watch(run->session, &run->launched);
    if (error == 0 && run->options->save != NULL
        && (!session_keep_checkpoints(run->session) || !session_keep_roster(run->session)))
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
    return EXIT_MEMTOP;
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
        return EXIT_MEMTOP;
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
    recording_start(run);
    if (run->preflight.verdict == PREFLIGHT_NOT_OBSERVED)
        preflight_message(&run->preflight, run->launched.why_no_segment,
                          sizeof run->launched.why_no_segment);
    return watch(run);
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
        .curve = run->curve,
        .axis = options->time_based ? PLOT_AXIS_TIME : PLOT_AXIS_CALLS,
        .end = run->curve == NULL ? 0
               : options->time_based ? (uint64_t)session_process(run->session)->run_ns
                                     : curve_count(run->curve),
        .total = options->draw_total,
    };
    const struct plot_options wanted = {
        .width = options->png_width,
        .height = options->png_height,
        .title = options->title,
        .unit = options->si ? UNIT_AUTO + UNIT_SI : UNIT_AUTO,
        .record = record.end > 0 && curve_count(run->curve) > 0 ? &record : NULL,
    };
    char name[PATH_MAX], error[1024];
    struct library_search search;
    const char *module =
        library_find_module("memtop-png.so", &search) ? search.path : NULL;
    struct plot *plot;

    options_png_name(options->png, name, sizeof name);
    png_speak(module);
    plot = plot_new(session_process(run->session), session_history(run->session),
                    session_command(run->session), &wanted);
    png_spoken();
    if (plot == NULL)
        say(_("cannot write %s: %s"), name, strerror(ENOMEM));
    else if (!png_write(plot, module, name, options->as_memusage, error, sizeof error)
             || *error != '\0')
        say("%s", error);
    plot_free(plot);
}

/* -n names another program than the one that was started. */
static bool
is_left_out(const struct run *run, const struct process *process)
{
    return run->options->progname != NULL && !process->measured
           && process->identity.reason == REASON_OTHER_PROGRAM;
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
    report_summary(out, child, options_colour(run->options, fileno(out)));
}

/* memusage's report of the program, or of those of its children that -n names. */
static void
report_text(struct run *run, const struct process *process)
{
    FILE *out = run->output.file;

    if (run->options->quiet || run->looked)
        return;
    if (is_left_out(run, process) && process->children_seen > 0) {
        session_each_child(run->session, report_child, run);
        return;
    }
    report_summary(out, process, options_colour(run->options, fileno(out)));
    report_sites(out, session_root(run->session), sites_choice(&run->options->sites),
                 sites_reported(run->options),
                 run->options->si ? UNIT_AUTO + UNIT_SI : UNIT_AUTO);
}

static bool
report_json(struct run *run, const struct process *process)
{
    FILE *out = run->output.file;

    if (!report_json_sites(out, session_root(run->session),
                           sites_choice(&run->options->sites),
                           sites_reported(run->options)))
        return false;
    return run->options->attach != NULL && !process->ended
               ? report_json_snapshot(out, process)
               : report_json_exit(out, process);
}

/* The names of what is reported of sites. */
static void
find_reported_names(struct run *run)
{
    if (sites_reported(run->options) == 0 || run->options->quiet || run->looked)
        return;
    names_find(run->session, session_root(run->session), run->options->sites.debuginfod);
}

static void
name_other(void *context, struct session *session, const struct subject *subject)
{
    const struct run *run = context;

    names_find(session, subject, run->options->sites.debuginfod);
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
            say(_("cannot write %s: %s"), run->options->save, strerror(-error));
    }
    const struct exports exports = {run->session, &sites->choice, name_other, run};
    exports_write(&exports, sites->exports, sites->export_count);
}

void
run_report(struct run *run)
{
    const struct process *process = session_process(run->session);

    recording_finish(run);
    if (is_left_out(run, process) && process->ended && process->children_seen == 0)
        say(_("no program called %s was run"), run->options->progname);
    find_reported_names(run);
    if (run->options->format == FORMAT_JSON)
        output_check(&run->output, report_json(run, process));
    else
        report_text(run, process);
    blocklive_report(run);
    if (run->options->png != NULL)
        write_picture(run);
}

/* A verdict on a shell would look like one on what it runs. */
static void
say_not_judged(const struct process *process)
{
    if (process->children_seen > 0)
        say(ngettext("limits: %u child process is counted apart and not judged",
                     "limits: %u child processes are counted apart and not judged",
                     process->children_seen),
            process->children_seen);
}

/* Says which limits were passed.  The exit status if the program has none of
   its own: 0 if all is well. */
static int
judge_budget(const struct run *run)
{
    const struct budget *budget = &run->options->budget;
    const struct process *process = session_process(run->session);
    const enum unit unit = run->options->si ? UNIT_AUTO + UNIT_SI : UNIT_AUTO;
    int status = 0;

    if (!budget_given(budget))
        return 0;
    if (!process->ended || !process_knows(process, PART_COUNTERS)) {
        const char *why = process->ended ? process->why_not : _("the program runs on");

        say(_("limits cannot be judged: %s"), why[0] != '\0' ? why : _("not measured"));
        return EXIT_NOT_JUDGED;
    }
    for (enum budget_limit limit = 0; limit < BUDGET_LIMITS; limit++) {
        struct budget_excess excess;
        char text[256];

        if (!budget_exceeded(budget, limit, process, session_history(run->session),
                             &excess))
            continue;
        budget_text(limit, &excess, unit, text, sizeof text);
        say("%s", text);
        status = EXIT_OVER_BUDGET;
    }
    say_not_judged(process);
    return status;
}

int
run_finish(struct run *run)
{
    const struct process *process = session_process(run->session);
    bool ran = process->ended && session_saved(run->session) == NULL;
    int status = ran ? launch_exit_status(process->wait_status) : 0;
    int verdict = judge_budget(run);

    if (status == 0)
        status = verdict;
    output_close(&run->output);
    names_end();
    recording_finish(run);
    recording_free(run);
    blocksizes_free(run->read_blocks);
    run->read_blocks = NULL;
    session_free(run->session);
    run->session = NULL;
    curve_free(run->curve);
    run->curve = NULL;
    return status;
}
