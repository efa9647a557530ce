/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads and writes the parameter file.  It may contain anything: what is not understood
 * is reported with its line and otherwise ignored.
 *
 * An array's elements are collected first: it is accepted as a whole, or not at all.
 */
#include "config.h"

#include "report/blockparams.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/i18n.h"

#define FILE_BYTES_MAX (1u << 20)
#define KEY_MAX   64
#define VALUE_MAX PATH_MAX

struct params_reading {
    const char *at, *end;
    unsigned line;
    struct blockparams *params;
    blockparams_warn *warn;
    void *context;
    struct counts array; /* elements and lower bound */
    uint32_t lower;
    bool array_given;
};

/* ---- values ---- */

enum kind { REPORT, FLAG, NUMBER, SORT, KIND, NAME, PATH, DELIMITER };

struct param_key {
    const char *name;
    enum kind kind;
    size_t offset;  /* in struct blockparams */
    unsigned bit;   /* REPORT */
};

#define AT(member) offsetof(struct blockparams, member)

/* In the order in which they are written. */
static const struct param_key keys[] = {
    {"Report_Overview_Enabled", REPORT, AT(reports), BLOCK_OVERVIEW},
    {"Report_BlockSize_Enabled", REPORT, AT(reports), BLOCK_SIZES},
    {"Report_LoadPeak_Enabled", REPORT, AT(reports), BLOCK_PEAKS},
    {"Report_TimeInterval_Enabled", REPORT, AT(reports), BLOCK_TIMES},
    {"Report_LogFile_Enabled", REPORT, AT(reports), BLOCK_LOG},
    {"Report_Sort", SORT, AT(sort), 0},
    {"Report_GroupByInterval", FLAG, AT(group), 0},
    {"Report_IntervalFactor", NUMBER, AT(counts.factor), 0},
    {"Report_IntervalBase", NUMBER, AT(counts.base), 0},
    {"Report_IntervalType", KIND, AT(counts.kind), 0},
    {"LogFile_Extension", NAME, AT(extension), 0},
    {"LogFile_DirName", PATH, AT(directory), 0},
    {"LogFile_DataDelimiter", DELIMITER, AT(delimiter), 0},
    {"LogFile_OnceFile", FLAG, AT(one_file), 0},
};
#define KEYS (sizeof keys / sizeof *keys)

#define ARRAY_KEY "Report_IntervalArray_"
#define LOWER_KEY "Report_IntervalArrayLowerBound"

static const char not_a_flag[] = N_("is neither True nor False");
static const char not_a_number[] = N_("is not a number from 1 to 4294967295");
static const char not_a_word[] = N_("has an unknown value");
static const char not_a_name[] = N_("cannot be part of a file's name");
static const char too_long[] = N_("is too long");
static const char no_delimiter[] = N_("is not a delimiter");
static const char not_rising[] = N_("is out of order: elements count from 0, and their "
                                    "values must increase");

static bool
parse_number(const char *value, uint32_t least, uint32_t *number)
{
    char *end;
    unsigned long read;

    if (!isdigit((unsigned char)value[0]))
        return false;
    errno = 0;
    read = strtoul(value, &end, 10);
    if (*end != '\0' || errno != 0 || read < least || read > COUNTS_LIMIT)
        return false;
    *number = (uint32_t)read;
    return true;
}

static bool
parse_flag(const char *value, bool *flag)
{
    *flag = strcasecmp(value, "True") == 0;
    return *flag || strcasecmp(value, "False") == 0;
}

static bool
parse_kind(const char *value, enum counts_kind *kind)
{
    static const char *const words[] = {"aitLinear", "aitPower", "aitArray"};
    uint32_t number = 0;

    for (uint32_t i = 0; i < 3; i++)
        if (strcasecmp(value, words[i]) == 0)
            number = i + 1;
    if (number == 0 && (!parse_number(value, 1, &number) || number > COUNTS_ARRAY))
        return false;
    *kind = (enum counts_kind)number;
    return true;
}

/* Returns what is wrong with the value, or NULL if it was accepted. */
static const char *
take_flag(const struct param_key *key, const char *value, void *member)
{
    bool flag;

    if (!parse_flag(value, &flag))
        return not_a_flag;
    if (key->kind == REPORT)
        *(unsigned *)member = flag ? *(unsigned *)member | key->bit
                                   : *(unsigned *)member & ~key->bit;
    else
        *(bool *)member = flag;
    return NULL;
}

