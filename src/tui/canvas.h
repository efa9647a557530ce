/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The picture before it reaches the terminal: a grid of cells, each a character
 * and the role it plays.  Views draw here, term.c shows it.  Everything is
 * clipped; text is measured in columns and cleaned of control characters on
 * the way.
 */
#ifndef MEMTOP_TUI_CANVAS_H
#define MEMTOP_TUI_CANVAS_H

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

#include "base/textwidth.h"
#include "tui/layout.h"

/*
 * What a cell means, its colour (of the eight basic ones; DEFAULT: the
 * terminal's own), its attributes with colours and without.  Nothing is said by
 * colour alone.  No blue (unreadable on black) and no black.
 */
#define ROLES(X)                                                  \
    X(NORMAL, DEFAULT, A_NORMAL, A_NORMAL)                        \
    X(DIM, DEFAULT, A_DIM, A_NORMAL)                              \
    X(TITLE, DEFAULT, A_BOLD, A_BOLD)                             \
    X(VALUE, DEFAULT, A_BOLD, A_BOLD)                             \
    X(GOOD, GREEN, A_BOLD, A_BOLD)                                \
    X(GAUGE, GREEN, A_NORMAL, A_NORMAL)                           \
    X(WARN, YELLOW, A_BOLD, A_BOLD)                               \
    X(BAD, RED, A_BOLD | A_REVERSE, A_BOLD | A_REVERSE)           \
    X(HEAP, CYAN, A_NORMAL, A_NORMAL)                             \
    X(STACK, MAGENTA, A_NORMAL, A_NORMAL)                         \
    X(RATE, GREEN, A_NORMAL, A_NORMAL)                            \
    X(PEAK, YELLOW, A_BOLD, A_BOLD)                               \
    X(KEY, CYAN, A_BOLD, A_BOLD)                                  \
    X(PROMPT, DEFAULT, A_REVERSE, A_REVERSE)

enum role {
#define X(id, colour, attributes, mono) ROLE_##id,
    ROLES(X)
#undef X
    ROLE_COUNT
};

/* Drawing characters, in Unicode and in ASCII. */
#define GLYPHS(X)                  \
    X(HORIZONTAL, 0x2500, '-')     \
    X(VERTICAL, 0x2502, '|')       \
    X(TICK, 0x2524, '+')           \
    X(CORNER, 0x2514, '+')         \
    X(BRANCH, 0x251c, '|')         \
    X(MARK, 0x25bc, 'v')           \
    X(FLAG, 0x25b2, '^')           \
    X(CROSS, 0x253c, '|')          \
    X(GAUGE_LEFT, 0x2595, '[')     \
    X(GAUGE_RIGHT, 0x258f, ']')    \
    X(BULLET, 0x00b7, '*')

enum glyph {
#define X(id, unicode, ascii) GLYPH_##id,
    GLYPHS(X)
#undef X
    GLYPH_COUNT
};

struct cell {
    wchar_t text[3];   /* character and what combines with it; text[0] == 0: the
                          right half of a wide one */
    uint8_t role;
    uint8_t columns;   /* 1 or 2, 0 for the right half */
};

struct canvas {
    int rows, cols;
    bool unicode;        /* drawing characters may be Unicode */
    bool plain;          /* text only: no drawing characters and no bars */
    struct rect clip;    /* nothing is written outside */
    struct cell *cells;
};

/* Makes it so large, blank.  False if memory is short (the old one stays). */
bool canvas_resize(struct canvas *canvas, int rows, int cols);
void canvas_free(struct canvas *canvas);
void canvas_clear(struct canvas *canvas);   /* and lifts the clipping */
void canvas_clear_rows(struct canvas *canvas, int row, int rows);

/* From now on only this part is written to, which must lie inside. */
void canvas_clip(struct canvas *canvas, const struct rect *rect);

/* Text from row, col on, at most columns wide, not padded.  Returns the
   columns it took. */
int canvas_put(struct canvas *canvas, int row, int col, int columns, enum role role,
               const char *text);

/* The same, padded to exactly columns. */
void canvas_field(struct canvas *canvas, int row, int col, int columns,
                  enum text_align align, enum role role, const char *text);

void canvas_char(struct canvas *canvas, int row, int col, enum role role, wchar_t ch);
void canvas_glyph(struct canvas *canvas, int row, int col, enum role role,
                  enum glyph glyph);

/* Whether so many cells are blank and inside. */
bool canvas_is_blank(const struct canvas *canvas, int row, int col, int columns);

/* Gives columns cells of a row another role, keeping the text. */
void canvas_paint(struct canvas *canvas, int row, int col, int columns, enum role role);

/* A horizontal bar of so many columns, of which part/whole is filled; an eighth
   of a column is the least that shows. */
void canvas_bar(struct canvas *canvas, int row, int col, int columns, enum role role,
                double part);

/* A line across with a title at its left and text at its right, "" for none. */
void canvas_rule(struct canvas *canvas, int row, int col, int columns,
                 const char *title, const char *right);

/* The row as multibyte text without trailing blanks; buffer must hold
   canvas_row_bytes().  Returns its length. */
size_t canvas_row_bytes(const struct canvas *canvas);
size_t canvas_row_text(const struct canvas *canvas, int row, char *buffer);

#endif
