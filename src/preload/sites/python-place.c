/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a code object says of itself: its names, and the line of an instruction; see
 * python.h.  Objects are read as they lie, and only if they are of the type they must be;
 * what they say of their own length bounds what is read of them.
 */
#include "config.h"

#include "preload/sites/python.h"

#include <string.h>

#include "preload/sites/python-private.h"

/* ---- texts ---- */

/* The characters of a str, each of width bytes. */
struct characters {
    const unsigned char *data;
    size_t count;
    unsigned width;
};

/* Bits of a str's state: two that tell whether it is interned, then these. */
#define TEXT_KIND_SHIFT 2
#define TEXT_KIND_MASK 7u
#define TEXT_COMPACT 32u
#define TEXT_ASCII 64u

static bool
read_characters(uintptr_t text, struct characters *characters)
{
    const struct python_layout *layout = &mt_python.layout;
    uint32_t state;

    if (!mt_python_is(text, mt_python.text_type))
        return false;
    state = *(const uint32_t *)(text + layout->text_state);
    characters->count = mt_python_word(text, layout->text_length);
    characters->width = state >> TEXT_KIND_SHIFT & TEXT_KIND_MASK;
    characters->data =
        (const void *)(text
                       + (state & TEXT_ASCII ? layout->text_ascii : layout->text_wide));
    return (state & TEXT_COMPACT) != 0
           && (characters->width == 1 || characters->width == 2
               || characters->width == 4);
}