static const char *
take_text(const struct param_key *key, const char *value, char *member)
{
    size_t room = key->kind == PATH ? PATH_MAX : BLOCKPARAMS_TEXT_MAX;

    if (key->kind == NAME && strchr(value, '/') != NULL)
        return not_a_name;
    if (strlen(value) >= room)
        return too_long;
    memcpy(member, value, strlen(value) + 1);
    return NULL;
}

static const char *
take_value(const struct param_key *key, const char *value, struct blockparams *params)
{
    void *member = (char *)params + key->offset;

    switch (key->kind) {
    case REPORT:
    case FLAG:
        return take_flag(key, value, member);
    case NUMBER:
        return parse_number(value, 1, member) ? NULL : not_a_number;
    case SORT:
        return blockparams_sort(value, member) ? NULL : not_a_word;
    case KIND:
        return parse_kind(value, member) ? NULL : not_a_word;
    case NAME:
    case PATH:
        return take_text(key, value, member);
    default:
        return blockparams_delimiter(value, member) ? NULL : no_delimiter;
    }
}

/* ---- the array ---- */

static const char *
take_element(struct params_reading *reading, const char *digits, const char *value)
{
    struct counts *array = &reading->array;
    uint32_t index, bound;

    reading->array_given = true;
    if (!parse_number(digits, 0, &index) || index != array->length
        || index >= COUNTS_BOUNDS_MAX)
        return not_rising;
    if (!parse_number(value, 1, &bound))
        return not_a_number;
    if (index > 0 && bound <= array->bounds[index - 1])
        return not_rising;
    array->bounds[array->length++] = bound;
    return NULL;
}

/* Accepts the array as a whole, once the file has been read. */
static void
finish_array(struct params_reading *reading, unsigned faults)
{
    struct counts *counts = &reading->params->counts;

    if (reading->array_given && faults == 0) {
        memcpy(counts->bounds, reading->array.bounds, sizeof counts->bounds);
        counts->length = reading->array.length;
    }
    if (reading->lower < counts->bounds[0])
        counts->lower = reading->lower;
    else
        reading->warn(reading->context, reading->line, LOWER_KEY,
                      N_("is not below the array's first element"));
}

/* ---- the syntax ---- */

static void
complain(struct params_reading *reading, const char *key, const char *what)
{
    reading->warn(reading->context, reading->line, key, what);
}

/* Skips a comment that begins here. */
static void
skip_comment(struct params_reading *reading)
{
    const char *close = memchr(reading->at, '}', (size_t)(reading->end - reading->at));

    if (close == NULL) {
        complain(reading, "", N_("a comment has no end"));
        reading->at = reading->end;
        return;
    }
    for (; reading->at <= close; reading->at++)
        reading->line += *reading->at == '\n';
}

static void
skip_line(struct params_reading *reading)
{
    while (reading->at < reading->end && *reading->at != '\n')
        reading->at++;
}

/* Takes the text up to one of the ends, without blanks around it.  Returns false if it is
   too long. */
static bool
take_until(struct params_reading *reading, const char *ends, char *text, size_t size)
{
    const char *begin = reading->at;
    size_t length;

    while (reading->at < reading->end && *reading->at != '\0'
           && strchr(ends, *reading->at) == NULL)
        reading->at++;
    length = (size_t)(reading->at - begin);
    while (length > 0 && strchr(" \t\r", begin[length - 1]) != NULL)
        length--;
    for (; length > 0 && strchr(" \t", *begin) != NULL; length--)
        begin++;
    snprintf(text, size, "%.*s", (int)(length < size ? length : size - 1), begin);
    return length < size;
}

static const char *
take_parameter(struct params_reading *reading, const char *name, const char *value,
               unsigned *array_faults)
{
    const char *what;

    for (size_t i = 0; i < KEYS; i++)
        if (strcmp(name, keys[i].name) == 0)
            return value[0] == '\0' ? N_("has no value")
                                    : take_value(&keys[i], value, reading->params);
    if (strcmp(name, LOWER_KEY) == 0)
        return parse_number(value, 0, &reading->lower) ? NULL : not_a_number;
    if (strncmp(name, ARRAY_KEY, strlen(ARRAY_KEY)) != 0)
        return N_("is not a parameter");
    what = take_element(reading, name + strlen(ARRAY_KEY), value);
    *array_faults += what != NULL;
    /* A single fault shifts all elements behind it. */
    return *array_faults > 1 ? NULL : what;
}

