/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The command line. argp parses it and makes the help and usage texts from the same
 * table.  Parsing stops at the first word that is not an option: the rest belongs to the
 * program.
 *
 * Letters and meanings are those of memusage where memusage has them.
 */
#include "config.h"

#include "programs/options.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "programs/help.h"
#include "programs/run.h"
#include "programs/status.h"
#include "programs/value.h"
#include "base/i18n.h"
#include "report/plot.h"
#include "files/dat.h"
#include "base/quantity.h"

/* Keys of options without a letter. */
enum {
    KEY_FORMAT = 256,
    KEY_ACCOUNTING,
    KEY_EXACT,
    KEY_ROOT_ONLY,
    KEY_MAX_HEAP, /* up to KEY_MAX_STACK: in the order of enum usage_kind */
    KEY_MAX_LIVE_AT_EXIT,
    KEY_MAX_ALLOCS,
    KEY_MAX_STACK,
    KEY_LIMITS,
    KEY_SNAPSHOT_WHEN,
    KEY_EXEC,
    KEY_SAVE,
    KEY_METRICS,
    KEY_COLOR,
    KEY_SI,
    KEY_TITLE,
    KEY_NO_TIMER,
    KEY_DROP,
    KEY_RECORD,
    KEY_LOG,
    KEY_ON_QUIT,
    KEY_SOURCE,
    KEY_DUMP_SCREEN,
    KEY_LIBRARY
};

