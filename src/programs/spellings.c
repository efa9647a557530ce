/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * getopt_long() accepts a name that is in the table exactly, however many longer names
 * begin with it.  Abbreviations that memusage finds ambiguous are not added.
 */
#include "config.h"

#include "programs/options.h"

#include <string.h>

#define OPTIONS_MAX 160
#define NAME_MAX_SIZE 16

/* The shortest abbreviation of each option, from memusage's script. */
static const struct {
    const char *name;
    size_t least;
} abbreviated[] = {
    {"progname", 2},   {"png", 2},   {"data", 1},  {"unbuffered", 2}, {"buffer", 1},
    {"no-timer", 1},   {"mmap", 1},  {"total", 2}, {"time-based", 3}, {"title", 3},
    {"x-size", 1},     {"y-size", 1},
};

static struct argp_option options[OPTIONS_MAX];
static char names[OPTIONS_MAX][NAME_MAX_SIZE];
static size_t count;

static const struct argp_option *
find(const struct argp_option *table, const char *name)
{
    for (; table->name != NULL || table->key != 0 || table->doc != NULL; table++)
        if (table->name != NULL && strcmp(table->name, name) == 0)
            return table;
    return NULL;
}

static void
add_abbreviation(const struct argp_option *option, size_t length)
{
    if (count + 1 >= OPTIONS_MAX)
        return;
    memcpy(names[count], option->name, length);
    options[count] = *option;
    options[count].name = names[count];
    options[count].doc = NULL;
    options[count].flags |= OPTION_HIDDEN;
    count++;
}

const struct argp_option *
spellings_add(const struct argp_option *table)
{
    const struct argp_option *at = table;

    for (count = 0; at->name != NULL || at->key != 0 || at->doc != NULL; at++)
        if (count + 1 < OPTIONS_MAX)
            options[count++] = *at;
    for (size_t i = 0; i < sizeof abbreviated / sizeof *abbreviated; i++) {
        const struct argp_option *option = find(table, abbreviated[i].name);

        for (size_t length = abbreviated[i].least;
             option != NULL && length < strlen(abbreviated[i].name); length++)
            add_abbreviation(option, length);
    }
    memset(&options[count], 0, sizeof options[count]);
    return options;
}
