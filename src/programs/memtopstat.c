/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memtopstat: draws a data file of memtop -d or memusage -d, with the command line of
   memusagestat; makes reports by block size from recorded calls. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "programs/blockreports.h"
#include "programs/exports.h"
#include "programs/help.h"
#include "programs/language.h"
#include "programs/output.h"
#include "programs/say.h"
#include "programs/sites-options.h"
#include "programs/status.h"
#include "programs/tracefile.h"
#include "programs/uses.h"
#include "programs/value.h"
#include "base/i18n.h"
#include "system/library.h"
#include "report/plot.h"
#include "report/png.h"
#include "base/quantity.h"
#include "files/dat.h"

static struct {
    const char *data, *output, *title;
    const char *picture; /* picture of block sizes */
    struct report_options report;
    bool time_based, total, replace;
    const char *export; /* as given, or NULL */
    struct site_choice sites;
    uint64_t pid;
    int width, height;
} options;

enum { OPTION_EXPORT = 512, OPTION_PID };

static const struct argp_option table[] = {
    {"output", 'o', N_("FILE"), 0, N_("Write the picture to FILE"), 0},
    {"png", 'p', N_("FILE"), 0,
     N_("Draw to a new FILE how many blocks of each size were live over time"), 0},
    {"export", OPTION_EXPORT, N_("FORMAT"), 0,
     N_("Write to the standard output or OUTFILE instead: calls as logalloc, dat, csv or "
        "json; allocation sites as folded, pprof, massif or json"),
     0},
    {"pid", OPTION_PID, N_("NUM"), 0,
     N_("Use process NUM of a trace of several processes, not the first"), 0},
    {"s", 's', "STRING", OPTION_HIDDEN, NULL, 0}, /* memusagestat accepts this
                                                     abbreviation */
    {"to", 'T', NULL, OPTION_HIDDEN, NULL, 0},
    {"string", 's', N_("STRING"), 0, N_("The picture's title"), 0},
    {"time", 't', NULL, 0, N_("Draw the picture over time, not over calls"), 0},
    {"total", 'T', NULL, 0, N_("Also draw heap and stack together"), 0},
    {"x-size", 'x', N_("NUM"), 0, N_("The picture's width in pixels"), 0},
    {"y-size", 'y', N_("NUM"), 0, N_("The picture's height in pixels"), 0},
    {0},
};

/* Like memusagestat, uses the default size for text that is not a number. */
static int
parse_side(const char *text)
{
    long side = strtol(text, NULL, 10);

    return side < 0 ? 0 : side > PLOT_MAX_SIDE ? PLOT_MAX_SIDE : (int)side;
}

/* Prints the hint to the help on the standard output, like memusagestat. */
static _Noreturn void
wrong_words(struct argp_state *state)
{
    argp_state_help(state, stdout, ARGP_HELP_SEE);
    exit(status_of(STATUS_FILES));
}

/* The index of an export format for calls; -1: not one. */
static int
calls_format(const char *word)
{
    for (int i = 0; export_names[i] != NULL; i++)
        if (strcmp(word, export_names[i]) == 0)
            return i;
    return -1;
}

static void
check_format(struct argp_state *state, const char *word)
{
    enum siteexport_format format;

    if (calls_format(word) < 0 && !siteexport_format_parse(word, &format))
        value_refuse(state, "--export", word,
                     "logalloc, dat, csv, json, folded, pprof, massif");
}