static const struct argp_option table[] = {
    {NULL, 0, NULL, 0, N_("Without the display:"), 1},
    {"batch", 'B', NULL, 0, N_("Only run PROGRAM and report at its end"), 1},
    /* TRANSLATORS: words in capitals stand for values in --help; short ones. */
    {"interval", 'i', N_("SECS"), 0,
     N_("Sample every SECS seconds (0.1 to 60, default 1); with -B print a line each "
        "time"), 1},
    {"iterations", 'N', N_("NUM"), 0, N_("With -B: print at most NUM lines"), 1},
    {"format", KEY_FORMAT, N_("FORMAT"), 0,
     N_("With -B: print lines as text, or as json (one object per line)"), 1},
    {"output", 'o', N_("FILE"), 0,
     N_("Write lines and report to a new FILE instead of the standard error; - is the "
        "standard output"),
     1},
    {"quiet", 'q', NULL, 0, N_("Print no report at the end"), 1},
    {"metrics", KEY_METRICS, N_("FILE"), 0,
     N_("With -B: write figures for Prometheus to FILE each interval"), 1},

    {NULL, 0, NULL, 0, N_("What is counted:"), 2},
    {"mmap", 'm', NULL, 0, N_("Also count mmap, mremap and munmap"), 2},
    {"progname", 'n', N_("NAME"), 0, N_("Count only programs called NAME"), 2},
    {"accounting", KEY_ACCOUNTING, N_("SIZES"), 0,
     N_("Count sizes as requested or as usable, or auto: as the allocator allows"), 2},
    {"exact", KEY_EXACT, NULL, 0,
     N_("Make the heap peak exact with several threads (slower)"), 2},
    {"root-only", KEY_ROOT_ONLY, NULL, 0, N_("Do not follow PROGRAM's children"), 2},

    {NULL, 0, NULL, 0, N_("The display:"), 3},
    {"color", KEY_COLOR, N_("WHEN"), OPTION_ARG_OPTIONAL,
     N_("When to use colours: auto, always or never"), 3},
    {NULL, 'C', NULL, 0, N_("The same as --color=never"), 3},
    {"ascii", 'U', NULL, 0, N_("Draw with ASCII characters only"), 3},
    {"lines", 'L', NULL, 0,
     N_("Print changes as lines of text, for screen readers, and draw nothing"), 3},
    {"graph", 'g', N_("MODE"), 0,
     N_("How to draw graphs: auto, braille, block or ascii"), 3},
    {"si", KEY_SI, NULL, 0, N_("Show sizes in powers of 1000"), 3},
    {"on-quit", KEY_ON_QUIT, N_("WHAT"), 0,
     N_("What quitting does to a running PROGRAM: ask, kill or leave"), 3},

    {"read", 'r', N_("FILE"), 0,
     N_("Look at a saved session, or a record of calls, instead of running PROGRAM"), 3},
    {"save", KEY_SAVE, N_("FILE"), 0, N_("Save the session to a new FILE at the end"),
     3},

    {NULL, 0, NULL, 0, N_("The picture:"), 4},
    {"png", 'p', N_("FILE"), 0, N_("Draw the run at the end; .png is appended"), 4},
    {"time-based", 't', NULL, 0, N_("Draw the picture over time, not over calls"), 4},
    {"total", 'T', NULL, 0, N_("Also draw heap and stack together"), 4},
    {"title", KEY_TITLE, N_("STRING"), 0, N_("The picture's title"), 4},
    {"x-size", 'x', N_("NUM"), 0, N_("The picture's width in pixels"), 4},
    {"y-size", 'y', N_("NUM"), 0, N_("The picture's height in pixels"), 4},

    {NULL, 0, NULL, 0, N_("The record of every call:"), 5},
    {"data", 'd', N_("FILE"), 0,
     N_("Write the calls to a new FILE, those of children to FILE.PID"), 5},
    {"record", KEY_RECORD, N_("FILE"), 0,
     N_("Write the calls with all details to a new FILE, for memtopstat and -r"), 5},
    {"unbuffered", 'u', NULL, 0, N_("Write each call immediately"), 5},
    {"buffer", 'b', N_("NUM"), 0, N_("Write NUM calls at a time (at most 32768)"), 5},
    {"no-timer", KEY_NO_TIMER, NULL, 0, N_("Ignored: memtop does not use a timer"), 5},
    {"drop", KEY_DROP, NULL, 0, N_("Lose calls rather than slow PROGRAM down"), 5},
    {"log", KEY_LOG, N_("FILE|FD"), 0,
     N_("Log the calls as text for memtop-munge, to a new FILE or an open descriptor"),
     5},

    {NULL, 0, NULL, 0, N_("Limits, checked at the end (exit status 124):"), 6},
    {"max-heap", KEY_MAX_HEAP, N_("SIZE"), 0,
     N_("Fail if the heap's peak is above SIZE"), 6},
    {"max-live-at-exit", KEY_MAX_LIVE_AT_EXIT, N_("SIZE"), 0,
     N_("Fail if more than SIZE is never freed"), 6},
    {"max-allocs", KEY_MAX_ALLOCS, N_("NUM"), 0,
     N_("Fail if more than NUM blocks are allocated"),
     6},
    {"max-stack", KEY_MAX_STACK, N_("SIZE"), 0,
     N_("Fail if the stack's peak is above SIZE"),
     6},
    {"limits", KEY_LIMITS, N_("WHOM"), 0,
     N_("Check 'each' process on its own (default), the 'sum' of all, or the 'root'"), 6},

    {NULL, 0, NULL, 0, N_("Snapshots while PROGRAM runs:"), 7},
    {"snapshot-when", KEY_SNAPSHOT_WHEN, N_("CONDITION"), 0,
     N_("Save text, JSON and a picture on 'heap>SIZE', 'stack>SIZE', "
        "'growth>SIZE/min', peak, exit or signal (SIGUSR1); may be repeated"),
     7},
    {"exec", KEY_EXEC, N_("COMMAND"), 0,
     N_("After each snapshot run COMMAND, with the values in MEMTOP_HEAP and so on"), 7},

    {NULL, 0, NULL, 0, N_("Processes that already run with libmemtop:"), 9},
    {"attach", 'a', N_("PID|NAME"), 0,
     N_("Show one of them; it runs on when memtop quits"), 9},
    {"list", 'l', NULL, 0, N_("List them (also --format=json)"), 9},

    {"source", KEY_SOURCE, "SOURCE", OPTION_HIDDEN, NULL, 8},
    {"dump-screen", KEY_DUMP_SCREEN, "FILE", OPTION_HIDDEN, NULL, 8},
    {"library", KEY_LIBRARY, "PATH", OPTION_HIDDEN, NULL, 8},
    {0},
};

/* Like value_number(), but as memusage what is not a number counts as 0. */
static long
parse_lenient(struct argp_state *state, const char *option, const char *text, long most)
{
    const struct options *options = state->input;

    if (!options->as_memusage)
        return value_number(state, option, text, 0, most);
    long number = strtol(text, NULL, 10);
    return number < 0 || number > most ? 0 : number;
}

