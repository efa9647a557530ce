/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The page of exact block sizes: how many blocks of each size were allocated, are live
 * and were live at most, and the shares of the run during which how many were live.  In
 * a narrow window the columns at the right are left out first.  This page needs a record
 * of every call; without one it says how to get it.
 */
#include "config.h"

#include "tui/state.h"

#include <stdio.h>

#include "base/i18n.h"
#include "tui/blocks.h"

#define COUNT_COLS 6 /* least width */
#define SHARE_COLS 5
#define LABEL_FROM 6 /* the label of the shares needs room for so many of them, or all */

/* Context of the table's rows. */
struct blocks_shown {
    const struct view *view;
    const struct block_table *table;
};

static const struct block_table *
table_of(const struct table_at *at)
{
    return ((const struct blocks_shown *)at->data)->table;
}

/* ---- figures ---- */

static void
figure_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct blocks_shown *shown = at->data;
    const struct block_row *row = at->row;
    const uint64_t counts[BLOCK_COLUMNS] = {
        row->size, [BLOCK_ALLOCATIONS] = row->allocations, [BLOCK_LIVE] = row->live,
        [BLOCK_PEAK] = row->peak};

    if (at->column->id == BLOCK_BYTES)
        units_bytes(cell->room, sizeof cell->room, row->bytes, shown->view->unit);
    else
        units_count(cell->room, sizeof cell->room, counts[at->column->id]);
}

/* ---- shares of the time; their ids are their indices ---- */

/* The label of the shares, shown once, before the first count of blocks. */
static const char *
shares_label(void)
{
    /* TRANSLATORS: heads shares of the time, a number of blocks follows: in which part
       of the time there were 1, 2, 3, 4-5... of them at once. */
    return _("time with");
}

static bool
share_is_shown(const struct table_at *at)
{
    return at->column->id < (int)table_of(at)->shares;
}

static int
share_cols(const struct block_table *table)
{
    int cols = SHARE_COLS;

    for (unsigned i = 0; i < table->shares; i++)
        if ((int)text_columns(table->interval[i]) > cols)
            cols = (int)text_columns(table->interval[i]);
    return cols;
}

/* All are equally wide, except the first if there is room for the label. */
static int
share_content(const struct table_at *at)
{
    const struct block_table *table = table_of(at);
    int beside = table->shares < LABEL_FROM ? (int)table->shares : LABEL_FROM;
    int label = (int)text_columns(shares_label()) + 1;
    int cols = share_cols(table);

    if (at->column->id == 0 && at->cols >= label + beside * (cols + at->column->gap))
        cols += label;
    return cols;
}

static void
share_heading(struct table_cell *cell, const struct table_at *at)
{
    const char *interval = table_of(at)->interval[at->column->id];

    if (at->cols > at->column->gap + share_cols(table_of(at)))
        snprintf(cell->room, sizeof cell->room, "%s %s", shares_label(), interval);
    else
        cell->text = interval;
}

static void
share_cell(struct table_cell *cell, const struct table_at *at)
{
    float share = ((const struct block_row *)at->row)->share[at->column->id];

    /* Tiny shares are shown as "<0.1%", with the decimal point of the locale. */
    if (share > 0)
        snprintf(cell->room, sizeof cell->room, share < 0.1f ? "<%.1f%%" : "%.1f%%",
                 share < 0.1f ? 0.1 : (double)share);
}

/* ---- the table ---- */

#define FIGURE(column)                                                                   \
    TABLE_SIGNED, .id = (column), .least = COUNT_COLS, .fit = true, .sort = (column),    \
                  .cell = figure_cell
#define SHARE(index)                                                                     \
    TABLE_FIGURE, .id = (index), .content = share_content, .heading = share_heading,     \
                  .rank = 5, .loose = true, .shown = share_is_shown, .cell = share_cell

static const struct table_column narrow_columns[] = {
    {TABLE_FIGURE, .title = N_("size"), .role = ROLE_VALUE, .grow = true,
     .cell = figure_cell},
};
static const struct table narrow_table = {TABLE_COLUMNS(narrow_columns)};

static const struct table_column columns[] = {
    {FIGURE(0), .title = N_("size"), .role = ROLE_VALUE},
    {FIGURE(BLOCK_ALLOCATIONS), .title = N_("allocations"), .rank = 2},
    {FIGURE(BLOCK_LIVE), .title = N_("live"), .rank = 1},
    {FIGURE(BLOCK_PEAK), .title = N_("peak"), .rank = 3},
    {FIGURE(BLOCK_BYTES), .title = N_("bytes"), .rank = 4},
    {SHARE(0)},
    {SHARE(1)},
    {SHARE(2)},
    {SHARE(3)},
    {SHARE(4)},
    {SHARE(5)},
    {SHARE(6)},
    {SHARE(7)},
    {SHARE(8)},
    {SHARE(9)},
    {SHARE(10)},
    {SHARE(11)},
};
_Static_assert(BLOCK_SHARES == 12, "each share has a column");
static const struct table blocks_table = {TABLE_COLUMNS(columns),
                                          .narrow = &narrow_table};

static const void *
block_row(const struct table_rows *rows, size_t index)
{
    return &((const struct blocks_shown *)rows->data)->table->rows[index];
}

/* Why there is no table; "" if there is one. */
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
draw_note(struct screen *screen, const struct rect *rect, const char *text)
{
    for (int row = rect->row; row < rect->row + rect->rows && *text != '\0'; row++) {
        char line[512];

        text += text_line(line, sizeof line, text, (size_t)(rect->cols - 1));
        canvas_put(&screen->canvas, row, rect->col + 1, rect->cols - 1, ROLE_NORMAL,
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

static int
count_lines(const struct screen *screen, const struct view *view,
            const struct scene *scene)
{
    (void)view;
    return table_has_headings(view_page_rest(screen).rows)
           + (scene->blocks != NULL ? (int)scene->blocks->count : 0);
}

static void
draw(struct screen *screen, const struct view *view, const struct scene *scene)
{
    const char *why = why_none(view, scene);
    const struct blocks_shown shown = {view, scene->blocks};
    struct table_rows rows = {.data = &shown,
                              .row = block_row,
                              .first = (size_t)view->scroll,
                              .selected = TABLE_NO_ROW,
                              .sort = &view->sort[PAGE_BLOCKS]};
    char right[256];
    struct rect rest;

    say_title(right, sizeof right, view, scene);
    rest = view_page_title(screen, pages_title(PAGE_BLOCKS), right);
    if (!scene->process->measured && scene->blocks == NULL && !view->history) {
        view_not_measured(screen, scene, rest.row, rest.col + 1, rest.cols - 1);
        return;
    }
    if (why[0] != '\0') {
        draw_note(screen, &rest, why);
        return;
    }
    rows.count = scene->blocks->count;
    table_draw(&screen->canvas, &rest, &blocks_table, &rows);
}

static void
find(struct app *app, const char *text)
{
    uint64_t from, to;

    if (blocks_filter(text, &from, &to))
        find_filter(app, app->view.sizes_shown, text);
    else
        app_ack(app, _("'%s' is neither a size nor a range such as 16-64"), text);
}

const struct page_def page_blocks = {
    .title = N_("Exact block sizes"),
    .reads = PAGE_READS_BLOCKS,
    .draw = draw,
    .lines = count_lines,
    .table = &blocks_table,
    .asks = N_("Sizes, such as 64, 16-64 or 4K-: %s_"),
    .find = find,
};
