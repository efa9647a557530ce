/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table of events: the heading "t_ms,op,addr,size", then a line per event, in order.
 * op is alloc or free. addr identifies a block: 0x and hexadecimal digits, decimal
 * digits, or a name, which is replaced by its hash.  The time may have a fraction.  The
 * size of a freed block is ignored.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/trace-form.h"
#include "base/quantity.h"

#define MS_NS    1000000u
#define FIELDS   4
#define NUMBER_MAX 40 /* bytes */

struct csv {
    uint64_t line;
    uint64_t last_ns;
};

struct csv_field {
    const char *at;
    size_t length;
};

static int
open_csv(struct trace *trace)
{
    const char *text;
    size_t length;
    struct csv *csv = calloc(1, sizeof *csv);
    int got;

    if (csv == NULL)
        return -ENOMEM;
    trace->state = csv;
    trace->info.has_time = true;
    csv->line = 1;
    got = input_line(&trace->input, &text, &length);
    return got < 0 ? got : 0;
}

/* Splits a line into its fields.  Returns false if their number is wrong. */
static bool
cut(const char *text, size_t length, struct csv_field fields[FIELDS])
{
    const char *end = text + length;

    if (length > 0 && end[-1] == '\r')
        end--;
    for (int i = 0; i < FIELDS; i++) {
        const char *comma = memchr(text, ',', (size_t)(end - text));

        if ((comma == NULL) != (i == FIELDS - 1))
            return false;
        fields[i] =
            (struct csv_field){text, (size_t)((comma != NULL ? comma : end) - text)};
        text = comma != NULL ? comma + 1 : end;
    }
    return true;
}

static bool
is(struct csv_field field, const char *word)
{
    return field.length == strlen(word) && memcmp(field.at, word, field.length) == 0;
}

/* Parses a number of digits in that base, nothing else. */
static bool
take_digits(struct csv_field field, unsigned base, uint64_t *value)
{
    return quantity_digits(field.at, field.length, base, value);
}

/* Parses milliseconds, "130" or "130.25", to ns. */
static bool
take_time(struct csv_field field, uint64_t *ns)
{
    const char *point = memchr(field.at, '.', field.length);
    struct csv_field whole = field;
    uint64_t parts = 0, unit = MS_NS;

    if (point != NULL)
        whole.length = (size_t)(point - field.at);
    if (!take_digits(whole, 10, ns) || __builtin_mul_overflow(*ns, MS_NS, ns))
        return false;
    for (const char *at = whole.at + whole.length + 1, *end = field.at + field.length;
         at < end; at++) {
        if (*at < '0' || *at > '9')
            return false;
        unit /= 10;
        parts += unit * (uint64_t)(*at - '0');
    }
    return !__builtin_add_overflow(*ns, parts, ns) && *ns <= TRACE_TIME_MAX;
}

/* Parses an address.  A name becomes its FNV-1a hash with the top bit set, which no real
   address has. */
static uint64_t
take_address(struct csv_field field)
{
    uint64_t value, hash = UINT64_C(0xcbf29ce484222325);
    struct csv_field digits = {field.at + 2, field.length - 2};

    if (field.length > 2 && field.at[0] == '0' && (field.at[1] | 32) == 'x'
        && take_digits(digits, 16, &value))
        return value;
    if (take_digits(field, 10, &value))
        return value;
    for (size_t i = 0; i < field.length; i++)
        hash = (hash ^ (unsigned char)field.at[i]) * UINT64_C(0x100000001b3);
    return hash | UINT64_C(1) << 63;
}

static bool
take_event(struct csv *csv, const char *text, size_t length, struct trace_event *event)
{
    struct csv_field fields[FIELDS];
    bool made;

    *event = (struct trace_event){0};
    if (!cut(text, length, fields) || !take_time(fields[0], &event->time_ns)
        || fields[2].length == 0)
        return false;
    made = is(fields[1], "alloc");
    if (!made && !is(fields[1], "free"))
        return false;
    if (!take_digits(fields[3], 10, &event->size) && (made || fields[3].length > 0))
        return false;
    event->address = take_address(fields[2]);
    event->kind = made ? FN_MALLOC : FN_FREE;
    if (event->time_ns < csv->last_ns)
        event->time_ns = csv->last_ns;
    csv->last_ns = event->time_ns;
    return true;
}

/* All events belong to one process with one thread. */
static bool
make_process(struct trace *trace)
{
    struct trace_process *process;

    if (trace->info.processes > 0)
        return true;
    process = trace_add_process(trace);
    return process != NULL && trace_add_thread(process, 0);
}

static long
read_csv(struct trace *trace, struct trace_event *events, size_t count)
{
    struct csv *csv = trace->state;
    const char *text;
    size_t length, made = 0;
    int got = 1;

    if (!make_process(trace))
        return -ENOMEM;
    while (made < count && (got = input_line(&trace->input, &text, &length)) > 0) {
        csv->line++;
        if (length == 0 || take_event(csv, text, length, &events[made])) {
            made += length > 0;
        } else {
            if (trace->info.refused++ == 0)
                trace->info.refused_first = csv->line;
        }
    }
    if (got == 0)
        trace->info.ended_ns = csv->last_ns;
    return got < 0 ? got : (long)made;
}

static void
close_csv(struct trace *trace)
{
    free(trace->state);
}

const struct trace_reader trace_csv = {open_csv, read_csv, close_csv};
