/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Block sizes: how many blocks of each range were allocated, and how many are live.  The
 * block on the overview shows as much as fits.  With only a few rows it has the most
 * frequent ranges in two columns, and the sum of all others.
 */
#include "config.h"

#include "tui/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "report/ranges.h"

#define LABEL_COLS       8
#define COUNT_COLS       10
#define SHORT_COLS       5 /* without a sign */
#define SHARE_COLS       5
#define LIVE_FROM        46 /* columns from which on counts of live blocks are shown */
#define TWO_FROM         72 /* columns from which on two entries are side by side */
#define BRIEF_BELOW_ROWS 9

struct entry {
    char label[24];
    struct range now, then;   /* then: at the mark */
};

/* The ranges, their sums and largest counts. */
struct histogram_shown {
    struct entry entries[RANGE_COUNT + 1];
    int length;
    bool shortened;   /* the last entry is "other" */
    bool since;       /* differences from the mark are shown */
    bool log;         /* bars are logarithmic */
    bool brief;       /* counts are short, and live blocks have no bars */
    bool wide;        /* live blocks have bars */
    struct range sum, max;
};

static uint64_t
add_saturating(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void
add_range(struct range *sum, const struct range *range)
{
    sum->allocated = add_saturating(sum->allocated, range->allocated);
    sum->live = add_saturating(sum->live, range->live);
}

static struct amount
allocated(const struct histogram_shown *table, const struct entry *entry)
{
    return (struct amount){ entry->now.allocated, entry->then.allocated, table->since };
}

static struct amount
live(const struct histogram_shown *table, const struct entry *entry)
{
    return (struct amount){ entry->now.live, entry->then.live, table->since };
}

/* Both figures shown, without signs. */
static struct range
shown(const struct histogram_shown *table, const struct entry *entry)
{
    const struct amount a = allocated(table, entry), l = live(table, entry);

    return (struct range){ amount_size(&a), amount_size(&l) };
}

static void
table_finish(struct histogram_shown *table)
{
    table->max = table->sum = (struct range){0};
    for (int i = 0; i < table->length; i++) {
        const struct range count = shown(table, &table->entries[i]);

        add_range(&table->sum, &count);
        if (table->shortened && i == table->length - 1)
            break;   /* this bar may be cut, so that the others are not too short */
        if (count.allocated > table->max.allocated)
            table->max.allocated = count.allocated;
        if (count.live > table->max.live)
            table->max.live = count.live;
    }
}

static void
table_fill(struct histogram_shown *table, const struct view *view,
           const struct scene *scene)
{
    struct range ranges[RANGE_COUNT], then[RANGE_COUNT] = { { 0, 0 } };

    ranges_sum(&scene->process->sizes, ranges);
    if (scene->mark != NULL)
        ranges_sum(&scene->mark->sizes, then);
    table->length = RANGE_COUNT;
    table->shortened = table->brief = false;
    table->since = scene->mark != NULL;
    table->log = view->log;
    for (unsigned i = 0; i < RANGE_COUNT; i++) {
        snprintf(table->entries[i].label, sizeof table->entries[i].label, "%s",
                 ranges_label(i));
        table->entries[i].now = ranges[i];
        table->entries[i].then = then[i];
    }
    table_finish(table);
}

static void
table_drop_empty(struct histogram_shown *table)
{
    int kept = 0;

    for (int i = 0; i < table->length; i++) {
        const struct range count = shown(table, &table->entries[i]);

        if (count.allocated > 0 || count.live > 0)
            table->entries[kept++] = table->entries[i];
    }
    table->length = kept;
}

/* Keeps the most frequent ranges in order of size and adds up the others. */
static void
table_shorten(struct histogram_shown *table, int length)
{
    struct entry other = { .label = "" };

    if (table->length <= length || length < 2)
        return;
    while (table->length > length - 1) {
        int least = 0;

        for (int i = 1; i < table->length; i++)
            if (shown(table, &table->entries[i]).allocated
                < shown(table, &table->entries[least]).allocated)
                least = i;
        add_range(&other.now, &table->entries[least].now);
        add_range(&other.then, &table->entries[least].then);
        memmove(table->entries + least, table->entries + least + 1,
                (size_t)(table->length - least - 1) * sizeof table->entries[0]);
        table->length--;
    }
    /* TRANSLATORS: other block sizes; at most 8 columns */
    snprintf(other.label, sizeof other.label, "%s", _("other"));
    table->entries[table->length++] = other;
    table->shortened = true;
    table_finish(table);
}

static void
share_text(char *text, size_t size, uint64_t part, uint64_t whole)
{
    double share = whole > 0 ? (double)part * 100 / (double)whole : 0;

    if (part == 0)
        text[0] = '\0';
    else if (share < 0.5)
        snprintf(text, size, "<1%%");
    else
        snprintf(text, size, "%.0f%%", share);
}

/* Length of a bar, 0..1. */
static double
part_of(const struct histogram_shown *table, uint64_t part, uint64_t whole)
{
    if (whole == 0)
        return 0;
    if (table->log)
        return log2(1 + (double)part) / log2(1 + (double)whole);
    return (double)part / (double)whole;
}

/* ---- the columns ---- */

static void
label_cell(struct table_cell *cell, const struct table_at *at)
{
    cell->text = ((const struct entry *)at->row)->label;
}

enum sizes_field { FIELD_ALLOCATED, FIELD_LIVE };

static struct amount
amount_of(const struct table_at *at)
{
    return at->column->id == FIELD_LIVE ? live(at->data, at->row)
                                        : allocated(at->data, at->row);
}

static void
count_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct histogram_shown *table = at->data;
    const struct amount amount = amount_of(at);

    (table->brief ? amount_count_compact : amount_count)(cell->room, sizeof cell->room,
                                                         &amount);
}

