/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Block sizes: how many blocks of each range were allocated, and how many are
 * alive now.  The block on the overview shows what room there is for; with only
 * a few rows, the most frequent ranges in two columns and the others summed.
 */
#include "config.h"

#include "tui/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "report/ranges.h"

#define LABEL_COLS 8
#define COUNT_COLS 11
#define SHORT_COLS 6   /* and a sign */
#define SHARE_COLS 5
#define LIVE_FROM  46   /* columns: the counts of live blocks are shown */
#define TWO_FROM   72   /* columns: two entries side by side */
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
    bool since;       /* the differences to the mark are shown */
    bool log;         /* bars are logarithmic */
    int label_cols, count_cols;
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

/* How much of both is shown, without signs. */
static struct range
shown(const struct histogram_shown *table, const struct entry *entry)
{
    const struct amount a = allocated(table, entry), l = live(table, entry);

    return (struct range){ amount_size(&a), amount_size(&l) };
}

static void
table_finish(struct histogram_shown *table)
{
    table->max = table->sum = (struct range){ 0 };
    for (int i = 0; i < table->length; i++) {
        const struct range count = shown(table, &table->entries[i]);

        add_range(&table->sum, &count);
        if (table->shortened && i == table->length - 1)
            break;   /* its bar is cut rather than all others short */
        if (count.allocated > table->max.allocated)
            table->max.allocated = count.allocated;
        if (count.live > table->max.live)
            table->max.live = count.live;
    }
}

static int
wider(int cols, const char *heading)
{
    int needed = (int)text_columns(heading);

    return needed > cols ? needed : cols;
}

static const char *
live_heading(const struct histogram_shown *table)
{
    return table->since ? _("live") : _("live now");
}

