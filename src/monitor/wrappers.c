/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Patterns are tried from the last to the first: the first one that matches decides.  A
 * name is compared with a few hundred patterns, nearly all of which differ in their first
 * character, once for each address in stacks.
 */
#include "config.h"

#include "monitor/wrappers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"

/* Limits of a user's file. */
#define PATTERN_BYTES_MAX 256
#define PATTERNS_MAX      10000

enum pattern_kind { PATTERN_FUNCTION, PATTERN_MODULE, PATTERN_SOURCE };

struct wrapper_pattern {
    enum pattern_kind kind;
    bool except;     /* such functions are none */
    char text[];
};

static const char *const known[] = {
#include "monitor/wrappers-list.h"
};

static struct wrapper_pattern **patterns;
static size_t count, room;

/* Does the pattern match all of text? */
static bool
matches(const char *pattern, const char *text)
{
    const char *star = NULL, *resume = NULL;

    if (*pattern != '*' && *pattern != *text)
        return false;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            resume = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

/* Only printable characters, and not only "anything". */
static bool
says_something(const char *pattern, size_t length)
{
    bool any = false;

    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)pattern[i];

        if (byte < ' ' || byte == 0x7f)
            return false;
        any = any || byte != '*';
    }
    return any;
}

enum outcome { ADDED, NO_PATTERN, SHORT_OF_MEMORY };

static enum outcome
add_pattern(const char *line, size_t length)
{
    bool except = length > 0 && line[0] == '!';
    enum pattern_kind kind = PATTERN_FUNCTION;
    struct wrapper_pattern *pattern;

    line += except;
    length -= except;
    if (length > 0 && line[0] == '@') {
        kind = PATTERN_MODULE;
        line++;
        length--;
    } else if (length > 0 && line[line[0] == '*' && length > 1] == '/') {
        kind = PATTERN_SOURCE;
    }
    if (length > PATTERN_BYTES_MAX || !says_something(line, length)
        || count >= PATTERNS_MAX)
        return NO_PATTERN;
    pattern = malloc(sizeof *pattern + length + 1);
    if (pattern == NULL || !ARRAY_GROW(patterns, room, count + 1)) {
        free(pattern);
        return SHORT_OF_MEMORY;
    }
    pattern->kind = kind;
    pattern->except = except;
    memcpy(pattern->text, line, length);
    pattern->text[length] = '\0';
    patterns[count++] = pattern;
    return ADDED;
}

/* The built-in ones are the first. */
static void
add_known(void)
{
    for (size_t i = 0; count == i && i < sizeof known / sizeof *known; i++)
        add_pattern(known[i], strlen(known[i]));
}

/* Compilers may leave out where the sources were: then they lay in "/". */
static const char *
absolute(char *text, size_t size, const char *source)
{
    if (source == NULL || source[0] == '/')
        return source;
    snprintf(text, size, "/%s", source);
    return text;
}

bool
wrappers_have(const char *function, const char *module, const char *source)
{
    char path[1024];
    const char *const texts[] = {[PATTERN_FUNCTION] = function,
                                 [PATTERN_MODULE] =
                                     module != NULL ? path_name(module) : NULL,
                                 [PATTERN_SOURCE] =
                                     absolute(path, sizeof path, source)};

    if (count == 0)
        add_known();
    for (size_t i = count; i-- > 0;) {
        const char *text = texts[patterns[i]->kind];

        if (text != NULL && matches(patterns[i]->text, text))
            return !patterns[i]->except;
    }
    return false;
}

static bool
is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static void
tell(const struct wrappers_fault *fault, unsigned number, const char *line, size_t length)
{
    char text[PATTERN_BYTES_MAX + 1];

    if (length > PATTERN_BYTES_MAX)
        length = PATTERN_BYTES_MAX;
    memcpy(text, line, length);
    text[length] = '\0';
    fault->tell(fault->context, number, text);
}

bool
wrappers_add(const char *text, size_t length, const struct wrappers_fault *fault)
{
    const char *end = text + length;

    if (count == 0)
        add_known();
    for (unsigned number = 1; text < end; number++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *last = newline != NULL ? newline : end;
        const char *next = newline != NULL ? newline + 1 : end;

        while (text < last && is_blank(*text))
            text++;
        while (text < last && is_blank(last[-1]))
            last--;
        if (text < last && *text != '#') {
            enum outcome outcome = add_pattern(text, (size_t)(last - text));

            if (outcome == SHORT_OF_MEMORY)
                return false;
            if (outcome == NO_PATTERN)
                tell(fault, number, text, (size_t)(last - text));
        }
        text = next;
    }
    return true;
}

void
wrappers_reset(void)
{
    while (count > 0)
        free(patterns[--count]);
    free(patterns);
    patterns = NULL;
    room = 0;
}