/* 0 and numbers that are too large stand for the largest. */
static size_t
parse_buffer(struct argp_state *state, const char *text)
{
    long number = parse_lenient(state, "--buffer", text, LONG_MAX);

    return number == 0 || number > DAT_BUFFER_MAX ? DAT_BUFFER_MAX : (size_t)number;
}

/* 0 stands for the default size; sizes that are too small become the smallest. */
static int
parse_side(struct argp_state *state, const char *option, const char *text, int least)
{
    int side = (int)parse_lenient(state, option, text, PLOT_MAX_SIDE);

    return side == 0 || side >= least ? side : least;
}

static int64_t
parse_interval(struct argp_state *state, const char *text)
{
    int64_t ns = 0;

    if (!quantity_seconds(text, &ns) || ns < 100000000 || ns > INT64_C(60000000000))
        argp_error(state, _("'%s' is not a value of %s: it takes seconds from 0.1 to 60"),
                   text, "--interval");
    return ns;
}

/* The base name of the program, as in MEMUSAGE_PROG_NAME. */
static const char *
parse_progname(struct argp_state *state, const char *name)
{
    const char *slash = strrchr(name, '/');

    if (slash != NULL)
        name = slash + 1;
    if (name[0] == '\0')
        argp_error(state, _("%s takes the name of a program"), "--progname");
    return name;
}

static const char *
parse_source(struct argp_state *state, const char *source)
{
    static const char prefix[] = "script:";

    if (strncmp(source, prefix, sizeof prefix - 1) != 0)
        value_refuse(state, "--source", source, "script:FILE");
    if (run_open_source == NULL)
        argp_error(state, "--source: %s", strerror(ENOSYS));
    return source + sizeof prefix - 1;
}

static const char *
parse_accounting(struct argp_state *state, const char *word)
{
    int choice = value_word(state, "--accounting", word, "auto, requested, usable");

    return choice == 0 ? NULL : word;
}

static void
parse_limit(struct argp_state *state, struct budget *budget, enum usage_kind limit,
            const char *text)
{
    bool count = limit == USAGE_ALLOCS;

    if (!(count ? quantity_count : quantity_size)(text, &budget->most[limit]))
        argp_error(state,
                   count ? _("'%s' is not a value of %s: it takes a number")
                         : _("'%s' is not a value of %s: it takes a size such as 64M"),
                   text, budget_option(limit));
    budget->given[limit] = true;
}

static void
add_condition(struct argp_state *state, struct options *options, const char *text)
{
    struct condition condition;

    if (!condition_parse(text, &condition))
        value_refuse(state, "--snapshot-when", text,
                     _("heap>SIZE, stack>SIZE, growth>SIZE/min, peak, exit, signal"));
    if (options->snapshots == TRIGGER_CONDITIONS)
        /* TRANSLATORS: an option, and how many there may be. */
        argp_error(state, _("too many %s (at most %d)"), "--snapshot-when",
                   TRIGGER_CONDITIONS);
    options->snapshot_when[options->snapshots++] = text;
}

/* Refuses options for sites that would have no effect. */
static void
check_sites(struct argp_state *state, const struct options *options)
{
    const bool found = options->program == NULL
                       && (options->read != NULL || options->attach != NULL
                           || options->script != NULL || options->pick);
    const char *useless =
        sites_useless(&options->sites,
                      options_sites(options) ? SITES_SAMPLED
                      : found                ? SITES_FOUND
                                             : SITES_NONE,
                      options->read != NULL);

    if (useless != NULL)
        argp_error(state, _("%s has no effect here: nothing is sampled"), useless);
}


static void
check_limits(struct argp_state *state, struct options *options)
{
    struct budget *budget = &options->budget;

    if (!options->root_only)
        return;
    if (budget->scope_given && budget->scope != SCOPE_ROOT)
        argp_error(state, _("--limits=%s cannot be checked with --root-only, which "
                            "leaves out the children"),
                   budget->scope == SCOPE_SUM ? "sum" : "each");
    budget->scope = SCOPE_ROOT;
}

