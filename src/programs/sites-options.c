/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * argp children for the programs' parsers.  In memtop's help these options form a group,
 * in memtopstat's they are among the others.
 */
#include "config.h"

#include "programs/sites-options.h"

#include <stdio.h>
#include <string.h>

#include "programs/value.h"
#include "base/i18n.h"
#include "base/quantity.h"
#include "report/site-filter.h"
#include "segment/rate.h"

enum { KEY_EXPORT = 0x3000, KEY_MODE, KEY_DEBUGINFOD, KEY_SITES, KEY_UNWIND, KEY_TOP,
       KEY_FILTER, KEY_OLDER, KEY_SORT, KEY_WRAPPERS, KEY_MEMORY };

/* Options of both programs. */
#define CHOICE_OPTIONS(mode) \
    {"sites-mode", KEY_MODE, N_("MODE"), 0, mode, 0}, \
    {"sites-filter", KEY_FILTER, N_("FILTER"), 0, \
     N_("Only sites that match FILTER, as with / on the sites page: names to have, " \
        "-names not to have, ~names to hide, size=A..B, life=A..B, samples=N"), \
     0}, \
    {"sites-older", KEY_OLDER, N_("TIME"), 0, \
     N_("Only blocks that have been alive for at least TIME (90, 10m, 2h)"), 0}

static const struct argp_option table[] = {
    {NULL, 0, NULL, 0, N_("Where memory was allocated:"), 0},
    {"sites", KEY_SITES, N_("RATE"), OPTION_ARG_OPTIONAL,
     N_("Sample where memory is allocated: once in RATE bytes on average (512K), with "
        "this probability for each word (1e-4; 1: everything), or off. Without it, as "
        "often as costs at most half a percent of the time; but not where calls are "
        "recorded"),
     0},
    {"sites-memory", KEY_MEMORY, N_("SIZE"), 0,
     N_("Memory that the samples may take in the program (default: 1M and 1/32 of its "
        "heap, at most 64M; with RATE 256M)"),
     0},
    {"unwind", KEY_UNWIND, N_("HOW"), 0,
     N_("How to walk stacks: dwarf (unwind tables), fp (frame pointers), auto (the "
        "default: tables, frame pointers where there are none), or none"),
     0},
    {"sites-top", KEY_TOP, N_("NUM"), 0,
     N_("Report the NUM call stacks with most memory at the end (default 10)"), 0},
    {"export", KEY_EXPORT, N_("FORMAT:FILE"), 0,
     N_("At the end export the sites to a new FILE, as folded, pprof, massif or json; "
        "with %p in its name, to one for each process; may be repeated"),
     0},
    CHOICE_OPTIONS(
        N_("Which memory to report, export and show: live, peak, allocated or "
           "since-mark")),
    {"sites-sort", KEY_SORT, N_("COLUMN"), 0,
     N_("Sort by bytes, objects, allocated, rate, age, samples, error or growth"), 0},
    {"sites-wrappers", KEY_WRAPPERS, NULL, 0,
     N_("Show xmalloc and the like at the beginning of call stacks, too"), 0},
    {"debuginfod", KEY_DEBUGINFOD, NULL, 0,
     N_("Ask the servers of $DEBUGINFOD_URLS for names of functions, too"), 0},
    {0},
};

static const struct argp_option choice_table[] = {
    CHOICE_OPTIONS(
        N_("Which memory to export: live (default), peak, allocated or since-mark")),
    {0},
};

/* "FORMAT:FILE" */
static bool
parse_export(const char *text, struct exports_request *request)
{
    const char *colon = strchr(text, ':');
    char name[16];

    if (colon == NULL || colon[1] == '\0' || (size_t)(colon - text) >= sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)(colon - text), text);
    request->file = colon + 1;
    return siteexport_format_parse(name, &request->format);
}

/* Short enough for MEMTOP_OPTIONS to hold all words. */
#define RATE_LENGTH_MAX 24

static bool
rate_valid(const char *text)
{
    double rate;

    return strlen(text) <= RATE_LENGTH_MAX
           && (strcmp(text, "off") == 0
               || sampling_rate_parse(text, strlen(text), &rate));
}

bool
sites_off(const struct sites_options *options)
{
    return options->rate != NULL && strcmp(options->rate, "off") == 0;
}

#define TOP_MAX 10000

#define MEMORY_MIN (256u << 10)

static void
take_top(struct argp_state *state, const char *word)
{
    struct sites_options *options = state->input;
    uint64_t count;

    if (!quantity_count(word, &count) || count > TOP_MAX)
        value_refuse(state, "--sites-top", word, _("a number up to 10000"));
    options->top_given = true;
    options->top = (unsigned)count;
}

