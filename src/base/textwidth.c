/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Columns of text.  All functions walk with next_glyph(), the only place that decides
 * what a piece of text is and how wide it is.  Everything it does not trust becomes a '?'
 * of one column, so the results are safe on a terminal.  The end of a line and a tab
 * become a blank, because scripts are given to interpreters as arguments.
 *
 * In the C locale wcwidth() knows nothing beyond ASCII and mbrtowc() lets high bytes
 * through as private code points, so neither is called there.
 */
#include "config.h"

#include "base/textwidth.h"

#include <langinfo.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static bool ascii_ellipsis;

/* One character; combining marks are left to the next call. */
struct text_glyph {
    const char *text;   /* what to print */
    size_t length;      /* of text */
    size_t consumed;    /* bytes of the input */
    size_t columns;
    wchar_t letter;
};

static const struct text_glyph unprintable = {"?", 1, 1, 1, L'?'};
static const struct text_glyph space = {" ", 1, 1, 1, L' '};

void
text_ascii_ellipsis(bool ascii)
{
    ascii_ellipsis = ascii;
}

static bool
codeset_is(const char *name)
{
    return strcmp(nl_langinfo(CODESET), name) == 0;
}

static bool
is_blank(unsigned char byte)
{
    return byte == '\n' || byte == '\t';
}

/* Is it a mark that changes the direction of what follows?  It could make a text look
   like another one. */
static bool
turns_direction(wchar_t c)
{
    return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e)
           || (c >= 0x2066 && c <= 0x2069);
}

static struct text_glyph
next_glyph(const char *text, size_t left)
{
    unsigned char byte = (unsigned char)*text;
    struct text_glyph glyph = {text, 1, 1, 1, byte};
    mbstate_t state = {0};
    wchar_t c;
    size_t length;
    int width;

    if (byte >= 0x20 && byte < 0x7f)
        return glyph;
    if (is_blank(byte))
        return space;
    if (byte < 0x80 || codeset_is("ANSI_X3.4-1968"))
        return unprintable;
    length = mbrtowc(&c, text, left, &state);
    if (length == 0 || length > left)
        return unprintable;
    width = wcwidth(c);
    glyph.consumed = length;
    if (width < 0 || turns_direction(c)) {
        glyph.text = "?";
        return glyph;
    }
    glyph.length = length;
    glyph.columns = (size_t)width;
    glyph.letter = c;
    return glyph;
}

size_t
text_columns(const char *text)
{
    size_t columns = 0;
    size_t left = strlen(text);

    while (left > 0) {
        struct text_glyph glyph = next_glyph(text, left);

        columns += glyph.columns;
        text += glyph.consumed;
        left -= glyph.consumed;
    }
    return columns;
}

/* Output goes into a string that never overflows. */
struct sink {
    char *buf;
    size_t size;
    size_t used;
    size_t columns;
};

static bool
put(struct sink *sink, const char *text, size_t length, size_t columns)
{
    if (length >= sink->size - sink->used)
        return false;
    memcpy(sink->buf + sink->used, text, length);
    sink->used += length;
    sink->buf[sink->used] = '\0';
    sink->columns += columns;
    return true;
}

/* Puts what fits into limit columns; returns the bytes of text used. */
static size_t
put_text(struct sink *sink, const char *text, size_t length, size_t limit)
{
    size_t done = 0;

    while (done < length) {
        struct text_glyph glyph = next_glyph(text + done, length - done);

        if (sink->columns + glyph.columns > limit)
            break;
        if (!put(sink, glyph.text, glyph.length, glyph.columns))
            break;
        done += glyph.consumed;
    }
    return done;
}

char *
text_sanitise(char *buf, size_t size, const char *bytes, size_t length)
{
    struct sink sink = {buf, size, 0, 0};

    if (size == 0)
        return buf;
    *buf = '\0';
    put_text(&sink, bytes, length, SIZE_MAX);
    return buf;
}

static void
put_clipped(struct sink *sink, const char *text, size_t columns)
{
    bool dots = ascii_ellipsis || !codeset_is("UTF-8");
    const char *ellipsis = dots ? "..." : "\xe2\x80\xa6";
    size_t width = dots ? 3 : 1;

    if (text_columns(text) <= columns) {
        put_text(sink, text, strlen(text), columns);
        return;
    }
    if (width > columns)
        width = columns;
    put_text(sink, text, strlen(text), columns - width);
    put(sink, ellipsis, dots ? width : strlen(ellipsis) * (width > 0), width);
}

char *
text_clip(char *buf, size_t size, const char *text, size_t columns)
{
    struct sink sink = {buf, size, 0, 0};

    if (size == 0)
        return buf;
    *buf = '\0';
    put_clipped(&sink, text, columns);
    return buf;
}