static void
check_combination(struct argp_state *state, struct options *options)
{
    const char *instead = options->read != NULL     ? "--read"
                          : options->attach != NULL ? "--attach"
                          : options->list           ? "--list"
                                                    : NULL;

    if (options->program == NULL && options->script == NULL && instead == NULL
        && !options->pick && !options->fleet)
        argp_error(state,
                   _("no program given (-a attaches to a process, -l lists them)"));
    if (options->program != NULL && instead != NULL)
        argp_error(state, _("%s can only be used without PROGRAM"), instead);
    if (!options->batch && options->iterations != 0)
        argp_error(state, _("%s can only be used with --batch"), "--iterations");
    if (!options->batch && options->format_given && !options->list)
        argp_error(state, _("%s can only be used with --batch"), "--format");
    if (!options->batch && options->metrics != NULL)
        argp_error(state, _("%s can only be used with --batch"), "--metrics");
    if (options->log != NULL && options->program == NULL)
        argp_error(state, _("%s can only be used with PROGRAM"), "--log");
    if (options->record != NULL && options->program == NULL)
        argp_error(state, _("%s can only be used with PROGRAM"), "--record");
    if (options->report.reports == 0 && options->report.first != NULL)
        argp_error(state, _("--%s can only be used with --report"),
                   options->report.first);
    if (options->report.reports != 0 && options->program == NULL
        && options->attach == NULL)
        argp_error(state, _("%s can only be used with PROGRAM or --attach; memtopstat "
                            "reports on files"), "--report");
    check_limits(state, options);
    check_sites(state, options);
    if (options->exec != NULL && options->snapshots == 0)
        argp_error(state, _("%s can only be used with --snapshot-when"), "--exec");
#ifndef HAVE_GD
    if (options->png != NULL)
        argp_error(state, _("this memtop was built without PNG pictures"));
#endif
}

/* Options for output and pictures, and the remaining options. */
static error_t
parse_output_option(int key, char *word, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case KEY_COLOR:
        options->color = COLOR_ALWAYS;
        if (word != NULL)
            options->color = (enum option_color)value_word(state, "--color", word,
                                                           "auto, always, never");
        return 0;
    case 'C':
        options->color = COLOR_NEVER;
        return 0;
    case 'U':
        options->ascii = true;
        return 0;
    case 'L':
        options->plain = true;
        return 0;
    case 'g':
        options->graph = (enum tui_graph)value_word(state, "--graph", word,
                                                    "auto, braille, block, ascii");
        return 0;
    case KEY_SI:
        options->si = true;
        return 0;
    case KEY_ON_QUIT:
        options->on_quit =
            (enum tui_on_quit)value_word(state, "--on-quit", word, "ask, kill, leave");
        return 0;
    case 'p':
        options->png = value_file(state, "--png", word);
        return 0;
    case 't':
        options->time_based = true;
        return 0;
    case 'T':
        options->draw_total = true;
        return 0;
    case KEY_TITLE:
        options->title = word;
        return 0;
    case 'x':
        options->png_width = parse_side(state, "--x-size", word, PLOT_MIN_WIDTH);
        return 0;
    case 'y':
        options->png_height = parse_side(state, "--y-size", word, PLOT_MIN_HEIGHT);
        return 0;
    case KEY_SOURCE:
        options->script = parse_source(state, word);
        return 0;
    case KEY_DUMP_SCREEN:
        options->dump_screen = value_file(state, "--dump-screen", word);
        return 0;
    case KEY_LIBRARY:
        options->library = value_file(state, "--library", word);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t
parse_record_option(int key, char *word, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 'd':
        options->data = value_file(state, "--data", word);
        return 0;
    case 'u':
        options->buffered = 1;
        return 0;
    case 'b':
        options->buffered = parse_buffer(state, word);
        return 0;
    case KEY_NO_TIMER:
        return 0;
    case KEY_DROP:
        options->drop = true;
        return 0;
    case KEY_RECORD:
        options->record = value_file(state, "--record", word);
        return 0;
    case KEY_LOG:
        options->log = value_file(state, "--log", word);
        return 0;
    default:
        return parse_output_option(key, word, state);
    }
}

