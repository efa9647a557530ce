/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The screen before it reaches the terminal: a grid of cells, each with a character and
 * a role.  Pages draw here and term.c shows it.  All drawing is clipped; text is
 * measured in columns, and its control characters are removed.
 */
#ifndef MEMTOP_TUI_CANVAS_H
#define MEMTOP_TUI_CANVAS_H

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

#include "base/textwidth.h"
#include "tui/layout.h"

/*
 * Roles of cells.  Each has a colour (one of the eight basic ones; DEFAULT is the
 * terminal's own) and attributes with colours and without.  Nothing is said by colour
 * alone.  Blue is not used, because it is unreadable on black, nor is black.
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
    wchar_t text[3];   /* a character and its combining characters; text[0] == 0: right
                          half of a wide character */
    uint8_t role;
    uint8_t columns;   /* 1 or 2, 0 for the right half */
};

struct canvas {
    int rows, cols;
    bool unicode;        /* drawing characters are Unicode, else ASCII */
    bool plain;          /* text only: no drawing characters and no bars */
    struct rect clip;    /* drawing outside has no effect */
    struct cell *cells;
};

/* Gives the canvas a new size and clears it.  Returns false if memory is short; the old
   canvas remains. */
bool canvas_resize(struct canvas *canvas, int rows, int cols);
void canvas_free(struct canvas *canvas);
void canvas_clear(struct canvas *canvas);   /* also resets the clip */
void canvas_clear_rows(struct canvas *canvas, int row, int rows);

/* Limits drawing to rect, which must lie inside the canvas. */
void canvas_clip(struct canvas *canvas, const struct rect *rect);

/* Writes text at row, col, clipped to columns and not padded.  Returns the number of
   columns used. */
int canvas_put(struct canvas *canvas, int row, int col, int columns, enum role role,
               const char *text);

/* Like canvas_put(), but padded to exactly columns. */
void canvas_field(struct canvas *canvas, int row, int col, int columns,
                  enum text_align align, enum role role, const char *text);

void canvas_char(struct canvas *canvas, int row, int col, enum role role, wchar_t ch);
void canvas_glyph(struct canvas *canvas, int row, int col, enum role role,
                  enum glyph glyph);

/* Are these columns of the row inside the canvas, and blank? */
bool canvas_is_blank(const struct canvas *canvas, int row, int col, int columns);

/* Gives cells of a row another role; their text remains. */
void canvas_paint(struct canvas *canvas, int row, int col, int columns, enum role role);

/* Draws a horizontal bar that fills `part` (0..1) of columns.  Any part above 0 shows at
   least an eighth of a column. */
void canvas_bar(struct canvas *canvas, int row, int col, int columns, enum role role,
                double part);

/* Draws a horizontal line with a title at the left and text at the right; "" omits
   either. */
void canvas_rule(struct canvas *canvas, int row, int col, int columns,
                 const char *title, const char *right);

/* canvas_row_text() writes a row as multibyte text without trailing blanks and returns
   its length; buffer must hold canvas_row_bytes(). */
size_t canvas_row_bytes(const struct canvas *canvas);
size_t canvas_row_text(const struct canvas *canvas, int row, char *buffer);

#endif