static uint32_t
character_at(const struct characters *characters, size_t index)
{
    const unsigned char *at = characters->data + index * characters->width;
    uint32_t wide;
    uint16_t narrow;

    switch (characters->width) {
    case 1:
        return *at;
    case 2:
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    default:
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
}

#define CHARACTER_UNKNOWN 0xfffdu

/* Writes a character as UTF-8 to bytes; returns how many.  A byte that is no text in the
   file system's encoding is a character of its own in Python, and becomes that byte. */
static unsigned
encode(uint32_t character, unsigned char bytes[4])
{
    if (character >= 0xdc80 && character <= 0xdcff) {
        bytes[0] = (unsigned char)character;
        return 1;
    }
    if (character == 0 || (character >= 0xd800 && character <= 0xdfff)
        || character > 0x10ffff)
        character = CHARACTER_UNKNOWN;
    if (character < 0x80) {
        bytes[0] = (unsigned char)character;
        return 1;
    }
    if (character < 0x800) {
        bytes[0] = (unsigned char)(0xc0 | character >> 6);
        bytes[1] = 0x80 | (character & 0x3f);
        return 2;
    }
    if (character < 0x10000) {
        bytes[0] = (unsigned char)(0xe0 | character >> 12);
        bytes[1] = 0x80 | (character >> 6 & 0x3f);
        bytes[2] = 0x80 | (character & 0x3f);
        return 3;
    }
    bytes[0] = (unsigned char)(0xf0 | character >> 18);
    bytes[1] = 0x80 | (character >> 12 & 0x3f);
    bytes[2] = 0x80 | (character >> 6 & 0x3f);
    bytes[3] = 0x80 | (character & 0x3f);
    return 4;
}

/* The first character from which on the rest has room. */
static size_t
last_that_fit(const struct characters *characters, size_t room)
{
    size_t first = characters->count;
    unsigned char bytes[4];

    for (size_t used = 0; first > 0; first--) {
        used += encode(character_at(characters, first - 1), bytes);
        if (used >= room)
            break;
    }
    return first;
}

/* Copies as much as has room: the beginning, or the end.  An empty text if it is no str.
 */
static void
copy_text(uintptr_t text, char *to, size_t room, bool end)
{
    struct characters characters;
    size_t used = 0;

    if (read_characters(text, &characters))
        for (size_t i = end ? last_that_fit(&characters, room) : 0; i < characters.count;
             i++) {
            unsigned char bytes[4];
            unsigned count = encode(character_at(&characters, i), bytes);

            if (used + count >= room)
                break;
            memcpy(to + used, bytes, count);
            used += count;
        }
    to[used] = '\0';
}

/* ---- lines ---- */

/* A table of lines, read from its beginning. */
struct line_table {
    const unsigned char *bytes;
    size_t left;
};

/* Of a table only so much is read. */
#define LINES_MAX ((size_t)1 << 20)

/* A bytes object's last fields: a hash, then the bytes. */
#define BYTES_DATA (OBJECT_SIZE + sizeof(int64_t))

static struct line_table
line_table_of(uintptr_t code)
{
    uintptr_t table = mt_python_word(code, mt_python.layout.code_lines);
    struct line_table lines = {0};

    if (!mt_python_is(table, mt_python.bytes_type))
        return lines;
    lines.bytes = (const void *)(table + BYTES_DATA);
    lines.left = mt_python_word(table, OBJECT_COUNT);
    if (lines.left > LINES_MAX)
        lines.left = LINES_MAX;
    return lines;
}

static unsigned
next_byte(struct line_table *table)
{
    if (table->left == 0)
        return 0;
    table->left--;
    return *table->bytes++;
}

/* 3.9: pairs of how many bytes of code, and then how many lines, to go on. */
static uint32_t
line_by_lnotab(struct line_table table, uint32_t first, uint32_t offset)
{
    uint32_t line = first, address = 0;

    while (table.left >= 2) {
        address += next_byte(&table);
        if (address > offset)
            break;
        line += (uint32_t)(int8_t)next_byte(&table);
    }
    return line;
}

/* 3.10: pairs of a range's length and how many lines it is further; -128: of no line. */
static uint32_t
line_by_ranges(struct line_table table, uint32_t first, uint32_t offset)
{
    uint32_t line = first, end = 0;

    while (table.left >= 2) {
        int8_t further;

        end += next_byte(&table);
        further = (int8_t)next_byte(&table);
        if (further != INT8_MIN)
            line += (uint32_t)further;
        if (end > offset)
            return further != INT8_MIN ? line : 0;
    }
    return 0;
}

/* A number of six bits a byte, the lowest first; a bit says that more follow.  Its own
   lowest bit is its sign. */
static int32_t
read_signed(struct line_table *table)
{
    uint32_t value = 0;
    unsigned byte, shift = 0;

    do {
        byte = next_byte(table);
        if (shift < 32)
            value |= (byte & 63u) << shift;
        shift += 6;
    } while ((byte & 64) != 0);
    return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

/* From 3.11 on: entries that begin with a byte whose highest bit is set.  It has the kind
   of the entry and for how many instructions it is.  How many lines further follows, or
   is part of the kind; columns follow, which are passed over. */
static uint32_t
line_by_locations(struct line_table table, uint32_t first, uint32_t offset)
{
    uint32_t line = first, end = 0;

    while (table.left > 0) {
        unsigned head = next_byte(&table), kind = head >> 3 & 15;

        end += 2 * ((head & 7) + 1);
        if (kind == 13 || kind == 14)
            line += (uint32_t)read_signed(&table);
        else if (kind >= 10 && kind <= 12)
            line += kind - 10;
        if (end > offset)
            return kind != 15 ? line : 0;
        while (table.left > 0 && (*table.bytes & 128) == 0)
            next_byte(&table);
    }
    return 0;
}

static uint32_t
line_of(uintptr_t code, uint32_t first, int32_t offset)
{
    struct line_table table = line_table_of(code);

    if (offset < 0)
        return first;
    switch (mt_python.layout.lines) {
    case PYTHON_LNOTAB:
        return line_by_lnotab(table, first, (uint32_t)offset);
    case PYTHON_RANGES:
        return line_by_ranges(table, first, (uint32_t)offset);
    default:
        return line_by_locations(table, first, (uint32_t)offset);
    }
}

bool
mt_python_describe(const struct mt_python_frame *frame, struct mt_python_place *place)
{
    const struct python_layout *layout = &mt_python.layout;
    const uintptr_t code = frame->code;

    if (mt_python_start() != PYTHON_WHOLE || !mt_python_is(code, mt_python.code_type))
        return false;
    place->first_line = *(const uint32_t *)(code + layout->code_first_line);
    place->line = line_of(code, place->first_line, frame->offset);
    copy_text(mt_python_word(code, layout->code_name), place->name, sizeof place->name,
              false);
    copy_text(mt_python_word(code, layout->code_file), place->file, sizeof place->file,
              true);
    return true;
}

uint64_t
mt_python_mark(const struct mt_python_frame *frame)
{
    const struct python_layout *layout = &mt_python.layout;
    const uintptr_t code = frame->code;

    return mt_python_word(code, layout->code_name) * 3
           ^ mt_python_word(code, layout->code_file) * 5
           ^ *(const uint32_t *)(code + layout->code_first_line);
}
