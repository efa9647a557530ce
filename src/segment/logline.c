/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs in the observed program too, inside its calls of malloc: nothing here allocates or
 * keeps state, and everything may be interrupted.
 */
#include "config.h"

#include "segment/logline.h"

#include <string.h>

const struct logalloc_shape logalloc_shapes[LOGALLOC_SHAPES] = {
    {"malloc", LOGALLOC_MALLOC, 1, false, true},
    {"calloc", LOGALLOC_CALLOC, 2, false, true},
    {"realloc", LOGALLOC_REALLOC, 2, true, true},
    {"free", LOGALLOC_FREE, 1, true, false},
    {"memalign", LOGALLOC_MEMALIGN, 2, false, true},
    {"posix_memalign", LOGALLOC_POSIX_MEMALIGN, 2, false, true},
    {"aligned_alloc", LOGALLOC_ALIGNED_ALLOC, 2, false, true},
    {"valloc", LOGALLOC_VALLOC, 1, false, true},
    {"jemalloc_stats", LOGALLOC_STATS, 0, false, false},
    {"stats", LOGALLOC_STATS, 0, false, false},
};

/* printf() would take most of the time that writing a log costs. */
static char *
put_number(char *at, uint64_t value, unsigned base)
{
    char digits[20];
    size_t count = 0;

    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

static char *
put_text(char *at, const char *text)
{
    size_t length = strlen(text);

    memcpy(at, text, length);
    return at + length;
}

static char *
put_block(char *at, enum logalloc_form form, uint64_t block)
{
    if (form == LOGALLOC_RAW)
        return put_number(put_text(at, "0x"), block, 16);
    *at++ = '#';
    return put_number(at, block, 10);
}

size_t
logalloc_format(char text[LOGALLOC_LINE_MAX], enum logalloc_form form,
                const struct logalloc_line *line)
{
    const struct logalloc_shape *shape = &logalloc_shapes[line->call];
    char *at = put_number(text, line->pid, 10);

    *at++ = ' ';
    at = put_number(at, line->tid, 10);
    *at++ = ' ';
    at = put_text(at, shape->name);
    *at++ = '(';
    if (shape->takes)
        at = put_block(at, form, line->block);
    else if (shape->arguments == 2)
        at = put_number(at, line->other, 10);
    if (shape->arguments == 2)
        *at++ = ',';
    if (shape->arguments == 2 || (shape->arguments == 1 && !shape->takes))
        at = put_number(at, line->size, 10);
    *at++ = ')';
    if (line->has_result) {
        *at++ = '=';
        at = put_block(at, form, line->result);
    }
    *at++ = '\n';
    *at = '\0';
    return (size_t)(at - text);
}

int
logalloc_descriptor(const char *target)
{
    int number = 0;

    for (; *target != '\0'; target++) {
        if (*target < '0' || *target > '9' || number >= 1000)
            return -1;
        number = number * 10 + (*target - '0');
    }
    return number;
}
