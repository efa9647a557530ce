/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values are checked while the command line is parsed, so that a wrong one is reported
 * before anything is run or read.  They are put into the parameters after the parameter
 * file has been read, because they take precedence.
 */
#include "config.h"

#include "programs/report-options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "programs/say.h"
#include "programs/status.h"
#include "programs/value.h"
#include "base/i18n.h"
#include "base/quantity.h"

enum {
    KEY_REPORT = 0x4000,
    KEY_REPORT_FORMAT,
    KEY_COMPAT,
    KEY_PARAMS,
    KEY_PARAMS_OUT,
    KEY_AT,
    KEY_SORT,
    KEY_GROUP,
    KEY_COUNTS,
    KEY_LOWER_BOUND,
    KEY_CAPTION,
    KEY_PROCESS,
    KEY_VIEW,
    KEY_SIZES,
    KEY_TOP,
    KEY_LOG_NAME,
    KEY_LOG_DIR,
    KEY_LOG_EXTENSION,
    KEY_LOG_DELIMITER,
    KEY_LOG_EACH
};

#define GROUP 10

static const struct argp_option table[] = {
    {NULL, 0, NULL, 0, N_("Reports by exact block size:"), GROUP},
    {"report", KEY_REPORT, N_("LIST"), 0,
     N_("Make the reports in LIST: overview, blocksize, loadpeak, timeinterval, logfile; "
        "or full"), GROUP},
    {"report-format", KEY_REPORT_FORMAT, N_("FORMAT"), 0,
     N_("Format of the reports: text, json or csv"), GROUP},
    {"compat", KEY_COMPAT, NULL, 0,
     N_("Write reports byte for byte as the original tool does, for programs that read "
        "them"),
     GROUP},
    {"at", KEY_AT, N_("SECS"), 0,
     N_("Report the state at this time: 2.5, 140ms, 3m; in a log without times: at this "
        "event"),
     GROUP},
    {"sort", KEY_SORT, N_("ORDER"), 0, N_("Sort by size or by count, or leave unsorted"),
     GROUP},
    {"group", KEY_GROUP, N_("YES|NO"), 0, N_("Group counts by intervals"), GROUP},
    {"counts", KEY_COUNTS, N_("INTERVALS"), 0,
     N_("Intervals of counts: linear:FACTOR, power:FACTOR:BASE, array, or upper bounds "
        "such as 1,2,5,10"), GROUP},
    {"lower-bound", KEY_LOWER_BOUND, N_("NUM"), 0,
     N_("Lower bound of the first interval of --counts"), GROUP},
    {"caption", KEY_CAPTION, N_("STRING"), 0, N_("The report's first line"), GROUP},
    {"process", KEY_PROCESS, N_("NUM"), 0,
     N_("Report the child with pid NUM, or all processes together"), GROUP},
    {"blocks", KEY_VIEW, N_("BLOCKS"), 0,
     N_("Report blocks of malloc, of the program's own pool, or both"), GROUP},
    {"params", KEY_PARAMS, N_("FILE"), 0, N_("Read the parameters from FILE"), GROUP},
    {"params-out", KEY_PARAMS_OUT, N_("FILE"), 0,
     N_("Write the effective parameters to a new FILE"), GROUP},
    {"logfile-name", KEY_LOG_NAME, N_("NAME"), 0, N_("Name of the log file"), GROUP},
    {"logfile-dir", KEY_LOG_DIR, N_("NAME"), 0, N_("Directory of the log file"), GROUP},
    {"logfile-extension", KEY_LOG_EXTENSION, N_("STRING"), 0,
     N_("Extension of the log file"), GROUP},
    {"logfile-delimiter", KEY_LOG_DELIMITER, N_("STRING"), 0,
     N_("Delimiter between the log file's columns; \\t is a tab"), GROUP},
    {"logfile-each", KEY_LOG_EACH, NULL, 0, N_("Write a log file for each size"), GROUP},
    {"sizes", KEY_SIZES, N_("SIZE"), 0,
     N_("Restrict log and picture to these sizes, separated by commas"), GROUP},
    {"top", KEY_TOP, N_("NUM"), 0,
     N_("Restrict log and picture to the NUM sizes with the most blocks at once "
        "(picture: 8)"), GROUP},
    {0},
};