static void
share_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct histogram_shown *table = at->data;
    const struct amount amount = amount_of(at);

    share_text(cell->room, sizeof cell->room, amount_size(&amount), table->sum.allocated);
}

static void
draw_bar(struct canvas *canvas, const struct rect *field, const struct table_at *at)
{
    const struct histogram_shown *table = at->data;
    const struct amount amount = amount_of(at);

    canvas_bar(
        canvas, field->row, field->col, field->cols, at->column->role,
        part_of(table, amount_size(&amount),
                at->column->id == FIELD_LIVE ? table->max.live : table->max.allocated));
}

static const char *
count_word(const struct histogram_shown *table, int field)
{
    if (field == FIELD_ALLOCATED)
        return _("allocated");
    return table->since ? _("live") : _("live now");
}

static void
count_heading(struct table_cell *cell, const struct table_at *at)
{
    cell->text = count_word(at->data, at->column->id);
}

/* Both columns of counts are as wide as the wider one of their headings. */
static int
count_content(const struct table_at *at)
{
    const struct histogram_shown *table = at->data;
    int cols = COUNT_COLS;

    if (table->brief)
        return SHORT_COLS + table->since;
    for (int field = FIELD_ALLOCATED; field <= FIELD_LIVE; field++)
        if ((int)text_columns(count_word(table, field)) > cols)
            cols = (int)text_columns(count_word(table, field));
    return cols;
}

/* Either both bars are shown or none. */
static int
bar_content(const struct table_at *at)
{
    const struct histogram_shown *table = at->data;
    bool first_of_two = table->wide && at->column->id == FIELD_ALLOCATED;

    return first_of_two && at->cols < 2 * (at->column->gap + 1) ? at->cols : 1;
}

static bool
live_is_shown(const struct table_at *at)
{
    const struct histogram_shown *table = at->data;

    return table->wide || (table->brief && at->column->draw == NULL);
}

#define COUNT                                                                            \
    .align = TEXT_RIGHT, .room = 1, .content = count_content, .heading = count_heading,  \
    .cell = count_cell
#define BAR .gap = 1, .grow = true, .rank = 1, .content = bar_content, .draw = draw_bar

static const struct table_column columns[] = {
    {.title = N_("bytes"), .align = TEXT_RIGHT, .role = ROLE_VALUE, .least = LABEL_COLS,
     .cell = label_cell},
    {COUNT},
    {.align = TEXT_RIGHT, .fixed = SHARE_COLS, .cell = share_cell},
    {BAR, .role = ROLE_HEAP},
    {COUNT, .id = FIELD_LIVE, .gap = 1, .shown = live_is_shown},
    {BAR, .id = FIELD_LIVE, .role = ROLE_STACK, .shown = live_is_shown},
};
static const struct table sizes_table = {TABLE_COLUMNS(columns), .margin = 1};
static const struct table brief_table = {
    TABLE_COLUMNS(columns), .margin = 1, .bare = true};

