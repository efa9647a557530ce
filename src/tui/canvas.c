/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cells, and how text gets into them.  A wide character never crosses the edge of its
 * area: if it does not fit it is left out.  Writing over half of a wide character blanks
 * the other half.  Only canvas_resize() allocates.
 */
#include "config.h"

#include "tui/canvas.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Size of a line of text on its way to the cells, longer than any screen is wide. */
#define LINE_BYTES 8192

static const struct {
    wchar_t unicode;
    char ascii;
} glyphs[] = {
#define X(id, unicode, ascii) { unicode, ascii },
    GLYPHS(X)
#undef X
};

bool
canvas_resize(struct canvas *canvas, int rows, int cols)
{
    struct cell *cells = calloc((size_t)rows * (size_t)cols + 1, sizeof *cells);

    if (cells == NULL)
        return false;
    free(canvas->cells);
    canvas->cells = cells;
    canvas->rows = rows;
    canvas->cols = cols;
    canvas_clear(canvas);
    return true;
}

void
canvas_free(struct canvas *canvas)
{
    free(canvas->cells);
    canvas->cells = NULL;
    canvas->rows = canvas->cols = 0;
}

void
canvas_clear_rows(struct canvas *canvas, int row, int rows)
{
    static const struct cell blank = { { L' ' }, ROLE_NORMAL, 1 };
    size_t cols = (size_t)canvas->cols;

    if (rows > canvas->rows - row)
        rows = canvas->rows - row;
    for (size_t i = (size_t)row * cols; rows > 0 && i < (size_t)(row + rows) * cols; i++)
        canvas->cells[i] = blank;
}

void
canvas_clear(struct canvas *canvas)
{
    canvas_clear_rows(canvas, 0, canvas->rows);
    canvas->clip = (struct rect){ 0, 0, canvas->rows, canvas->cols };
}

void
canvas_clip(struct canvas *canvas, const struct rect *rect)
{
    canvas->clip = *rect;
}

static bool
inside(const struct canvas *canvas, int row, int col)
{
    const struct rect *clip = &canvas->clip;

    return row >= clip->row && row < clip->row + clip->rows && col >= clip->col
           && col < clip->col + clip->cols;
}

static struct cell *
cell_at(struct canvas *canvas, int row, int col)
{
    if (!inside(canvas, row, col))
        return NULL;
    return &canvas->cells[(size_t)row * (size_t)canvas->cols + (size_t)col];
}

static void
set_cell(struct canvas *canvas, int row, int col, enum role role, wchar_t ch, int columns)
{
    struct cell *cell = cell_at(canvas, row, col);

    if (cell == NULL)
        return;
    if (cell->columns == 0 && col > 0)
        cell[-1] = (struct cell){ { L' ' }, cell[-1].role, 1 };
    if (cell->columns == 2 && columns != 2 && col + 1 < canvas->cols)
        cell[1] = (struct cell){ { L' ' }, cell[1].role, 1 };
    *cell = (struct cell){ { ch }, (uint8_t)role, (uint8_t)columns };
}

void
canvas_char(struct canvas *canvas, int row, int col, enum role role, wchar_t ch)
{
    set_cell(canvas, row, col, role, ch, 1);
}

void
canvas_glyph(struct canvas *canvas, int row, int col, enum role role, enum glyph glyph)
{
    if (canvas->plain)
        return;
    canvas_char(canvas, row, col, role,
                canvas->unicode ? glyphs[glyph].unicode : glyphs[glyph].ascii);
}

bool
canvas_is_blank(const struct canvas *canvas, int row, int col, int columns)
{
    if (row < 0 || row >= canvas->rows || col < 0 || col + columns > canvas->cols)
        return false;
    for (int i = col; i < col + columns; i++)
        if (canvas->cells[(size_t)row * (size_t)canvas->cols + (size_t)i].text[0] != L' ')
            return false;
    return true;
}

void
canvas_paint(struct canvas *canvas, int row, int col, int columns, enum role role)
{
    for (int i = 0; i < columns; i++) {
        struct cell *cell = cell_at(canvas, row, col + i);

        if (cell != NULL)
            cell->role = (uint8_t)role;
    }
}

/* Adds a combining character to the cell before col. */
static void
combine(struct canvas *canvas, int row, int col, wchar_t ch)
{
    struct cell *cell = cell_at(canvas, row, col - 1);

    if (cell != NULL && cell->columns == 0 && col >= 2)
        cell--;
    if (cell == NULL || cell->text[0] == 0)
        return;
    for (size_t i = 1; i < sizeof cell->text / sizeof cell->text[0]; i++)
        if (cell->text[i] == 0) {
            cell->text[i] = ch;
            return;
        }
}