static void
parse_reports(struct argp_state *state, struct report_options *options, const char *word)
{
    options->reports = blockparams_reports(word);
    if (options->reports == 0)
        value_refuse(state, "--report", word,
               "overview, blocksize, loadpeak, timeinterval, logfile, full");
}

static bool
parse_bound(const char *word, uint32_t *bound)
{
    char *end;
    unsigned long value = strtoul(word, &end, 10);

    *bound = (uint32_t)value;
    return isdigit((unsigned char)word[0]) && *end == '\0' && value < COUNTS_LIMIT;
}

static void
parse_counts(struct argp_state *state, struct report_options *options, const char *word)
{
    struct counts counts;

    counts_default(&counts);
    if (!blockparams_counts(word, &counts))
        value_refuse(state, "--counts", word,
               _("linear:FACTOR, power:FACTOR:BASE, 1,2,5,10..."));
    options->counts = word;
}

static void
parse_delimiter(struct argp_state *state, struct report_options *options,
                const char *word)
{
    char delimiter[BLOCKPARAMS_TEXT_MAX];

    if (!blockparams_delimiter(word, delimiter))
        value_refuse(state, "--logfile-delimiter", word, "\\t, \\x3b, ;");
    options->log_delimiter = word;
}

/* Checks a word that becomes part of a file's name. */
static const char *
parse_name(struct argp_state *state, const char *option, const char *word)
{
    if (word[0] == '\0' || strchr(word, '/') != NULL
        || strlen(word) >= BLOCKPARAMS_TEXT_MAX)
        argp_error(state, _("'%s' cannot be part of a file's name (%s)"), word, option);
    return word;
}

static void
parse_sizes(struct argp_state *state, struct report_options *options, const char *word)
{
    const char *at = word;

    options->size_count = 0;
    for (;;) {
        char item[64];
        size_t length = strcspn(at, ",");

        snprintf(item, sizeof item, "%.*s", (int)(length < 63 ? length : 63), at);
        if (options->size_count == REPORT_SIZES_MAX
            || !quantity_size(item, &options->sizes[options->size_count]))
            value_refuse(state, "--sizes", word, "16,100,4K");
        options->size_count++;
        if (at[length] == '\0')
            return;
        at += length + 1;
    }
}

static void
parse_process(struct argp_state *state, struct report_options *options, const char *word)
{
    if (strcmp(word, "all") != 0
        && (word[0] == '\0' || word[strspn(word, "0123456789")] != '\0'))
        value_refuse(state, "--process", word, "PID, all");
    options->process = word;
}

static void
parse_at(struct argp_state *state, struct report_options *options, const char *word)
{
    if (!quantity_moment(word, &options->at_ns))
        value_refuse(state, "--at", word, "2.5, 140ms, 3m");
    options->at = word;
    options->at_given = true;
}

static void
parse_sort(struct argp_state *state, struct report_options *options, const char *word)
{
    enum block_sort sort;

    if (!blockparams_sort(word, &sort))
        value_refuse(state, "--sort", word, "size, count, unsorted");
    options->sort = word;
}

