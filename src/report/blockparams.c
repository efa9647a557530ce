/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parameters and their words.  blockparams-file.c reads files.
 */
#include "config.h"

#include "report/blockparams.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void
blockparams_default(struct blockparams *params)
{
    *params = (struct blockparams){.reports = BLOCK_FULL,
                                   .sort = BLOCK_BY_SIZE,
                                   .group = true,
                                   .extension = "log",
                                   .directory = ".",
                                   .delimiter = "\t",
                                   .one_file = true};
    counts_default(&params->counts);
}

unsigned
blockparams_reports(const char *list)
{
    static const struct {
        const char *word;
        unsigned bits;
    } words[] = {{"overview", BLOCK_OVERVIEW}, {"blocksize", BLOCK_SIZES},
                 {"loadpeak", BLOCK_PEAKS},    {"timeinterval", BLOCK_TIMES},
                 {"logfile", BLOCK_LOG},       {"full", BLOCK_FULL}};
    unsigned bits = 0;

    for (;;) {
        size_t length = strcspn(list, ","), i = 0;

        while (i < sizeof words / sizeof *words
               && (strlen(words[i].word) != length
                   || strncmp(words[i].word, list, length) != 0))
            i++;
        if (i == sizeof words / sizeof *words)
            return 0;
        bits |= words[i].bits;
        if (list[length] == '\0')
            return bits;
        list += length + 1;
    }
}

bool
blockparams_sort(const char *word, enum block_sort *sort)
{
    static const char *const words[][3] = {{"amsrstUnsorted", "unsorted", "0"},
                                           {"amsrstSortByCount", "count", "1"},
                                           {"amsrstSortBySize", "size", "2"}};

    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 0; k < 3; k++)
            if (strcasecmp(word, words[i][k]) == 0) {
                *sort = (enum block_sort)i;
                return true;
            }
    return false;
}

/* Takes a number from 1 to COUNTS_LIMIT from *text, and moves *text behind it. */
static bool
take_number(const char **text, uint32_t *number)
{
    char *end;
    unsigned long value;

    if (!isdigit((unsigned char)**text))
        return false;
    value = strtoul(*text, &end, 10);
    if (value < 1 || value > COUNTS_LIMIT)
        return false;
    *number = (uint32_t)value;
    *text = end;
    return true;
}

static bool
take_array(const char *text, struct counts *counts)
{
    uint32_t last = counts->lower;

    counts->kind = COUNTS_ARRAY;
    for (counts->length = 0; counts->length < COUNTS_BOUNDS_MAX; text++) {
        uint32_t *bound = &counts->bounds[counts->length++];

        if (!take_number(&text, bound) || *bound <= last)
            return false;
        last = *bound;
        if (*text != ',')
            return *text == '\0';
    }
    return false;
}

bool
blockparams_counts(const char *text, struct counts *counts)
{
    struct counts read = *counts;
    bool right;

    if (strncmp(text, "linear", 6) == 0) {
        read.kind = COUNTS_LINEAR;
        text += 6;
    } else if (strncmp(text, "power", 5) == 0) {
        read.kind = COUNTS_POWER;
        text += 5;
    } else {
        right = strcmp(text, "array") == 0 || take_array(text, &read);
        if (right) {
            read.kind = COUNTS_ARRAY;
            *counts = read;
        }
        return right;
    }
    right = *text == '\0' || (*text++ == ':' && take_number(&text, &read.factor));
    if (right && *text == ':' && read.kind == COUNTS_POWER)
        right = take_number((text++, &text), &read.base);
    if (!right || *text != '\0')
        return false;
    *counts = read;
    return true;
}

static bool
take_escape(const char **text, char *byte)
{
    static const char escapes[] = "t\tn\nr\r\\\\";
    const char *escape = **text != '\0' ? strchr(escapes, **text) : NULL;

    if (escape != NULL && (escape - escapes) % 2 == 0) {
        *byte = escape[1];
        ++*text;
        return true;
    }
    if (**text != 'x' || !isxdigit((unsigned char)(*text)[1])
        || !isxdigit((unsigned char)(*text)[2]))
        return false;
    const char digits[3] = {(*text)[1], (*text)[2], '\0'};
    *byte = (char)strtoul(digits, NULL, 16);
    *text += 3;
    return *byte != '\0';
}

bool
blockparams_delimiter(const char *text, char *delimiter)
{
    char read[BLOCKPARAMS_TEXT_MAX];
    size_t length = 0;

    while (*text != '\0') {
        char byte = *text++;

        if (length == sizeof read - 1
            || (byte == '\\' && !take_escape(&text, &byte)))
            return false;
        read[length++] = byte;
    }
    if (length == 0)
        return false;
    memcpy(delimiter, read, length);
    delimiter[length] = '\0';
    return true;
}