static void
read_parameter(struct params_reading *reading, unsigned *array_faults)
{
    char name[KEY_MAX], value[VALUE_MAX];
    const char *what;

    reading->at++;
    if (!take_until(reading, "]\n", name, sizeof name) || reading->at == reading->end
        || *reading->at != ']') {
        complain(reading, "", N_("a key has no ]"));
        skip_line(reading);
        return;
    }
    reading->at++;
    if (!take_until(reading, "{\n", value, sizeof value))
        what = too_long;
    else
        what = take_parameter(reading, name, value, array_faults);
    if (what != NULL)
        complain(reading, name, what);
}

void
blockparams_parse(const char *text, size_t length, struct blockparams *params,
                  blockparams_warn *warn, void *context)
{
    struct params_reading reading = {.at = text,
                                     .end = text + length,
                                     .line = 1,
                                     .params = params,
                                     .warn = warn,
                                     .context = context,
                                     .lower = params->counts.lower};
    unsigned array_faults = 0;

    while (reading.at < reading.end) {
        switch (*reading.at) {
        case '\n':
            reading.line++;
            /* fall through */
        case ' ':
        case '\t':
        case '\r':
            reading.at++;
            break;
        case '{':
            skip_comment(&reading);
            break;
        case '[':
            read_parameter(&reading, &array_faults);
            break;
        default:
            complain(&reading, "", N_("this line is neither a parameter nor a comment"));
            skip_line(&reading);
        }
    }
    finish_array(&reading, array_faults);
}

int
blockparams_read(const char *path, struct blockparams *params, blockparams_warn *warn,
                 void *context)
{
    FILE *file = fopen(path, "re");
    char *text = malloc(FILE_BYTES_MAX);
    size_t length = 0;
    int error = 0;

    if (file == NULL)
        error = -errno;
    else if (text == NULL)
        error = -ENOMEM;
    else {
        length = fread(text, 1, FILE_BYTES_MAX, file);
        error = ferror(file) ? -errno : length == FILE_BYTES_MAX ? -EFBIG : 0;
    }
    if (file != NULL)
        fclose(file);
    if (error == 0)
        blockparams_parse(text, length, params, warn, context);
    free(text);
    return error;
}

/* ---- writing ---- */

static void
write_delimiter(FILE *out, const char *delimiter)
{
    for (; *delimiter != '\0'; delimiter++)
        if (*delimiter == '\t')
            fputs("\\t", out);
        else if (*delimiter == '\\')
            fputs("\\\\", out);
        else if ((unsigned char)*delimiter <= ' ' || strchr("{}", *delimiter) != NULL
                 || *delimiter == 0x7f)
            fprintf(out, "\\x%02x", (unsigned char)*delimiter);
        else
            fputc(*delimiter, out);
}

static void
write_value(FILE *out, const struct param_key *key, const struct blockparams *params)
{
    static const char *const sorts[] = {"amsrstUnsorted", "amsrstSortByCount",
                                        "amsrstSortBySize"};
    static const char *const kinds[] = {"", "aitLinear", "aitPower", "aitArray"};
    const void *member = (const char *)params + key->offset;

    switch (key->kind) {
    case REPORT:
        fputs(params->reports & key->bit ? "True" : "False", out);
        break;
    case FLAG:
        fputs(*(const bool *)member ? "True" : "False", out);
        break;
    case NUMBER:
        fprintf(out, "%lu", (unsigned long)*(const uint32_t *)member);
        break;
    case SORT:
        fputs(sorts[params->sort], out);
        break;
    case KIND:
        fputs(kinds[params->counts.kind], out);
        break;
    case NAME:
    case PATH:
        fputs(member, out);
        break;
    default:
        write_delimiter(out, member);
    }
}

static void
write_array(FILE *out, const struct counts *counts)
{
    fprintf(out, "[" LOWER_KEY "] %lu\n", (unsigned long)counts->lower);
    for (unsigned i = 0; i < counts->length; i++)
        fprintf(out, "[" ARRAY_KEY "%u] %lu\n", i, (unsigned long)counts->bounds[i]);
}

bool
blockparams_write(FILE *out, const struct blockparams *params)
{
    for (size_t i = 0; i < KEYS; i++) {
        fprintf(out, "[%s] ", keys[i].name);
        write_value(out, &keys[i], params);
        fputc('\n', out);
        if (keys[i].kind == KIND)
            write_array(out, &params->counts);
    }
    return fflush(out) == 0 && !ferror(out);
}
