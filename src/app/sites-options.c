/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A child of memtop's parser: its options stand in a group of their own in the help. */
#include "config.h"

#include "app/sites-options.h"

#include <stdio.h>
#include <string.h>

#include "i18n.h"
#include "report/quantity.h"
#include "segment/rate.h"

enum { KEY_EXPORT = 0x3000, KEY_MODE, KEY_DEBUGINFOD, KEY_SITES, KEY_UNWIND, KEY_TOP };

static const struct argp_option table[] = {
    {NULL, 0, NULL, 0, N_("Where memory was allocated:"), 0},
    {"sites", KEY_SITES, N_("RATE"), OPTION_ARG_OPTIONAL,
     N_("Sample where memory is allocated: once in RATE bytes on average (default "
        "512K), or with this probability for each word (1e-4)"),
     0},
    {"unwind", KEY_UNWIND, N_("HOW"), 0,
     N_("Walk stacks by libunwind, glibc, fp (frame pointers), none, or auto"), 0},
    {"sites-top", KEY_TOP, N_("NUM"), 0,
     N_("Report the NUM call stacks with most memory at the end (default 10)"), 0},
    {"export", KEY_EXPORT, N_("FORMAT:FILE"), 0,
     N_("At the end export it to FILE, a new one, as folded, pprof, massif or json; may "
        "be repeated"),
     0},
    {"sites-mode", KEY_MODE, N_("MODE"), 0,
     N_("Which memory to export: live (default), peak, allocated or since-mark"), 0},
    {"debuginfod", KEY_DEBUGINFOD, NULL, 0,
     N_("Ask the servers of $DEBUGINFOD_URLS for names of functions, too"), 0},
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

/* So short that all words together fit. */
#define RATE_LENGTH_MAX 24

static bool
rate_valid(const char *text)
{
    double rate;

    return strlen(text) <= RATE_LENGTH_MAX && sampling_rate_parse(text, strlen(text), &rate);
}

static bool
unwind_valid(const char *word)
{
    static const char *const words[] = {"auto", "libunwind", "glibc", "fp", "none"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

static void
refuse(struct argp_state *state, const char *option, const char *word, const char *words)
{
    argp_error(state, _("'%s' is not a value of %s: it takes %s"), word, option, words);
}

#define TOP_MAX 10000

static void
take_top(struct argp_state *state, const char *word)
{
    struct sites_options *options = state->input;
    uint64_t count;

    if (!quantity_count(word, &count) || count > TOP_MAX)
        refuse(state, "--sites-top", word, _("a number up to 10000"));
    options->top_given = true;
    options->top = (unsigned)count;
}

static error_t
parse_option(int key, char *word, struct argp_state *state)
{
    struct sites_options *options = state->input;

    switch (key) {
    case KEY_SITES:
        if (word != NULL && !rate_valid(word))
            refuse(state, "--sites", word,
                   _("bytes (512K) or the probability of a word (1e-4)"));
        options->rate = word != NULL ? word : "";
        return 0;
    case KEY_UNWIND:
        if (!unwind_valid(word))
            refuse(state, "--unwind", word, "auto, libunwind, glibc, fp, none");
        options->unwind = word;
        return 0;
    case KEY_TOP:
        take_top(state, word);
        return 0;
    case KEY_EXPORT:
        if (options->export_count == SITES_EXPORTS_MAX)
            argp_error(state, _("too many %s (at most %d)"), "--export",
                       SITES_EXPORTS_MAX);
        else if (!parse_export(word, &options->exports[options->export_count++]))
            refuse(state, "--export", word,
                   _("folded:FILE, pprof:FILE, massif:FILE, json:FILE"));
        return 0;
    case KEY_MODE:
        if (!siteexport_mode_parse(word, &options->mode))
            refuse(state, "--sites-mode", word, "live, peak, allocated, since-mark");
        return 0;
    case KEY_DEBUGINFOD:
        options->debuginfod = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp sites_argp = {.options = table, .parser = parse_option};