static error_t
parse_option(int key, char *word, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 'B':
        options->batch = true;
        return 0;
    case 'a':
        options->attach = word;
        return 0;
    case 'l':
        options->list = true;
        return 0;
    case 'i':
        options->interval_ns = parse_interval(state, word);
        options->lines = true;
        return 0;
    case 'N':
        options->iterations =
            (unsigned long)value_number(state, "--iterations", word, 1, 1000000000);
        return 0;
    case KEY_FORMAT:
        options->format =
            (enum option_format)value_word(state, "--format", word, "text, json");
        options->lines = options->format_given = true;
        return 0;
    case 'o':
        options->output = value_file(state, "--output", word);
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    case KEY_METRICS:
        options->metrics = value_file(state, "--metrics", word);
        return 0;
    case 'm':
        options->mmap = true;
        return 0;
    case 'n':
        options->progname = parse_progname(state, word);
        return 0;
    case KEY_ACCOUNTING:
        options->accounting = parse_accounting(state, word);
        return 0;
    case KEY_EXACT:
        options->exact = true;
        return 0;
    case KEY_ROOT_ONLY:
        options->root_only = true;
        return 0;
    case KEY_SNAPSHOT_WHEN:
        add_condition(state, options, word);
        return 0;
    case KEY_EXEC:
        options->exec = word;
        return 0;
    case 'r':
        options->read = value_file(state, "--read", word);
        return 0;
    case KEY_SAVE:
        options->save = value_file(state, "--save", word);
        return 0;
    case KEY_MAX_HEAP:
    case KEY_MAX_LIVE_AT_EXIT:
    case KEY_MAX_ALLOCS:
    case KEY_MAX_STACK:
        parse_limit(state, &options->budget, (enum usage_kind)(key - KEY_MAX_HEAP),
                    word);
        return 0;
    case KEY_LIMITS:
        /* In the order of enum budget_scope. */
        options->budget.scope =
            (enum budget_scope)value_word(state, "--limits", word, "each, sum, root");
        options->budget.scope_given = true;
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->sites;
        state->child_inputs[1] = &options->report;
        return 0;
    case ARGP_KEY_ARG:
        options->program = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        options->pick = options->program == NULL && options->script == NULL
                        && options->read == NULL && options->attach == NULL
                        && !options->list && !options->batch && isatty(STDIN_FILENO)
                        && isatty(STDOUT_FILENO);
        options->fleet = options->program == NULL && options->script == NULL
                         && options->read == NULL && options->attach == NULL
                         && !options->list && options->batch && options->metrics != NULL;
        /* The interval then applies to the metrics file. */
        if (options->metrics != NULL && !options->format_given)
            options->lines = false;
        check_combination(state, options);
        return 0;
    default:
        return parse_record_option(key, word, state);
    }
}

static void
print_version(FILE *out, struct argp_state *state)
{
    (void)state;
    fprintf(out, "%s\n", PACKAGE_STRING);
    fprintf(out, "%s\n",
            _("License LGPLv2.1+: GNU LGPL version 2.1 or later.\n"
              "This is free software: you are free to change and redistribute it.\n"
              "There is NO WARRANTY, to the extent permitted by law."));
}

/* The text after the options in --help. */
static char *
filter_help(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    return strdup(_("The exit status is PROGRAM's, 128+N if signal N killed it; 124 if "
                    "it is 0 but a limit was exceeded; 125 if memtop fails, 126 if "
                    "PROGRAM cannot be executed, 127 if it is not found."));
}

void
options_parse(int argc, char **argv, struct options *options)
{
    const struct argp_child children[] = {
        {&sites_argp, 0, NULL, 8}, {&report_argp, 0, NULL, 0}, help_by_columns[0], {0}};
    const struct argp argp = {
        .options = spellings_add(table),
        .parser = parse_option,
        .children = children,
        .args_doc = N_("PROGRAM [ARG]...\n-r FILE\n[-a PID|NAME]\n-l"),
        .doc = N_("Run PROGRAM and show live what it does with its memory."),
        .help_filter = filter_help,
    };

    *options = (struct options){.interval_ns = INTERVAL_DEFAULT_NS,
                                .buffered = DAT_BUFFER_MAX};
    if (argc > 0)
        argv[0] = basename(argv[0]); /* getopt's messages begin with it */
    options->as_memusage = argc > 0 && strcmp(argv[0], "memusage") == 0;
    options->batch = options->as_memusage;
    argp_program_version_hook = print_version;
    status_as(options->as_memusage ? AS_MEMUSAGE : AS_MEMTOP);
    help_parse(&argp, argc, argv, ARGP_IN_ORDER, options);
}