char *
text_pad(char *buf, size_t size, const char *text, size_t columns, enum text_align align)
{
    struct sink sink = {buf, size, 0, 0};
    size_t width = text_columns(text);

    if (size == 0)
        return buf;
    *buf = '\0';
    if (align == TEXT_RIGHT)
        for (size_t i = width; i < columns; i++)
            put(&sink, " ", 1, 1);
    put_clipped(&sink, text, columns);
    while (sink.columns < columns && put(&sink, " ", 1, 1))
        ;
    return buf;
}

/* Scripts of wide characters have no blanks: a line may break between any two of them,
   but not before closing nor after opening punctuation. */
static bool
may_break(const struct text_glyph *before, const struct text_glyph *after)
{
    static const wchar_t closing[] =
        L",.:;!?)]}%/\u3001\u3002\uff0c\uff0e\uff1a\uff1b\uff01"
        L"\uff1f\uff09\u300d\u300f\u3011\u3009\u300b\u2026";
    static const wchar_t opening[] = L"([{\uff08\u300c\u300e\u3010\u3008\u300a";

    return (before->columns == 2 || after->columns == 2) && after->columns > 0
           && before->letter != L' ' && wcschr(closing, after->letter) == NULL
           && wcschr(opening, before->letter) == NULL;
}

size_t
text_line(char *buf, size_t size, const char *text, size_t columns)
{
    size_t left = strlen(text), done = 0, end = 0, used = 0;
    struct text_glyph last = space;

    while (done < left) {
        struct text_glyph glyph = next_glyph(text + done, left - done);

        if (text[done] == ' ')
            end = last.letter == L' ' ? end : done;
        else if (may_break(&last, &glyph))
            end = done;
        if (text[done] != ' ' && used + glyph.columns > columns && done > 0)
            break;
        used += glyph.columns;
        done += glyph.consumed;
        last = glyph;
    }
    if (done < left && end > 0)
        done = end;
    if (buf != NULL)
        text_sanitise(buf, size, text, done);
    while (text[done] == ' ')
        done++;
    return done;
}

const char *
text_tail(const char *text, size_t columns)
{
    size_t left = strlen(text), more = text_columns(text);
    const char *from = text, *blank;

    while (left > 0 && more > columns) {
        struct text_glyph glyph = next_glyph(from, left);

        more -= glyph.columns;
        from += glyph.consumed;
        left -= glyph.consumed;
    }
    while (from != text && left > 0 && next_glyph(from, left).columns == 0) {
        size_t consumed = next_glyph(from, left).consumed; /* a mark without its letter */

        from += consumed;
        left -= consumed;
    }
    if (from == text || from[-1] == ' ')
        return from;
    blank = strchr(from, ' ');
    return blank != NULL ? blank + 1 : from;
}

/* Decodes the UTF-8 character at text; 0 if it is invalid: overlong forms, surrogates and
   values above U+10FFFF are. */
static size_t
decode_utf8(const char *text, uint32_t *out)
{
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char lead = (unsigned char)*text;
    size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint32_t c = length == 1 ? lead : lead & (0x7fu >> length);

    if (lead >= 0xf8 || (lead >= 0x80 && lead < 0xc0))
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | ((unsigned char)text[i] & 0x3f);
    }
    if (c < lowest[length] || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
        return 0;
    *out = c;
    return length;
}

static size_t
encode_utf8(char out[4], uint32_t c)
{
    size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    for (size_t i = length - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(length == 1 ? c : (0xf00u >> length & 0xff) | c);
    return length;
}

static bool
is_utf8(const char *text)
{
    uint32_t c;

    for (size_t length; *text != '\0'; text += length)
        if ((length = decode_utf8(text, &c)) == 0)
            return false;
    return true;
}

/* Decodes the character at text in the locale's charset; 0 if it is invalid. */
static size_t
decode_locale(const char *text, uint32_t *out)
{
    mbstate_t state = {0};
    size_t left = strlen(text);
    wchar_t c;
    size_t length = mbrtowc(&c, text, left, &state);

    if (length == 0 || length > left || (uint32_t)c > 0x10ffff)
        return 0;
    *out = (uint32_t)c;
    return length;
}

char *
text_utf8(char *buf, size_t size, const char *text)
{
    bool utf8 = codeset_is("UTF-8") || codeset_is("ANSI_X3.4-1968") || is_utf8(text);
    struct sink sink = {buf, size, 0, 0};
    bool room = size > 0;

    if (room)
        *buf = '\0';
    while (room && *text != '\0') {
        uint32_t c;
        size_t length = utf8 ? decode_utf8(text, &c) : decode_locale(text, &c);
        char encoded[4];

        if (is_blank((unsigned char)*text))
            room = put(&sink, " ", 1, 1);
        else if (length == 0 || c < 0x20 || (c >= 0x7f && c < 0xa0)
                 || turns_direction((wchar_t)c))
            room = put(&sink, "?", 1, 1);
        else
            room = put(&sink, encoded, encode_utf8(encoded, c), 1);
        text += length > 0 ? length : 1;
    }
    return buf;
}