static void
table_fill(struct histogram_shown *table, const struct view *view, const struct scene *scene)
{
    struct range ranges[RANGE_COUNT], then[RANGE_COUNT] = { { 0, 0 } };

    ranges_sum(&scene->process->sizes, ranges);
    if (scene->mark != NULL)
        ranges_sum(&scene->mark->sizes, then);
    table->length = RANGE_COUNT;
    table->shortened = false;
    table->since = scene->mark != NULL;
    table->log = view->log;
    table->label_cols = wider(LABEL_COLS, _("bytes"));
    table->count_cols = wider(wider(COUNT_COLS - 1, _("allocated")), live_heading(table)) + 1;
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

/* Keeps the most frequent ranges in order of size; the others become one. */
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

/* How long a bar is. */
static double
part_of(const struct histogram_shown *table, uint64_t part, uint64_t whole)
{
    if (whole == 0)
        return 0;
    if (table->log)
        return log2(1 + (double)part) / log2(1 + (double)whole);
    return (double)part / (double)whole;
}

/* One entry: range, calls, share, bar; live blocks and their bar. */
static void
draw_entry(struct picture *picture, const struct histogram_shown *table, const struct entry *entry,
           int row, int col, int cols, bool brief)
{
    struct canvas *canvas = &picture->canvas;
    int count_cols = brief ? SHORT_COLS + table->since : table->count_cols;
    bool with_live = brief || cols >= LIVE_FROM;
    int bars = cols - table->label_cols - count_cols - SHARE_COLS - 2
               - (with_live ? count_cols + 1 : 0);
    int bar = with_live && !brief ? (bars - 1) / 2 : bars;
    char *(*count)(char *, size_t, const struct amount *) =
        brief ? amount_count_compact : amount_count;
    const struct amount made = allocated(table, entry), left = live(table, entry);
    char text[UNITS_MAX];

    canvas_field(canvas, row, col, table->label_cols, TEXT_RIGHT, ROLE_VALUE, entry->label);
    col += table->label_cols;
    canvas_field(canvas, row, col, count_cols, TEXT_RIGHT, ROLE_NORMAL,
                 count(text, sizeof text, &made));
    col += count_cols;
    share_text(text, sizeof text, amount_size(&made), table->sum.allocated);
    canvas_field(canvas, row, col, SHARE_COLS, TEXT_RIGHT, ROLE_NORMAL, text);
    col += SHARE_COLS + 1;
    canvas_bar(canvas, row, col, bar, ROLE_HEAP,
               part_of(table, amount_size(&made), table->max.allocated));
    col += bar > 0 ? bar + 1 : 0;
    if (!with_live)
        return;
    canvas_field(canvas, row, col, count_cols, TEXT_RIGHT, ROLE_NORMAL,
                 count(text, sizeof text, &left));
    col += count_cols + 1;
    if (!brief)
        canvas_bar(canvas, row, col, bar, ROLE_STACK,
                   part_of(table, amount_size(&left), table->max.live));
}

static void
draw_heading(struct picture *picture, const struct histogram_shown *table, int row, int col,
             int cols)
{
    struct canvas *canvas = &picture->canvas;
    bool with_live = cols >= LIVE_FROM;
    int bars = cols - table->label_cols - table->count_cols - SHARE_COLS - 2
               - (with_live ? table->count_cols + 1 : 0);
    int bar = with_live ? (bars - 1) / 2 : bars;

    canvas_field(canvas, row, col, table->label_cols, TEXT_RIGHT, ROLE_DIM, _("bytes"));
    col += table->label_cols;
    canvas_field(canvas, row, col + 1, table->count_cols - 1, TEXT_RIGHT, ROLE_DIM,
                 _("allocated"));
    col += table->count_cols + SHARE_COLS + 1 + (bar > 0 ? bar + 1 : 0);
    if (with_live)
        canvas_field(canvas, row, col, table->count_cols, TEXT_RIGHT, ROLE_DIM,
                     live_heading(table));
}

/* A few rows: two entries a row, titles in the rule. */
static void
draw_brief(struct picture *picture, struct histogram_shown *table, const struct rect *rect)
{
    bool two = rect->cols >= TWO_FROM;
    int half = two ? (rect->cols - 2) / 2 : rect->cols - 1;
    int rows = rect->rows - 1;

    table_drop_empty(table);
    table_shorten(table, two ? rows * 2 : rows);
    if (table->length == 0 && table->since)
        canvas_put(&picture->canvas, rect->row + 1, rect->col + 1, rect->cols - 1,
                   ROLE_NORMAL, _("no changes"));
    for (int i = 0; i < table->length; i++)
        draw_entry(picture, table, &table->entries[i], rect->row + 1 + i % rows,
                   rect->col + (i / rows) * (half + 1), half, true);
}

static const char *
title(char *text, size_t size, const struct view *view)
{
    snprintf(text, size, view->log ? _("%s, logarithmic") : "%s", _("Block sizes"));
    return text;
}

void
view_sizes_block(struct picture *picture, const struct view *view,
                 const struct scene *scene, const struct rect *rect)
{
    struct histogram_shown table;
    bool brief = rect->rows < BRIEF_BELOW_ROWS;
    char since[128], text[128];

    canvas_clip(&picture->canvas, rect);
    if (rect->rows == 0)
        return;
    view_since(since, sizeof since, scene);
    if (process_knows(scene->process, PART_SIZES) && brief && scene->mark == NULL)
        snprintf(since, sizeof since, "%s", _("allocated, share, live now"));
    view_block_title(picture, rect, PAGE_SIZES, title(text, sizeof text, view), since);
    if (!process_knows(scene->process, PART_SIZES)) {
        view_not_measured(picture, scene, rect->row + 1, rect->col + 1, rect->cols - 1);
        return;
    }
    table_fill(&table, view, scene);
    if (brief) {
        draw_brief(picture, &table, rect);
        return;
    }
    table_shorten(&table, rect->rows - 2);
    draw_heading(picture, &table, rect->row + 1, rect->col, rect->cols);
    for (int i = 0; i < table.length; i++)
        draw_entry(picture, &table, &table.entries[i], rect->row + 2 + i, rect->col,
                   rect->cols, false);
}

void
view_sizes(struct picture *picture, const struct view *view, const struct scene *scene)
{
    char since[128], text[128];
    struct histogram_shown table;
    struct rect rest;
    int headings;

    view_since(since, sizeof since, scene);
    rest = view_page_title(picture, title(text, sizeof text, view), since);
    headings = view_has_headings(rest.rows);
    if (!process_knows(scene->process, PART_SIZES)) {
        view_not_measured(picture, scene, rest.row, rest.col + 1, rest.cols - 1);
        return;
    }
    table_fill(&table, view, scene);
    if (headings)
        draw_heading(picture, &table, rest.row, rest.col, rest.cols);
    else
        table_shorten(&table, rest.rows);
    for (int i = headings ? view->scroll : 0, line = headings;
         i < table.length && line < rest.rows; i++, line++)
        draw_entry(picture, &table, &table.entries[i], rest.row + line, rest.col,
                   rest.cols, false);
}