/* Puts text that is already clean and clipped into cells. */
static int
put_clean(struct canvas *canvas, int row, int col, enum role role, const char *text)
{
    mbstate_t state = {0};
    int start = col;

    while (*text != '\0') {
        wchar_t ch;
        size_t bytes = mbrtowc(&ch, text, MB_LEN_MAX, &state);
        int columns;

        if (bytes == 0 || bytes > MB_LEN_MAX)
            break;
        text += bytes;
        columns = (unsigned)ch < 0x80 ? 1 : wcwidth(ch);
        if (columns <= 0) {
            if (columns == 0 && col > start)
                combine(canvas, row, col, ch);
            continue;
        }
        if (!inside(canvas, row, col + columns - 1))
            break;
        set_cell(canvas, row, col, role, ch, columns);
        if (columns == 2)
            set_cell(canvas, row, col + 1, role, 0, 0);
        col += columns;
    }
    return col - start;
}

static int
visible_columns(const struct canvas *canvas, int col, int columns)
{
    int room = canvas->clip.col + canvas->clip.cols - col;

    if (col < canvas->clip.col)
        return 0;
    return columns < room ? columns : room;
}

int
canvas_put(struct canvas *canvas, int row, int col, int columns, enum role role,
           const char *text)
{
    char line[LINE_BYTES];

    columns = visible_columns(canvas, col, columns);
    if (columns <= 0 || !inside(canvas, row, col))
        return 0;
    text_clip(line, sizeof line, text, (size_t)columns);
    return put_clean(canvas, row, col, role, line);
}

void
canvas_field(struct canvas *canvas, int row, int col, int columns, enum text_align align,
             enum role role, const char *text)
{
    char line[LINE_BYTES];

    columns = visible_columns(canvas, col, columns);
    if (columns <= 0 || !inside(canvas, row, col))
        return;
    text_pad(line, sizeof line, text, (size_t)columns, align);
    put_clean(canvas, row, col, role, line);
}

void
canvas_bar(struct canvas *canvas, int row, int col, int columns, enum role role,
           double part)
{
    int eighths;

    if (columns <= 0 || !(part > 0) || canvas->plain)
        return;
    eighths = part >= 1 ? columns * 8 : (int)(part * columns * 8 + 0.5);
    if (eighths == 0)
        eighths = 1;
    for (int i = 0; i < columns && eighths > 0; i++, eighths -= 8) {
        wchar_t ch = canvas->unicode ? (wchar_t)(0x2588 + (eighths < 8 ? 8 - eighths : 0))
                                     : L'|';

        if (!canvas->unicode && eighths < 4 && i > 0)
            break;
        canvas_char(canvas, row, col + i, role, ch);
    }
}

void
canvas_rule(struct canvas *canvas, int row, int col, int columns, const char *title,
            const char *right)
{
    int title_cols = (int)text_columns(title);
    int right_cols = (int)text_columns(right);

    for (int i = 0; i < columns; i++)
        canvas_glyph(canvas, row, col + i, ROLE_DIM, GLYPH_HORIZONTAL);
    if (columns < 6)
        return;
    if (title_cols > columns - 4)
        title_cols = columns - 4;
    if (title_cols > 0) {
        canvas_char(canvas, row, col + 1, ROLE_NORMAL, L' ');
        title_cols = canvas_put(canvas, row, col + 2, title_cols, ROLE_TITLE, title);
        canvas_char(canvas, row, col + 2 + title_cols, ROLE_NORMAL, L' ');
    }
    if (right_cols > 0 && title_cols + right_cols + 8 <= columns) {
        int start = col + columns - right_cols - 2;

        canvas_char(canvas, row, start - 1, ROLE_NORMAL, L' ');
        canvas_put(canvas, row, start, right_cols, ROLE_NORMAL, right);
        canvas_char(canvas, row, start + right_cols, ROLE_NORMAL, L' ');
    }
}

size_t
canvas_row_bytes(const struct canvas *canvas)
{
    return (size_t)canvas->cols * 3 * MB_LEN_MAX + 1;
}

size_t
canvas_row_text(const struct canvas *canvas, int row, char *buffer)
{
    const struct cell *cells = canvas->cells + (size_t)row * (size_t)canvas->cols;
    size_t length = 0;
    size_t filled = 0;

    for (int col = 0; col < canvas->cols; col++) {
        for (size_t i = 0; i < 3 && cells[col].text[i] != 0; i++) {
            mbstate_t state = {0};
            size_t bytes = wcrtomb(buffer + length, cells[col].text[i], &state);

            if (bytes == (size_t)-1) {
                buffer[length] = '?';
                bytes = 1;
            }
            length += bytes;
            if (cells[col].text[i] != L' ')
                filled = length;
        }
    }
    buffer[filled] = '\0';
    return filled;
}
