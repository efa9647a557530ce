/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What follows from the options. */
#include "config.h"

#include "programs/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "segment/layout.h"

static void
add_word(char *buffer, size_t size, const char *name, const char *value)
{
    size_t used = strlen(buffer);

    snprintf(buffer + used, size - used, "%s%s%s%s", used > 0 ? "," : "", name,
             value != NULL ? "=" : "", value != NULL ? value : "");
}

bool
options_record(const struct options *options)
{
    return options->program != NULL
           && (options->data != NULL || options->record != NULL || options->png != NULL
               || options->report.reports != 0);
}

bool
options_sites(const struct options *options)
{
    return options->program != NULL && !sites_off(&options->sites)
           && (!options_record(options) || options->sites.rate != NULL
               || options->sites.export_count > 0);
}

/* The library samples unless it is told not to; where calls are recorded only if it is
   told to. */
static void
add_sites_words(const struct options *options, char *buffer, size_t size)
{
    const char *rate = options->sites.rate;
    char kib[24];

    if (rate != NULL || options->sites.export_count > 0)
        add_word(buffer, size, "sites", rate != NULL && rate[0] != '\0' ? rate : NULL);
    if (options->sites.memory > 0) {
        snprintf(kib, sizeof kib, "%" PRIu64, options->sites.memory >> 10);
        add_word(buffer, size, "sites-memory", kib);
    }
    if (options->sites.unwind != NULL)
        add_word(buffer, size, "unwind", options->sites.unwind);
}

void
options_words(const struct options *options, char *buffer, size_t size)
{
    char rings[16];

    buffer[0] = '\0';
    if (options->mmap)
        add_word(buffer, size, "mmap", NULL);
    if (options->exact)
        add_word(buffer, size, "exact", NULL);
    if (options->root_only)
        add_word(buffer, size, "root-only", NULL);
    if (options->accounting != NULL)
        add_word(buffer, size, "accounting", options->accounting);
    if (options_record(options)) {
        snprintf(rings, sizeof rings, "%u", RING_CAPACITY_DEFAULT);
        add_word(buffer, size, "rings", rings);
    }
    if (options_record(options) && options->drop)
        add_word(buffer, size, "drop", NULL);
    if (options->program != NULL)
        add_sites_words(options, buffer, size);
}

void
options_png_name(const char *name, char *buffer, size_t size)
{
    size_t length = strlen(name);
    bool there = length >= 4 && strcmp(name + length - 4, ".png") == 0;

    snprintf(buffer, size, "%s%s", name, there ? "" : ".png");
}

bool
options_display_colour(const struct options *options)
{
    const char *no_color = getenv("NO_COLOR");

    if (options->color != COLOR_AUTO)
        return options->color == COLOR_ALWAYS;
    return no_color == NULL || no_color[0] == '\0';
}

bool
options_colour(const struct options *options, int descriptor)
{
    const char *term = getenv("TERM");

    if (options->color != COLOR_AUTO)
        return options->color == COLOR_ALWAYS;
    return options_display_colour(options) && isatty(descriptor)
           && (term == NULL || strcmp(term, "dumb") != 0);
}
