/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses filters word by word; a word that is not a condition is a name. */
#include "config.h"

#include "report/site-filter.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/quantity.h"

struct word {
    const char *text;
    size_t length;
};

/* Takes the word at *text, and moves *text behind it; it may contain quotes anywhere. */
static struct word
next_word(const char **text)
{
    struct word word = {.text = *text + strspn(*text, " ")};
    bool quoted = false;

    while (word.text[word.length] != '\0' && (quoted || word.text[word.length] != ' ')) {
        quoted ^= word.text[word.length] == '"';
        word.length++;
    }
    *text = word.text + word.length;
    return word;
}

/* "\"operator new\"" -> "operator new"; false if it is too long or empty. */
static bool
unquote(const struct word *word, size_t from, char *out, size_t size)
{
    size_t used = 0;

    for (size_t i = from; i < word->length; i++) {
        if (word->text[i] == '"')
            continue;
        if (used + 1 >= size)
            return false;
        out[used++] = word->text[i];
    }
    out[used] = '\0';
    return used > 0;
}

static bool
take_rule(const struct word *word, struct profile_filter *filter)
{
    struct profile_rule *rule = &filter->rules[filter->rule_count];
    size_t from = 0;

    if (filter->rule_count == PROFILE_RULES_MAX)
        return false;
    *rule = (struct profile_rule){.kind = PROFILE_REQUIRE};
    if (word->text[0] == '-' || word->text[0] == '~')
        rule->kind = word->text[from++] == '-' ? PROFILE_FORBID : PROFILE_HIDE;
    rule->whole = from < word->length && word->text[from] == '=';
    from += rule->whole;
    if (!unquote(word, from, rule->text, sizeof rule->text))
        return false;
    filter->rule_count++;
    return true;
}

bool
site_filter_time(const char *text, size_t length, int64_t *ns)
{
    char moment[32];
    uint64_t value;

    if (length >= sizeof moment)
        return false;
    snprintf(moment, sizeof moment, "%.*s", (int)length, text);
    if (!quantity_moment(moment, &value) || value > INT64_MAX)
        return false;
    *ns = (int64_t)value;
    return true;
}

static bool
take_size(const char *text, size_t length, uint64_t *bytes)
{
    char number[32];

    if (length >= sizeof number)
        return false;
    snprintf(number, sizeof number, "%.*s", (int)length, text);
    return quantity_size(number, bytes);
}

/* The place of the dots in "A..B"; NULL if there are none. */
static const char *
find_dots(const char *text, size_t length)
{
    return memmem(text, length, "..", 2);
}

static bool
take_sizes(const char *text, size_t length, struct profile_filter *filter)
{
    const char *dots = find_dots(text, length);
    size_t before = dots != NULL ? (size_t)(dots - text) : 0;

    if (dots == NULL || length == 2)
        return false;
    filter->size_from = filter->size_to = 0;
    if (before > 0 && !take_size(text, before, &filter->size_from))
        return false;
    return before + 2 == length
           || (take_size(dots + 2, length - before - 2, &filter->size_to)
               && filter->size_to > 0 && filter->size_to >= filter->size_from);
}

static bool
take_lives(const char *text, size_t length, struct profile_filter *filter)
{
    const char *dots = find_dots(text, length);
    size_t before = dots != NULL ? (size_t)(dots - text) : 0;

    if (dots == NULL || length == 2)
        return false;
    filter->life_from_ns = filter->life_to_ns = 0;
    if (before > 0 && !site_filter_time(text, before, &filter->life_from_ns))
        return false;
    return before + 2 == length
           || (site_filter_time(dots + 2, length - before - 2, &filter->life_to_ns)
               && filter->life_to_ns > 0 && filter->life_to_ns >= filter->life_from_ns);
}

static bool
take_samples(const char *text, size_t length, struct profile_filter *filter)
{
    char number[32];

    if (length >= sizeof number)
        return false;
    snprintf(number, sizeof number, "%.*s", (int)length, text);
    return quantity_count(number, &filter->blocks_min);
}

static bool
take_word(const struct word *word, struct profile_filter *filter)
{
    static const struct {
        const char *name;
        bool (*take)(const char *text, size_t length, struct profile_filter *filter);
    } conditions[] = {
        {"size=", take_sizes}, {"life=", take_lives}, {"samples=", take_samples}};

    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        size_t name = strlen(conditions[i].name);

        if (word->length >= name && memcmp(word->text, conditions[i].name, name) == 0)
            return conditions[i].take(word->text + name, word->length - name, filter);
    }
    return take_rule(word, filter);
}

bool
site_filter_parse(const char *text, struct profile_filter *filter, const char **wrong,
                  size_t *length)
{
    *filter = (struct profile_filter){.rule_count = 0};
    for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
        const struct word word = next_word(&text);

        if (!take_word(&word, filter)) {
            *wrong = word.text;
            *length = word.length;
            return false;
        }
    }
    return true;
}

/* ---- choices ---- */

enum profile_mode
site_choice_mode(const struct site_choice *choice, enum profile_mode usual)
{
    const struct profile_filter *filter = &choice->filter;

    if (choice->mode_given)
        return choice->mode;
    return choice->survivors_ns > 0 || filter->life_from_ns > 0 || filter->life_to_ns > 0
               ? PROFILE_LIVE
               : usual;
}

bool
site_choice_column(const char *name, enum profile_column *column)
{
    static const char *const names[PROFILE_COLUMNS] = {
        [PROFILE_BY_BYTES] = "bytes",    [PROFILE_BY_OBJECTS] = "objects",
        [PROFILE_BY_MADE] = "allocated", [PROFILE_BY_RATE] = "rate",
        [PROFILE_BY_AGE] = "age",        [PROFILE_BY_BLOCKS] = "samples",
        [PROFILE_BY_ERROR] = "error",    [PROFILE_BY_GROWTH] = "growth",
    };

    for (int i = PROFILE_BY_BYTES; i < PROFILE_COLUMNS; i++)
        if (strcmp(name, names[i]) == 0) {
            *column = (enum profile_column)i;
            return true;
        }
    return false;
}
