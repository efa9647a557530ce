/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Feeds one byte at a time through a small automaton (ECMA-48: ESC, CSI, and the strings
 * OSC, DCS, SOS, PM, APC), so that a sequence split between reads continues with the
 * next.  Bytes from 0x80 up are text: the 8-bit control codes do not exist in UTF-8.
 */
#include "config.h"

#include "system/lines.h"

#include <stdlib.h>
#include <string.h>

enum parse {
    PARSE_TEXT,
    PARSE_ESCAPE,       /* after ESC */
    PARSE_INTERMEDIATE, /* after ESC and a byte that needs another, as in ESC ( B */
    PARSE_CSI,          /* ESC [ up to its final byte */
    PARSE_STRING,       /* up to BEL or ESC \ */
    PARSE_STRING_ESCAPE
};

struct line {
    char *bytes;
    size_t length;
};

struct line_ring {
    size_t limit;
    struct line *ring;
    size_t first, count; /* finished lines kept */
    uint64_t dropped;
    char open[LINE_BYTES]; /* the unfinished line */
    size_t open_length;
    bool returned; /* after a carriage return: the next text starts the line anew */
    enum parse parse;
    char parameters[16]; /* of the CSI, as far as they matter */
    size_t parameters_length;
    bool full_screen;
};

struct line_ring *
lines_new(size_t limit)
{
    struct line_ring *lines = calloc(1, sizeof *lines);

    if (lines == NULL)
        return NULL;
    lines->limit = limit ? limit : 1;
    lines->ring = calloc(lines->limit, sizeof *lines->ring);
    if (lines->ring == NULL) {
        free(lines);
        return NULL;
    }
    return lines;
}

void
lines_free(struct line_ring *lines)
{
    if (lines == NULL)
        return;
    for (size_t i = 0; i < lines->limit; i++)
        free(lines->ring[i].bytes);
    free(lines->ring);
    free(lines);
}

/* Puts the unfinished line into the ring, replacing the oldest if the ring is full. */
static void
finish_line(struct line_ring *lines)
{
    struct line *line = &lines->ring[(lines->first + lines->count) % lines->limit];

    if (lines->count == lines->limit) {
        lines->first = (lines->first + 1) % lines->limit;
        lines->dropped++;
    } else {
        lines->count++;
    }
    free(line->bytes);
    line->bytes = malloc(lines->open_length + 1);
    line->length = line->bytes != NULL ? lines->open_length : 0;
    if (line->bytes != NULL)
        memcpy(line->bytes, lines->open, lines->open_length);
    lines->open_length = 0;
    lines->returned = false;
}

static bool
is_continuation(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

static void
erase_character(struct line_ring *lines)
{
    while (lines->open_length > 0 && is_continuation(lines->open[lines->open_length - 1]))
        lines->open_length--;
    if (lines->open_length > 0)
        lines->open_length--;
}

static void
add_text(struct line_ring *lines, char byte)
{
    if (lines->returned) {
        lines->open_length = 0;
        lines->returned = false;
    }
    /* Breaks between characters; the longest has four bytes. */
    if (lines->open_length == LINE_BYTES
        || (lines->open_length >= LINE_BYTES - 4 && !is_continuation(byte)))
        finish_line(lines);
    lines->open[lines->open_length++] = byte;
}

static void
feed_text(struct line_ring *lines, char byte)
{
    switch (byte) {
    case '\n':
        finish_line(lines);
        break;
    case '\r':
        lines->returned = true;
        break;
    case '\b':
        erase_character(lines);
        break;
    case '\033':
        lines->parse = PARSE_ESCAPE;
        break;
    default:
        if ((unsigned char)byte >= ' ' && byte != 0x7F)
            add_text(lines, byte);
        else if (byte == '\t')
            add_text(lines, byte);
    }
}

static void
feed_escape(struct line_ring *lines, char byte)
{
    lines->parse = PARSE_TEXT;
    if (byte == '[') {
        lines->parse = PARSE_CSI;
        lines->parameters_length = 0;
    } else if (strchr("]PX^_", byte) != NULL && byte) {
        lines->parse = PARSE_STRING;
    } else if (byte >= ' ' && byte <= '/') {
        lines->parse = PARSE_INTERMEDIATE;
    } else if (byte == '\033') {
        lines->parse = PARSE_ESCAPE;
    }
}

static bool
parameters_are(const struct line_ring *lines, const char *text)
{
    return lines->parameters_length == strlen(text)
           && memcmp(lines->parameters, text, lines->parameters_length) == 0;
}

static void
feed_csi(struct line_ring *lines, char byte)
{
    if (byte >= ' ' && byte <= '?') {
        if (lines->parameters_length < sizeof lines->parameters)
            lines->parameters[lines->parameters_length++] = byte;
        return;
    }
    if (byte == '\033') {
        lines->parse = PARSE_ESCAPE;
        return;
    }
    /* xterm's three private modes for the alternate screen. */
    if (byte == 'h'
        && (parameters_are(lines, "?1049") || parameters_are(lines, "?1047")
            || parameters_are(lines, "?47")))
        lines->full_screen = true;
    lines->parse = PARSE_TEXT;
    if (byte == '\n' || byte == '\r')
        feed_text(lines, byte);
}

static void
feed_byte(struct line_ring *lines, char byte)
{
    switch (lines->parse) {
    case PARSE_TEXT:
        feed_text(lines, byte);
        break;
    case PARSE_ESCAPE:
        feed_escape(lines, byte);
        break;
    case PARSE_INTERMEDIATE:
        if (byte < ' ' || byte > '/')
            lines->parse = PARSE_TEXT;
        break;
    case PARSE_CSI:
        feed_csi(lines, byte);
        break;
    case PARSE_STRING:
        if (byte == '\a' || byte == '\n') /* strings do not span lines: it was noise */
            lines->parse = PARSE_TEXT;
        else if (byte == '\033')
            lines->parse = PARSE_STRING_ESCAPE;
        break;
    case PARSE_STRING_ESCAPE:
        feed_escape(lines, byte);
        break;
    }
}

void
lines_feed(struct line_ring *lines, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        feed_byte(lines, bytes[i]);
}

size_t
lines_count(const struct line_ring *lines)
{
    return lines->count + (lines->open_length > 0);
}

const char *
lines_get(const struct line_ring *lines, size_t index, size_t *length)
{
    const struct line *line;

    if (index >= lines->count) {
        *length = index == lines->count ? lines->open_length : 0;
        return lines->open;
    }
    line = &lines->ring[(lines->first + index) % lines->limit];
    *length = line->length;
    return line->bytes != NULL ? line->bytes : "";
}

uint64_t
lines_dropped(const struct line_ring *lines)
{
    return lines->dropped;
}

bool
lines_full_screen(const struct line_ring *lines)
{
    return lines->full_screen;
}
