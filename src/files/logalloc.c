/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parses single lines.  A log may contain anything, and the program that reads it must
 * not allocate.  So nothing here allocates, keeps state, or looks beyond the bytes it is
 * given.
 */
#include "config.h"

#include "files/logalloc.h"

#include <string.h>

#include "base/quantity.h"

bool
logalloc_takes_block(enum logalloc_call call)
{
    return logalloc_shapes[call].takes;
}

bool
logalloc_returns_block(enum logalloc_call call)
{
    return logalloc_shapes[call].returns;
}

/* ---- reading ---- */

struct part {
    const char *at, *end;
};

static size_t
length_of(struct part part)
{
    return (size_t)(part.end - part.at);
}

static bool
is_space(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static struct part
trim(const char *text, size_t length)
{
    struct part part = {text, text + length};

    while (part.at < part.end && is_space(*part.at))
        part.at++;
    while (part.at < part.end && is_space(part.end[-1]))
        part.end--;
    return part;
}

/* Cuts *rest at the separator: *before is the part before it, *rest the part after it.
   Without a separator *before is all of it, and false is returned. */
static bool
cut(struct part *rest, char separator, struct part *before)
{
    const char *found =
        rest->at < rest->end ? memchr(rest->at, separator, length_of(*rest)) : NULL;

    *before = *rest;
    if (found == NULL) {
        rest->at = rest->end;
        return false;
    }
    before->end = found;
    rest->at = found + 1;
    return true;
}

static bool
has(struct part part, char byte)
{
    return part.at < part.end && memchr(part.at, byte, length_of(part)) != NULL;
}

static bool
read_decimal(struct part part, uint64_t *value)
{
    return quantity_digits(part.at, length_of(part), 10, value);
}

static bool
read_address(struct part part, uint64_t *value)
{
    if (length_of(part) > 2 && part.at[0] == '0' && (part.at[1] | 32) == 'x')
        part.at += 2;
    return quantity_digits(part.at, length_of(part), 16, value);
}

static bool
read_block(struct part part, enum logalloc_form form, uint64_t *value)
{
    if (form == LOGALLOC_RAW)
        return read_address(part, value);
    if (part.at == part.end || *part.at != '#')
        return false;
    part.at++;
    return read_decimal(part, value);
}

static const struct logalloc_shape *
find_shape(struct part name)
{
    for (const struct logalloc_shape *shape = logalloc_shapes;
         shape < logalloc_shapes + LOGALLOC_SHAPES; shape++)
        if (strlen(shape->name) == length_of(name) &&
            memcmp(shape->name, name.at, length_of(name)) == 0)
            return shape;
    return NULL;
}

/* Parses "PID TID name" or "PID name". */
static bool
read_head(struct part head, struct logalloc_line *line, struct part *name)
{
    struct part pid, tid;

    if (!cut(&head, ' ', &pid) || !read_decimal(pid, &line->pid))
        return false;
    line->tid = line->pid;
    if (cut(&head, ' ', &tid)) {
        if (!read_decimal(tid, &line->tid))
            return false;
        cut(&head, ' ', name);
    } else {
        *name = tid;
    }
    return head.at == head.end;
}

static bool
read_arguments(struct part text, const struct logalloc_shape *shape,
               enum logalloc_form form, struct logalloc_line *line)
{
    struct part first, second;

    if (shape->arguments == 0)
        return text.at == text.end;
    if (cut(&text, ',', &first) != (shape->arguments == 2))
        return false;
    second = text;
    if (shape->takes && !read_block(first, form, &line->block))
        return false;
    if (shape->arguments == 1)
        return shape->takes || read_decimal(first, &line->size);
    return (shape->takes || read_decimal(first, &line->other)) &&
           read_decimal(second, &line->size);
}

enum logalloc_verdict
logalloc_parse(const char *text, size_t length, enum logalloc_form form,
               struct logalloc_line *line)
{
    struct part rest = trim(text, length), head, arguments, name;
    const struct logalloc_shape *shape;

    memset(line, 0, sizeof *line);
    if (!cut(&rest, '(', &head) || !cut(&rest, ')', &arguments) ||
        has(arguments, '(') || has(rest, '(') || has(rest, ')') ||
        (rest.at < rest.end && *rest.at != '=') || !read_head(head, line, &name))
        return LOGALLOC_MALFORMED;
    shape = find_shape(name);
    if (shape == NULL)
        return LOGALLOC_UNKNOWN;
    line->call = shape->call;
    line->has_result = rest.at < rest.end;
    if (!read_arguments(arguments, shape, form, line) ||
        (line->has_result && !shape->returns))
        return LOGALLOC_MISFIT;
    rest.at += line->has_result;
    return !line->has_result || read_block(rest, form, &line->result) ? LOGALLOC_GOOD
                                                                      : LOGALLOC_MISFIT;
}
