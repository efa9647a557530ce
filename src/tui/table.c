/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides which columns of a table are shown and how wide they are, and draws them.
 * Keeps nothing between drawings.
 */
#include "config.h"

#include "tui/table.h"

#include "base/i18n.h"

#define HEADINGS_FROM_LINES 3
#define RANKS TABLE_COLUMNS_MAX

/* Widths of the columns; 0: not shown. */
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

const void *
table_row(const struct table_rows *rows, size_t index)
{
    return rows->row(rows, rows->order != NULL ? rows->order[index] : index);
}

/* ---- widths ---- */

static void
raise_cols(int *cols, const char *text)
{
    int needed = (int)text_columns(text);

    if (needed > *cols)
        *cols = needed;
}

/* Resets the cell and has fill, unless NULL, set it. */
static void
fill_cell(struct table_cell *cell, const struct table_at *at,
          void (*fill)(struct table_cell *cell, const struct table_at *at))
{
    cell->room[0] = '\0';
    cell->text = cell->room;
    cell->role = at->column->role;
    if (fill != NULL)
        fill(cell, at);
}

static int
widest_cell(struct table_at at)
{
    struct table_cell cell;
    int cols = 0;

    for (size_t i = 0; i < at.rows->count; i++) {
        at.row = table_row(at.rows, i);
        fill_cell(&cell, &at, at.column->cell);
        raise_cols(&cols, cell.text);
    }
    return cols;
}

int
table_needs(const struct table_at *at, const struct table_column *column)
{
    const struct table_at here = {at->rows, at->data, column, NULL, at->cols};
    int cols = column->least, other;

    if (column->fixed > 0)
        return column->fixed;
    if (column->title != NULL && !column->grow)
        raise_cols(&cols, _(column->title));
    other = column->content != NULL ? column->content(&here) : 0;
    if (other > cols)
        cols = other;
    other = column->fit ? widest_cell(here) : 0;
    if (other > cols)
        cols = other;
    return cols + column->gap + column->room;
}

int
table_bytes_cols(enum unit unit)
{
    char text[UNITS_MAX];

    return (int)text_columns(units_bytes(text, sizeof text, 1u << 30, unit));
}

static bool
is_shown(const struct table_at *at)
{
    return at->column->shown == NULL || at->column->shown(at);
}

/* Gives the columns of rank 0 what they need.  Returns the width left, which may be
   negative. */
static int
place_constant(struct table_layout *layout, const struct table_rows *rows, int window)
{
    const struct table *table = layout->table;
    struct table_at at = {.rows = rows, .data = rows->data};

    at.cols = window - table->margin;
    for (size_t i = 0; i < table->count; i++) {
        const struct table_column *column = at.column = &table->columns[i];

        layout->width[i] = 0;
        if (column->rank == 0 && is_shown(&at))
            layout->width[i] = column->part[1] > 0
                                   ? window * column->part[0] / column->part[1]
                                   : table_needs(&at, column);
        at.cols -= layout->width[i];
    }
    return at.cols;
}

/* Gives the other columns what they need, by rank, while there is room. */
static int
place_others(struct table_layout *layout, const struct table_rows *rows, int left)
{
    const struct table *table = layout->table;
    struct table_at at = {.rows = rows, .data = rows->data, .cols = left};
    bool full = false;

    for (int rank = 1; rank <= RANKS; rank++)
        for (size_t i = 0; i < table->count; i++) {
            const struct table_column *column = at.column = &table->columns[i];
            int needed;

            if (column->rank != rank || (full && !column->loose) || !is_shown(&at))
                continue;
            needed = table_needs(&at, column);
            if (needed <= at.cols) {
                layout->width[i] = needed;
                at.cols -= needed;
            } else if (!column->loose) {
                full = true;
            }
        }
    return at.cols;
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

/* Marks the heading of the column that the rows are sorted by with a sign for the
   direction. */
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
draw_heading(struct canvas *canvas, const struct rect *field, const struct table_at *at)
{
    const struct table_column *column = at->column;
    const struct sort *sort = at->rows->sort;
    /* A column with spare columns for a sign needs a blank in its heading. */
    int gap = column->gap == 0 && column->room > 0 ? 1 : column->gap;
    struct table_cell cell;

    fill_cell(&cell, at, column->heading);
    if (column->heading == NULL && column->title != NULL)
        cell.text = _(column->title);
    if (cell.text[0] == '\0')
        return;
    canvas_field(canvas, field->row, field->col + gap, field->cols - gap, column->align,
                 ROLE_DIM, cell.text);
    if (sort != NULL && column->sort > 0 && sort->column == column->sort)
        draw_sort_sign(canvas, field, sort, cell.text);
}

/* The cell's role colours only its text if right-aligned, not the whole field. */
static void
draw_cell(struct canvas *canvas, const struct rect *field, const struct table_at *at)
{
    const struct table_column *column = at->column;
    int col = field->col + column->gap, cols = field->cols - column->gap, text;
    struct table_cell cell;

    if (column->draw != NULL) {
        column->draw(canvas, &(struct rect){field->row, col, 1, cols}, at);
        return;
    }
    fill_cell(&cell, at, column->cell);
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

/* Draws a row, or the headings if row is NULL. */
static void
draw_line(struct canvas *canvas, const struct rect *rect,
          const struct table_layout *layout, const struct table_rows *rows, int line,
          const void *row)
{
    struct rect field = {rect->row + line, rect->col, 1, 0};
    int end = rect->col + rect->cols;

    for (size_t i = 0; i < layout->table->count && field.col < end;
         i++, field.col += field.cols) {
        const struct table_at at = {rows, rows->data, &layout->table->columns[i], row,
                                    layout->width[i]};

        field.cols = layout->width[i];
        if (field.cols == 0)
            continue;
        if (row == NULL) {
            draw_heading(canvas, &field, &at);
            continue;
        }
        if (field.cols > end - field.col)
            field.cols = end - field.col;
        draw_cell(canvas, &field, &at);
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
        draw_line(canvas, rect, &layout, rows, line, table_row(rows, i));
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

void
table_sort(const struct table *table, struct table_rows *rows, uint64_t *keys,
           uint16_t *order)
{
    const struct table_column *column = sorted_by(table, rows->sort->column);
    struct table_at at = {.rows = rows, .data = rows->data, .column = column};

    for (size_t i = 0; i < rows->count; i++) {
        at.row = rows->row(rows, i);
        keys[i] = column != NULL && column->key != NULL ? column->key(&at) : 0;
    }
    sort_rows(order, rows->count, rows->sort, keys);
    rows->order = order;
}
