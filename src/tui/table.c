/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which columns of a table are shown, how wide they are, and drawing them.  Nothing is
 * kept from one picture to the next.
 */
#include "config.h"

#include "tui/table.h"

#include "base/i18n.h"

#define HEADINGS_FROM_LINES 3
#define RANKS               TABLE_COLUMNS_MAX

/* Widths of the columns, 0 for those that are not shown. */
struct table_layout {
    const struct table *table;
    int width[TABLE_COLUMNS_MAX];
};

bool
table_has_headings(int lines)
{
    return lines >= HEADINGS_FROM_LINES;
}

int
table_room(int lines)
{
    return lines - table_has_headings(lines);
}

/* ---- widths ---- */

static void
raise_cols(int *cols, const char *text)
{
    int needed = (int)text_columns(text);

    if (needed > *cols)
        *cols = needed;
}

static void
fill_cell(struct table_cell *cell, const struct table_rows *rows,
          const struct table_column *column, const void *row)
{
    cell->room[0] = '\0';
    cell->text = cell->room;
    cell->role = column->role;
    if (column->cell != NULL)
        column->cell(cell, rows, column, row);
}

static int
widest_cell(const struct table_rows *rows, const struct table_column *column)
{
    struct table_cell cell;
    int cols = 0;

    for (size_t i = 0; i < rows->count; i++) {
        fill_cell(&cell, rows, column, rows->row(rows, i));
        raise_cols(&cols, cell.text);
    }
    return cols;
}

int
table_needs(const struct table_rows *rows, const struct table_column *column, int left)
{
    int cols = column->least, other;

    if (column->fixed > 0)
        return column->fixed;
    if (column->title != NULL && !column->grow)
        raise_cols(&cols, _(column->title));
    other = column->content != NULL ? column->content(rows, column, left) : 0;
    if (other > cols)
        cols = other;
    other = column->fit ? widest_cell(rows, column) : 0;
    if (other > cols)
        cols = other;
    return cols + column->gap + column->room;
}

static bool
is_shown(const struct table_rows *rows, const struct table_column *column)
{
    return column->shown == NULL || column->shown(rows, column);
}

/* Those of rank 0 get what they need; what is left may be negative. */
static int
place_constant(struct table_layout *layout, const struct table_rows *rows, int window)
{
    const struct table *table = layout->table;
    int left = window - table->margin;

    for (size_t i = 0; i < table->count; i++) {
        const struct table_column *column = &table->columns[i];

        layout->width[i] = 0;
        if (column->rank == 0 && is_shown(rows, column))
            layout->width[i] = column->part[1] > 0
                                   ? window * column->part[0] / column->part[1]
                                   : table_needs(rows, column, left);
        left -= layout->width[i];
    }
    return left;
}

static int
place_others(struct table_layout *layout, const struct table_rows *rows, int left)
{
    const struct table *table = layout->table;
    bool full = false;

    for (int rank = 1; rank <= RANKS; rank++)
        for (size_t i = 0; i < table->count; i++) {
            const struct table_column *column = &table->columns[i];
            int needed;

            if (column->rank != rank || (full && !column->loose)
                || !is_shown(rows, column))
                continue;
            needed = table_needs(rows, column, left);
            if (needed <= left) {
                layout->width[i] = needed;
                left -= needed;
            } else if (!column->loose) {
                full = true;
            }
        }
    return left;
}

static bool
grows(const struct table_layout *layout, size_t i)
{
    const struct table_column *column = &layout->table->columns[i];

    return column->grow && (column->rank == 0 || layout->width[i] > 0);
}

static void
share_out(struct table_layout *layout, int left)
{
    int count = 0;

    for (size_t i = 0; i < layout->table->count; i++)
        count += grows(layout, i);
    for (size_t i = 0; i < layout->table->count; i++)
        if (grows(layout, i)) {
            layout->width[i] += left / count;
            if (layout->width[i] < 0)
                layout->width[i] = 0;
        }
}

static void
lay_out(struct table_layout *layout, const struct table *table,
        const struct table_rows *rows, int window)
{
    int left;

    layout->table = table;
    left = place_constant(layout, rows, window);
    if (table->narrow != NULL && (left < 0 || window < table->narrow_below)) {
        layout->table = table->narrow;
        left = place_constant(layout, rows, window);
    }
    left = place_others(layout, rows, left);
    share_out(layout, left);
}

/* ---- drawing ---- */

static const char *
heading_of(const struct table_rows *rows, const struct table_column *column, int cols,
           char *room, size_t size)
{
    if (column->heading != NULL)
        return column->heading(rows, column, cols, room, size);
    return column->title != NULL ? _(column->title) : "";
}