/* The options for log files. */
static error_t
parse_log_option(int key, char *word, struct argp_state *state)
{
    struct report_options *options = state->input;

    switch (key) {
    case KEY_LOG_NAME:
        options->log_name = parse_name(state, "--logfile-name", word);
        return 0;
    case KEY_LOG_DIR:
        options->log_directory = value_file(state, "--logfile-dir", word);
        return 0;
    case KEY_LOG_EXTENSION:
        options->log_extension = parse_name(state, "--logfile-extension", word);
        return 0;
    case KEY_LOG_DELIMITER:
        parse_delimiter(state, options, word);
        return 0;
    case KEY_LOG_EACH:
        options->log_each = "";
        return 0;
    case KEY_SIZES:
        parse_sizes(state, options, word);
        return 0;
    case KEY_TOP:
        options->top = (unsigned)value_number(state, "--top", word, 1, 1000000);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t
parse_value(int key, char *word, struct argp_state *state)
{
    struct report_options *options = state->input;
    uint32_t bound;

    switch (key) {
    case KEY_REPORT:
        parse_reports(state, options, word);
        return 0;
    case KEY_REPORT_FORMAT:
        options->format = (enum report_format)value_word(state, "--report-format", word,
                                                         "text, json, csv");
        return 0;
    case KEY_COMPAT:
        options->compat = true;
        return 0;
    case KEY_PARAMS:
        options->params = value_file(state, "--params", word);
        return 0;
    case KEY_PARAMS_OUT:
        options->params_out = value_file(state, "--params-out", word);
        return 0;
    case KEY_AT:
        parse_at(state, options, word);
        return 0;
    case KEY_SORT:
        parse_sort(state, options, word);
        return 0;
    case KEY_GROUP:
        options->group =
            value_word(state, "--group", word, "yes, no") == 0 ? "yes" : "no";
        return 0;
    case KEY_COUNTS:
        parse_counts(state, options, word);
        return 0;
    case KEY_LOWER_BOUND:
        if (!parse_bound(word, &bound))
            argp_error(state, _("'%s' is not a value of %s: it takes a number"), word,
                       "--lower-bound");
        options->lower = word;
        return 0;
    case KEY_CAPTION:
        options->caption = word;
        return 0;
    case KEY_PROCESS:
        parse_process(state, options, word);
        return 0;
    case KEY_VIEW:
        options->view =
            (enum report_view)value_word(state, "--blocks", word, "malloc, pool, both");
        return 0;
    default:
        return parse_log_option(key, word, state);
    }
}

static const char *
name_of(int key)
{
    for (const struct argp_option *option = table;
         option->name != NULL || option->doc != NULL; option++)
        if (option->key == key)
            return option->name;
    return "";
}

static error_t
parse_option(int key, char *word, struct argp_state *state)
{
    struct report_options *options = state->input;
    error_t error = parse_value(key, word, state);

    if (error == 0 && options->first == NULL && key != KEY_REPORT)
        options->first = name_of(key);
    return error;
}

const struct argp report_argp = {.options = table, .parser = parse_option};

/* ---- the parameters ---- */

static void
warn(void *path, unsigned line, const char *key, const char *what)
{
    if (key[0] == '\0')
        say("%s:%u: %s", (const char *)path, line, _(what));
    else
        /* TRANSLATORS: a file, its line, a parameter, and what is wrong. */
        say(_("%s:%u: [%s] %s; the default is used"), (const char *)path, line, key,
            _(what));
}

static void
set_text(char *member, size_t size, const char *text)
{
    if (text != NULL)
        snprintf(member, size, "%s", text);
}

int
report_params(const struct report_options *options, struct blockparams *params)
{
    int error = 0;

    blockparams_default(params);
    if (options->compat)
        set_text(params->directory, sizeof params->directory,
                 "C:\\TEMP\\ascMemStatisticReport");
    if (options->params != NULL)
        error = blockparams_read(options->params, params, warn, (void *)options->params);
    if (error != 0) {
        say(_("cannot read %s: %s"), options->params, strerror(-error));
        return status_of(STATUS_INPUT);
    }
    if (options->reports != 0)
        params->reports = options->reports;
    if (options->sort != NULL)
        blockparams_sort(options->sort, &params->sort);
    if (options->group != NULL)
        params->group = strcmp(options->group, "yes") == 0;
    if (options->lower != NULL)
        parse_bound(options->lower, &params->counts.lower);
    if ((options->counts != NULL && !blockparams_counts(options->counts, &params->counts))
        || params->counts.lower >= params->counts.bounds[0]) {
        say(_("--lower-bound must be below the first bound"));
        return status_of(STATUS_USAGE);
    }
    set_text(params->extension, sizeof params->extension, options->log_extension);
    if (options->log_delimiter != NULL)
        blockparams_delimiter(options->log_delimiter, params->delimiter);
    if (options->log_directory != NULL && !options->compat)
        set_text(params->directory, sizeof params->directory, options->log_directory);
    if (options->log_each != NULL)
        params->one_file = false;
    return 0;
}