static const void *
entry_row(const struct table_rows *rows, size_t index)
{
    return &((const struct histogram_shown *)rows->data)->entries[index];
}

static void
draw_table(struct screen *screen, const struct rect *rect,
           struct histogram_shown *shown, size_t first)
{
    const struct table_rows rows = {.data = shown,
                                    .count = (size_t)shown->length,
                                    .row = entry_row,
                                    .first = first,
                                    .selected = TABLE_NO_ROW};

    shown->wide = !shown->brief && rect->cols >= LIVE_FROM;
    table_draw(&screen->canvas, rect, shown->brief ? &brief_table : &sizes_table, &rows);
}

/* A few rows: two entries per row, the headings in the title line. */
static void
draw_brief(struct screen *screen, struct histogram_shown *table,
           const struct rect *rect)
{
    bool two = rect->cols >= TWO_FROM;
    int rows = rect->rows - 1;
    struct rect part = {rect->row + 1, rect->col, rows,
                        two ? (rect->cols - 2) / 2 : rect->cols - 1};

    table->brief = true;
    table_drop_empty(table);
    table_shorten(table, two ? rows * 2 : rows);
    if (table->length == 0 && table->since)
        canvas_put(&screen->canvas, rect->row + 1, rect->col + 1, rect->cols - 1,
                   ROLE_NORMAL, _("no changes"));
    draw_table(screen, &part, table, 0);
    part.col += part.cols + 1;
    if (two)
        draw_table(screen, &part, table, (size_t)rows);
}

static const char *
title(char *text, size_t size, const struct view *view)
{
    snprintf(text, size, view->log ? _("%s, logarithmic") : "%s",
             pages_title(PAGE_SIZES));
    return text;
}

void
view_sizes_block(struct screen *screen, const struct view *view,
                 const struct scene *scene, const struct rect *rect)
{
    const struct rect below = {rect->row + 1, rect->col, rect->rows - 1, rect->cols};
    struct histogram_shown table;
    bool brief = rect->rows < BRIEF_BELOW_ROWS;
    char since[128], text[128];

    canvas_clip(&screen->canvas, rect);
    if (rect->rows == 0)
        return;
    view_since(since, sizeof since, scene);
    if (process_knows(scene->process, PART_SIZES) && brief && scene->mark == NULL)
        snprintf(since, sizeof since, "%s", _("allocated, share, live now"));
    view_block_title(screen, rect, PAGE_SIZES, title(text, sizeof text, view), since);
    if (!process_knows(scene->process, PART_SIZES)) {
        view_not_measured(screen, scene, rect->row + 1, rect->col + 1, rect->cols - 1);
        return;
    }
    table_fill(&table, view, scene);
    if (brief) {
        draw_brief(screen, &table, rect);
        return;
    }
    table_shorten(&table, rect->rows - 2);
    draw_table(screen, &below, &table, 0);
}

static int
count_lines(const struct screen *screen, const struct view *view,
            const struct scene *scene)
{
    (void)view;
    (void)scene;
    return table_has_headings(view_page_rest(screen).rows) ? 1 + RANGE_COUNT : 0;
}

static void
draw(struct screen *screen, const struct view *view, const struct scene *scene)
{
    char since[128], text[128];
    struct histogram_shown table;
    struct rect rest;
    int headings;

    view_since(since, sizeof since, scene);
    rest = view_page_title(screen, title(text, sizeof text, view), since);
    headings = table_has_headings(rest.rows);
    if (!process_knows(scene->process, PART_SIZES)) {
        view_not_measured(screen, scene, rest.row, rest.col + 1, rest.cols - 1);
        return;
    }
    table_fill(&table, view, scene);
    if (!headings)
        table_shorten(&table, rest.rows);
    draw_table(screen, &rest, &table, headings ? (size_t)view->scroll : 0);
}

const struct page_def page_sizes = {
    .title = N_("Block sizes"),
    .reads = PAGE_READS_SIZES,
    .draw = draw,
    .lines = count_lines,
};
