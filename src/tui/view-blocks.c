/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The page of exact block sizes: how many of each were allocated, are live and were
 * live at most, and in which share of the time how many were.  Columns leave from the
 * right.  Every call must be recorded for it: where it is not, it says how to ask.
 */
#include "config.h"

#include "tui/view.h"

#include <stdio.h>

#include "base/i18n.h"
#include "tui/blocks.h"

#define COUNT_COLS 8   /* the least */
#define SHARE_COLS 6
#define LABEL_FROM 6   /* beside so many shares, or all, it is said what they are */

struct blocks_columns {
    int figure[BLOCK_COLUMNS]; /* the size first; 0: not shown */
    unsigned shares;
    int share;                 /* width of each */
    int label;                 /* more of the first, for what they are; 0: no room */
};

static const char *
heading(enum block_column column)
{
    return column == 0 ? _("size") : view_sort_column(PAGE_BLOCKS, column);
}

/* What the shares are, said once, before the first count of blocks. */
static const char *
shares_label(void)
{
    /* TRANSLATORS: heads shares of the time, a number of blocks follows: in which part
       of the time there were 1, 2, 3, 4-5... of them at once. */
    return _("time with");
}

static int
wider(int cols, const char *text, int gap)
{
    int needed = (int)text_columns(text) + gap;

    return needed > cols ? needed : cols;
}

static char *
figure_text(char *text, size_t size, const struct view *view,
            const struct block_row *row, unsigned column)
{
    switch (column) {
    case 0:
        return units_count(text, size, row->size);
    case BLOCK_ALLOCATIONS:
        return units_count(text, size, row->allocations);
    case BLOCK_LIVE:
        return units_count(text, size, row->live);
    case BLOCK_PEAK:
        return units_count(text, size, row->peak);
    default:
        return units_bytes(text, size, row->bytes, view->unit);
    }
}

/* As wide as what is in them. */
static struct blocks_columns
choose_columns(const struct view *view, const struct block_table *table, int cols)
{
    static const enum block_column drop_order[] = {BLOCK_BYTES, BLOCK_PEAK,
                                                   BLOCK_ALLOCATIONS, BLOCK_LIVE};
    struct blocks_columns columns = {.share = SHARE_COLS};
    char text[UNITS_MAX];
    int left = cols, shares;

    for (unsigned i = 0; i < BLOCK_COLUMNS; i++) {
        /* The sign of sorting has a column, too. */
        columns.figure[i] = wider(COUNT_COLS, heading((enum block_column)i), 2);
        for (size_t row = 0; row < table->count; row++)
            columns.figure[i] =
                wider(columns.figure[i],
                      figure_text(text, sizeof text, view, &table->rows[row], i), 2);
        left -= columns.figure[i];
    }
    for (unsigned i = 0; i < sizeof drop_order / sizeof *drop_order && left < 0; i++) {
        left += columns.figure[drop_order[i]];
        columns.figure[drop_order[i]] = 0;
    }
    if (left < 0)
        columns.figure[0] = cols;
    for (unsigned i = 0; i < table->shares; i++)
        columns.share = wider(columns.share, table->interval[i], 1);
    columns.label = (int)text_columns(shares_label()) + 1;
    shares = table->shares < LABEL_FROM ? (int)table->shares : LABEL_FROM;
    if (shares == 0 || left < columns.label + shares * columns.share)
        columns.label = 0;
    left -= columns.label;
    columns.shares = left > 0 ? (unsigned)(left / columns.share) : 0;
    if (columns.shares > table->shares)
        columns.shares = table->shares;
    return columns;
}

static void
put(struct picture *picture, int row, int *col, int cols, enum role role,
    const char *text)
{
    canvas_field(&picture->canvas, row, *col + 1, cols - 1, TEXT_RIGHT, role, text);
    *col += cols;
}

static int
share_cols(const struct blocks_columns *columns, unsigned index)
{
    return columns->share + (index == 0 ? columns->label : 0);
}

static void
draw_headings(struct picture *picture, const struct view *view,
              const struct block_table *table, const struct blocks_columns *columns,
              int row, int col)
{
    for (unsigned i = 0; i < BLOCK_COLUMNS; i++) {
        const struct rect field = {row, col, 1, columns->figure[i]};

        if (field.cols > 0)
            view_heading(picture, &field, heading((enum block_column)i),
                         &view->sort[PAGE_BLOCKS], i);
        col += field.cols;
    }
    for (unsigned i = 0; i < columns->shares; i++) {
        char text[64];

        snprintf(text, sizeof text, "%s %s", shares_label(), table->interval[i]);
        put(picture, row, &col, share_cols(columns, i), ROLE_DIM,
            i == 0 && columns->label > 0 ? text : table->interval[i]);
    }
}