/* The heading of the column that the rows are sorted by has a sign before it, which
   says in which direction. */
static void
draw_sort_sign(struct canvas *canvas, const struct rect *field, const struct sort *sort,
               const char *heading)
{
    int cols = (int)text_columns(heading);

    canvas_paint(canvas, field->row, field->col + 1, field->cols - 1, ROLE_TITLE);
    if (cols < field->cols)
        canvas_glyph(canvas, field->row, field->col + field->cols - cols - 1, ROLE_TITLE,
                     sort->reverse ? GLYPH_FLAG : GLYPH_MARK);
}

static void
draw_heading(struct canvas *canvas, const struct rect *field,
             const struct table_rows *rows, const struct table_column *column)
{
    char room[128];
    const char *text = heading_of(rows, column, field->cols, room, sizeof room);
    /* Room for the sign of a figure is a blank in the heading. */
    int gap = column->gap == 0 && column->room > 0 ? 1 : column->gap;

    if (text[0] == '\0')
        return;
    if (column->align == TEXT_RIGHT && gap > 1)
        gap = 1;
    canvas_field(canvas, field->row, field->col + gap, field->cols - gap, column->align,
                 ROLE_DIM, text);
    if (rows->sort != NULL && column->sort > 0 && rows->sort->column == column->sort)
        draw_sort_sign(canvas, field, rows->sort, text);
}

/* A figure's role is that of its text, which need not fill the field. */
static void
draw_cell(struct canvas *canvas, const struct rect *field, const struct table_rows *rows,
          const struct table_column *column, const void *row)
{
    int col = field->col + column->gap, cols = field->cols - column->gap, text;
    struct table_cell cell;

    if (column->draw != NULL) {
        column->draw(canvas, &(struct rect){field->row, col, 1, cols}, rows, column, row);
        return;
    }
    fill_cell(&cell, rows, column, row);
    if (column->align == TEXT_LEFT) {
        canvas_field(canvas, field->row, col, cols, TEXT_LEFT, cell.role, cell.text);
        return;
    }
    canvas_field(canvas, field->row, col, cols, TEXT_RIGHT, column->role, cell.text);
    text = (int)text_columns(cell.text);
    if (cell.role != column->role)
        canvas_paint(canvas, field->row, col + (text < cols ? cols - text : 0),
                     text < cols ? text : cols, cell.role);
}

/* The headings, or a row. */
static void
draw_line(struct canvas *canvas, const struct rect *rect,
          const struct table_layout *layout, const struct table_rows *rows, int line,
          const void *row)
{
    struct rect field = {rect->row + line, rect->col, 1, 0};
    int end = rect->col + rect->cols;

    for (size_t i = 0; i < layout->table->count && field.col < end;
         i++, field.col += field.cols) {
        const struct table_column *column = &layout->table->columns[i];

        field.cols = layout->width[i];
        if (field.cols == 0)
            continue;
        if (row == NULL) {
            draw_heading(canvas, &field, rows, column);
            continue;
        }
        if (field.cols > end - field.col)
            field.cols = end - field.col;
        draw_cell(canvas, &field, rows, column, row);
    }
}

void
table_draw(struct canvas *canvas, const struct rect *rect, const struct table *table,
           const struct table_rows *rows)
{
    int line = !table->bare && table_has_headings(rect->rows);
    struct table_layout layout;

    lay_out(&layout, table, rows, rect->cols);
    if (line > 0)
        draw_line(canvas, rect, &layout, rows, 0, NULL);
    for (size_t i = rows->first; i < rows->count && line < rect->rows; i++, line++) {
        draw_line(canvas, rect, &layout, rows, line, rows->row(rows, i));
        if (i != rows->selected)
            continue;
        canvas_put(canvas, rect->row + line, rect->col, 1, ROLE_PROMPT, ">");
        canvas_paint(canvas, rect->row + line, rect->col, rect->cols, ROLE_PROMPT);
    }
}

/* ---- sorting ---- */

static const struct table_column *
sorted_by(const struct table *table, unsigned sort)
{
    for (size_t i = 0; i < table->count && sort > 0; i++)
        if (table->columns[i].sort == sort)
            return &table->columns[i];
    return NULL;
}

const char *
table_sort_title(const struct table *table, unsigned sort)
{
    const struct table_column *column = sorted_by(table, sort);

    return column != NULL ? _(column->title) : NULL;
}

uint64_t
table_key(const struct table *table, const struct table_rows *rows, const void *row)
{
    const struct table_column *column =
        rows->sort != NULL ? sorted_by(table, rows->sort->column) : NULL;

    return column != NULL && column->key != NULL ? column->key(rows, column, row) : 0;
}