const char *
sites_choice_given(const struct site_choice *choice)
{
    return choice->mode_given                     ? "--sites-mode"
           : choice->filter_text != NULL          ? "--sites-filter"
           : choice->survivors_ns > 0             ? "--sites-older"
           : choice->column != PROFILE_BY_DEFAULT ? "--sites-sort"
           : choice->wrappers                     ? "--sites-wrappers"
                                                  : NULL;
}

const struct site_choice *
sites_choice(const struct sites_options *options)
{
    return sites_choice_given(&options->choice) != NULL ? &options->choice : NULL;
}

/* Shows only the wrong part of a filter. */
static void
take_filter(struct argp_state *state, struct site_choice *choice, const char *word)
{
    const char *wrong;
    char part[128];
    size_t length;

    choice->filter_text = word;
    if (site_filter_parse(word, &choice->filter, &wrong, &length))
        return;
    snprintf(part, sizeof part, "%.*s", (int)length, wrong);
    value_refuse(state, "--sites-filter", part,
           _("NAME, -NAME, ~NAME, size=A..B, life=A..B, samples=N"));
}

static error_t
take_choice(struct argp_state *state, struct site_choice *choice, int key,
            const char *word)
{
    switch (key) {
    case KEY_MODE:
        choice->mode_given = siteexport_mode_parse(word, &choice->mode);
        if (!choice->mode_given)
            value_refuse(state, "--sites-mode", word,
                         "live, peak, allocated, since-mark");
        return 0;
    case KEY_FILTER:
        take_filter(state, choice, word);
        return 0;
    case KEY_OLDER:
        if (!site_filter_time(word, strlen(word), &choice->survivors_ns)
            || choice->survivors_ns <= 0)
            value_refuse(state, "--sites-older", word, _("a time: 90, 10m, 2h"));
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const char *
sites_useless(const struct sites_options *options, enum sites_use use, bool names_known)
{
    if (use != SITES_SAMPLED && options->unwind != NULL)
        return "--unwind";
    if (use != SITES_SAMPLED && options->memory > 0)
        return "--sites-memory";
    if ((use == SITES_NONE || names_known) && options->debuginfod)
        return "--debuginfod";
    if (use != SITES_NONE)
        return NULL;
    return options->top_given ? "--sites-top" : sites_choice_given(&options->choice);
}

static void
take_unwind(struct argp_state *state, const char *word)
{
    struct sites_options *options = state->input;

    if (strcmp(word, "libunwind") == 0)
        argp_error(state, _("--unwind=libunwind was removed, because it used the "
                            "program's descriptors; leave it out"));
    if (strcmp(word, "glibc") == 0) /* an older name: its unwinder read the same tables */
        word = "dwarf";
    value_word(state, "--unwind", word, "auto, dwarf, fp, none");
    options->unwind = word;
}

static error_t
parse_option(int key, char *word, struct argp_state *state)
{
    struct sites_options *options = state->input;

    switch (key) {
    case KEY_SITES:
        if (word != NULL && !rate_valid(word))
            value_refuse(state, "--sites", word,
                   _("bytes (512K), the probability of a word (1e-4), or off"));
        options->rate = word != NULL ? word : "";
        return 0;
    case KEY_MEMORY:
        if (!quantity_size(word, &options->memory) || options->memory < MEMORY_MIN)
            value_refuse(state, "--sites-memory", word,
                         _("a size such as 64M, at least 256K"));
        return 0;
    case KEY_UNWIND:
        take_unwind(state, word);
        return 0;
    case KEY_TOP:
        take_top(state, word);
        return 0;
    case KEY_EXPORT:
        if (options->export_count == SITES_EXPORTS_MAX)
            argp_error(state, _("too many %s (at most %d)"), "--export",
                       SITES_EXPORTS_MAX);
        else if (!parse_export(word, &options->exports[options->export_count++]))
            value_refuse(state, "--export", word,
                   _("folded:FILE, pprof:FILE, massif:FILE, json:FILE"));
        return 0;
    case KEY_SORT:
        if (!site_choice_column(word, &options->choice.column))
            value_refuse(state, "--sites-sort", word, SITE_CHOICE_COLUMNS);
        return 0;
    case KEY_WRAPPERS:
        options->choice.wrappers = true;
        return 0;
    case KEY_DEBUGINFOD:
        options->debuginfod = true;
        return 0;
    default:
        return take_choice(state, &options->choice, key, word);
    }
}

static error_t
parse_choice(int key, char *word, struct argp_state *state)
{
    return take_choice(state, state->input, key, word);
}

const struct argp sites_argp = {.options = table, .parser = parse_option};
const struct argp sites_choice_argp = {.options = choice_table, .parser = parse_choice};