static const char *
share_text(char *text, size_t size, float share)
{
    if (share <= 0)
        return "";
    /* The least, too, with the point of the locale. */
    snprintf(text, size, share < 0.1f ? "<%.1f%%" : "%.1f%%",
             share < 0.1f ? 0.1 : (double)share);
    return text;
}

static void
draw_row(struct picture *picture, const struct view *view, const struct block_row *row,
         const struct blocks_columns *columns, int line, int col)
{
    char text[UNITS_MAX];

    for (unsigned i = 0; i < BLOCK_COLUMNS; i++)
        if (columns->figure[i] > 0)
            put(picture, line, &col, columns->figure[i],
                i == 0 ? ROLE_VALUE : ROLE_NORMAL,
                figure_text(text, sizeof text, view, row, i));
    for (unsigned i = 0; i < columns->shares; i++)
        put(picture, line, &col, share_cols(columns, i), ROLE_NORMAL,
            share_text(text, sizeof text, row->share[i]));
}

/* Why there is no table, "" if there is one. */
static const char *
why_none(const struct view *view, const struct scene *scene)
{
    if (view->history)
        return _("The block sizes of the past are not recorded.");
    if (scene->blocks == NULL && scene->saved)
        return _("The block sizes were not recorded.");
    if (scene->blocks == NULL)
        return _("Not recorded: start memtop with --report=full or --record=FILE; that "
                 "takes about 100 ns a call.");
    if (scene->blocks->all == 0)
        return _("No allocation is recorded.");
    return scene->blocks->count == 0 ? _("No block has such a size.") : "";
}

static void
draw_note(struct picture *picture, const struct rect *rect, const char *text)
{
    for (int row = rect->row; row < rect->row + rect->rows && *text != '\0'; row++) {
        char line[512];

        text += text_line(line, sizeof line, text, (size_t)(rect->cols - 1));
        canvas_put(&picture->canvas, row, rect->col + 1, rect->cols - 1, ROLE_NORMAL,
                   line);
    }
}

static void
say_title(char *text, size_t size, const struct view *view, const struct scene *scene)
{
    char sizes[UNITS_MAX], made[UNITS_MAX], peak[UNITS_MAX];

    text[0] = '\0';
    if (scene->blocks == NULL || view->history)
        return;
    if (view->sizes_shown[0] != '\0')
        snprintf(text, size, _("sizes: %s"), view->sizes_shown);
    else
        /* TRANSLATORS: three figures: two numbers and a size. */
        snprintf(
            text, size, _("sizes %s, allocations %s, peak %s"),
            units_count(sizes, sizeof sizes, scene->blocks->all),
            units_count_compact(made, sizeof made, scene->blocks->sum.allocations),
            units_bytes(peak, sizeof peak, scene->blocks->sum.peak_bytes, view->unit));
}

int
view_blocks_lines(const struct scene *scene)
{
    return scene->blocks != NULL ? (int)scene->blocks->count : 0;
}

void
view_blocks(struct picture *picture, const struct view *view, const struct scene *scene)
{
    const char *why = why_none(view, scene);
    char right[256];
    struct blocks_columns columns;
    struct rect rest;
    int top;

    say_title(right, sizeof right, view, scene);
    rest = view_page_title(picture, _("Exact block sizes"), right);
    if (!scene->process->measured && scene->blocks == NULL && !view->history) {
        view_not_measured(picture, scene, rest.row, rest.col + 1, rest.cols - 1);
        return;
    }
    if (why[0] != '\0') {
        draw_note(picture, &rest, why);
        return;
    }
    columns = choose_columns(view, scene->blocks, rest.cols);
    top = rest.row + view_has_headings(rest.rows);
    if (top > rest.row)
        draw_headings(picture, view, scene->blocks, &columns, rest.row, rest.col);
    for (int row = top; row < rest.row + rest.rows; row++) {
        size_t index = (size_t)(row - top) + (size_t)view->scroll;

        if (index < scene->blocks->count)
            draw_row(picture, view, &scene->blocks->rows[index], &columns, row, rest.col);
    }
}