static error_t
parse_option(int key, char *word, struct argp_state *state)
{
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options.sites;
        state->child_inputs[1] = &options.report;
        return 0;
    case 'p':
        options.picture = word;
        return 0;
    case 'o':
        if (options.output == NULL)
            options.output = word;
        return 0;
    case OPTION_EXPORT:
        check_format(state, word);
        options.export = word;
        return 0;
    case OPTION_PID:
        if (!quantity_count(word, &options.pid) || options.pid == 0)
            argp_error(state, _("--%s: '%s' is not a number"), "pid", word);
        return 0;
    case 's':
        options.title = word;
        return 0;
    case 't':
        options.time_based = true;
        return 0;
    case 'T':
        options.total = true;
        return 0;
    case 'x':
        options.width = parse_side(word);
        return 0;
    case 'y':
        options.height = parse_side(word);
        return 0;
    case ARGP_KEY_ARGS:
        if (state->argc - state->next > 2)
            wrong_words(state);
        options.data = state->argv[state->next];
        if (state->argc - state->next == 2)
            options.output = state->argv[state->next + 1];
        return 0;
    case ARGP_KEY_NO_ARGS:
        wrong_words(state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Reports what is odd about the file, one line each. */
static void
say_oddities(const struct dat *dat)
{
    if (dat->killed)
        say(_("%s was not completed; its headers are reconstructed from its records"),
            options.data);
    if (dat->cut_bytes > 0)
        say(ngettext("%s: %u byte at the end is not a whole record",
                     "%s: %u bytes at the end are not a whole record", dat->cut_bytes),
            options.data, dat->cut_bytes);
    if (dat->doubled > 0)
        say(ngettext("%s: %lu record at the end was written twice",
                     "%s: %lu records at the end were written twice", dat->doubled),
            options.data, (unsigned long)dat->doubled);
    if (dat->holes > 0)
        say(ngettext("%s: %lu record is empty: several processes wrote to the file",
                     "%s: %lu records are empty: several processes wrote to the file",
                     dat->holes),
            options.data, (unsigned long)dat->holes);
    if (dat->backwards > 0)
        say(ngettext("%s: %lu record is older than the one before",
                     "%s: %lu records are older than the one before", dat->backwards),
            options.data, (unsigned long)dat->backwards);
}

static uint64_t start;

static void
take(void *timeline, uint64_t index, const struct dat_record *record)
{
    timeline_add(timeline, options.time_based ? record->time - start : index,
                 record->heap, record->stack, true);
}

static void
describe(const struct dat *dat, char *text, size_t size)
{
    char calls[UNITS_MAX], heap[UNITS_MAX], stack[UNITS_MAX], duration[UNITS_MAX];
    size_t used;

    units_count(calls, sizeof calls, dat->count);
    units_bytes(heap, sizeof heap, dat->heap_peak, UNIT_AUTO);
    units_bytes(stack, sizeof stack, dat->stack_peak, UNIT_AUTO);
    if (dat->nanoseconds)
        /* TRANSLATORS: calls, duration, two sizes. */
        snprintf(
            text, size,
            ngettext("%s call in %s, heap peak %s, stack peak %s",
                     "%s calls in %s, heap peak %s, stack peak %s", plural(dat->count)),
            calls,
            units_offset(duration, sizeof duration, (int64_t)(dat->end - dat->start)),
            heap, stack);
    else
        snprintf(text, size,
                 ngettext("%s call, heap peak %s, stack peak %s",
                          "%s calls, heap peak %s, stack peak %s", plural(dat->count)),
                 calls, heap, stack);
    used = strlen(text);
    if (options.total && dat->stack_peak != UNITS_UNKNOWN)
        /* TRANSLATORS: appended to the above: heap and stack together. */
        snprintf(text + used, size - used, _(", together %s"),
                 units_bytes(heap, sizeof heap, dat->sum_peak, UNIT_AUTO));
}

static const char *
module(void)
{
    static struct library_search search;

    return library_find_module("memtop-png.so", &search) ? search.path : NULL;
}

static struct plot *
make_plot(const struct dat *dat, const struct timeline *timeline)
{
    char subtitle[PLOT_TEXT_MAX];
    const struct plot_record record = {
        .timeline = timeline,
        .axis = !options.time_based ? PLOT_AXIS_CALLS
                : dat->nanoseconds  ? PLOT_AXIS_TIME
                                    : PLOT_AXIS_SHARE,
        .end = options.time_based ? dat->end - dat->start : dat->count,
        .total = options.total,
        .no_stack = dat->stack_peak == UNITS_UNKNOWN,
    };
    const struct plot_options wanted = {
        .width = options.width,
        .height = options.height,
        .title = options.title != NULL ? options.title : options.data,
        .record = &record,
    };
    struct plot *plot;

    png_speak(module());
    describe(dat, subtitle, sizeof subtitle);
    plot = plot_new_record(subtitle, &wanted);
    png_spoken();
    return plot;
}

static bool
write_plot(const struct plot *plot)
{
    char name[PATH_MAX], error[1024];
    bool written;

    if (options.output != NULL)
        snprintf(name, sizeof name, "%s", options.output);
    else
        snprintf(name, sizeof name, "%s.png", options.data);
    written = png_write(plot, module(), name, options.replace, error, sizeof error);
    if (*error != '\0')
        say("%s", error);
    return written;
}

static const char *
reason(int error)
{
    return error == -EBADMSG ? _("too short for a data file") : strerror(-error);
}

/* Reads a data file.  Reports an error and returns false on failure. */
static bool
read_data(struct timeline *timeline, struct dat *dat)
{
    int error = dat_open(options.data, NULL, dat);

    if (error == 0) {
        start = dat->start;
        error = dat_scan(dat, take, timeline);
        dat_close_read(dat);
    }
    if (error != 0)
        say(_("cannot read %s: %s"), options.data, reason(error));
    else
        say_oddities(dat);
    return error == 0;
}

/* Reads any kind of file that can be drawn. *status is the exit status, also on success.
   Reports an error and returns false on failure. */
static bool
read_timeline(struct timeline *timeline, struct dat *dat, int *status)
{
    enum file_kind kind;
    bool read = use_file(options.data, USE_DRAW, &kind);

    if (read && kind != KIND_DAT)
        return tracefile_timeline(options.data, options.pid, options.time_based, timeline,
                                  dat, status);
    read = read && read_data(timeline, dat);
    *status = read ? 0 : status_of(STATUS_INPUT);
    return read;
}

/* Returns the exit status. */
static int
draw_timeline(const struct dat *dat, const struct timeline *timeline)
{
    struct plot *plot = make_plot(dat, timeline);
    bool written;

    if (plot == NULL) {
        say("%s", strerror(ENOMEM));
        return status_of(STATUS_FAILED);
    }
    written = write_plot(plot);
    plot_free(plot);
    return written ? 0 : status_of(STATUS_OUTPUT);
}

static int
draw(void)
{
    struct timeline *timeline = timeline_new(TIMELINE_SLOTS, 1);
    struct dat dat;
    int status, drawn;

    if (timeline == NULL) {
        say("%s", strerror(ENOMEM));
        return status_of(STATUS_FAILED);
    }
    drawn = read_timeline(timeline, &dat, &status) ? draw_timeline(&dat, timeline) : 0;
    timeline_free(timeline);
    return drawn != 0 ? drawn : status;
}

static bool
reports_wanted(void)
{
    return options.report.reports != 0 || options.report.params != NULL
           || options.picture != NULL;
}

static int
report(void)
{
    const struct blockreports_file file = {
        .options = &options.report,
        .path = options.data,
        .output = options.output,
        .picture = options.picture,
        .title = options.title,
        .width = options.width,
        .height = options.height,
    };

    return blockreports_file(&file);
}

/* Exports calls or allocation sites, depending on the format and the file. */
static int
export(void)
{
    int calls = calls_format(options.export);
    enum siteexport_format format;
    bool of_sites = siteexport_format_parse(options.export, &format);
    enum file_kind kind = KIND_STREAM;

    if (of_sites && calls >= 0 && kind_of_file(options.data, &kind) == 0)
        of_sites = kind == KIND_SESSION;
    if (of_sites)
        return exports_file(options.data, format, &options.sites,
                            options.pid <= INT_MAX ? (pid_t)options.pid : INT_MAX,
                            options.output);
    return tracefile_export(options.data, (enum export_format)calls, options.pid,
                            options.output);
}

int
main(int argc, char **argv)
{
    const struct argp_child children[] = {
        {&sites_choice_argp, 0, NULL, 0},
        {&report_argp, 0, NULL, 0},
        help_by_columns[0],
        {0},
    };
    const struct argp argp = {
        .options = table,
        .parser = parse_option,
        .children = children,
        .args_doc = N_("DATAFILE [OUTFILE]\n--report=LIST [--png=FILE] FILE\n"
                       "--export=FORMAT FILE [OUTFILE]"),
        .doc =
            N_("Draw what memtop -d, memtop --record or memusage -d has recorded, as a "
               "PNG picture; report by block size or export what memtop --record or "
               "--log has recorded; export allocation sites of a saved session."
               "\vOUTFILE is DATAFILE.png unless given."),
    };

    language_start();
    argp_program_version = PACKAGE_STRING;
    if (argc > 0)
        argv[0] = basename(argv[0]);
    options.replace = argc > 0 && strcmp(argv[0], "memusagestat") == 0;
    status_as(options.replace ? AS_MEMUSAGESTAT : AS_MEMTOPSTAT);
    output_begin(status_of(STATUS_OUTPUT));
    help_parse(&argp, argc, argv, 0, &options);
    if (reports_wanted())
        return report();
    if (options.report.first != NULL) {
        say(_("--%s can only be used with --report"), options.report.first);
        return status_of(STATUS_USAGE);
    }
    if (options.export != NULL)
        return export();
    if (sites_choice_given(&options.sites) != NULL) {
        say(_("%s can only be used with --export"), sites_choice_given(&options.sites));
        return status_of(STATUS_USAGE);
    }
    return draw();
}
