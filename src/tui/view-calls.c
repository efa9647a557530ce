/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The call table: a row for each counted function.  On the overview the four
 * usual functions and those others that were called; on the page of its own
 * all, with what memusage's report says besides.  Columns leave by importance:
 * remarks, then the rate, then failures.
 */
#include "config.h"

#include "tui/view.h"

#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "segment/functions.h"
#include "report/summary.h"

#define CLASSIC_ROWS 4   /* malloc, realloc, calloc, free */
#define REMARK_COLS  14
#define REMARKS_MAX  3
#define FACT_COLS    26

/* One row as numbers. */
struct row {
    const char *name;
    struct amount calls, bytes, failed;
    double rate;           /* < 0: not known */
    bool never_fails, failures_unknown;
    char remarks[REMARKS_MAX][64];
    int remark_count;
};

static void
remark_add(struct row *row, const char *format, uint64_t count)
{
    char text[UNITS_MAX];

    if (count > 0 && row->remark_count < REMARKS_MAX)
        snprintf(row->remarks[row->remark_count++], sizeof row->remarks[0], format,
                 units_count(text, sizeof text, count));
}

static void
function_row(struct row *row, const struct scene *scene, int function)
{
    static const struct snapshot nothing;
    const struct snapshot *now = &scene->process->now;
    const struct snapshot *then = scene->mark != NULL ? &scene->mark->now : &nothing;
    bool since = scene->mark != NULL;

    *row = (struct row){ .name = report_function_names[function],
                         .calls = { now->calls[function], then->calls[function], since },
                         .bytes = { now->bytes[function], then->bytes[function], since },
                         .failed = { now->failed[function], then->failed[function],
                                     since },
                         .rate = report_rate(scene->process,
                                             scene->process->rates.calls[function]),
                         .never_fails = function == FN_FREE,
                         .failures_unknown =
                             report_failed(scene->process, function) == UNITS_UNKNOWN };
    if (since)
        return;
    if (function == FN_REALLOC) {
        /* TRANSLATORS: calls of realloc: the block stayed where it was. */
        remark_add(row, _("in place %s"), now->realloc_inplace);
        /* TRANSLATORS: the block became smaller. */
        remark_add(row, _("shrunk %s"), now->realloc_dec);
        /* TRANSLATORS: the new size was 0, which frees it. */
        remark_add(row, _("freed %s"), now->realloc_freed);
    } else if (function == FN_FREE) {
        /* TRANSLATORS: calls of free. */
        remark_add(row, _("of NULL %s"), now->free_null);
        /* TRANSLATORS: calls of free with blocks that memtop did not see allocated. */
        remark_add(row, _("unmatched %s"), now->unmatched);
    }
}

static void
mapping_row(struct row *row, const struct scene *scene, int mapping)
{
    static const struct snapshot nothing;
    const struct snapshot *now = &scene->process->now;
    const struct snapshot *then = scene->mark != NULL ? &scene->mark->now : &nothing;
    bool since = scene->mark != NULL;

    *row = (struct row){
        .name = report_mapping_names[mapping],
        .calls = { now->mapping_calls[mapping], then->mapping_calls[mapping], since },
        .bytes = { now->mapping_bytes[mapping], then->mapping_bytes[mapping], since },
        .failed = { now->mapping_failed[mapping], then->mapping_failed[mapping], since },
        .rate = -1,
    };
    if (mapping == MAPPING_MREMAP && !since) {
        remark_add(row, _("in place %s"), now->mremap_inplace);
        remark_add(row, _("shrunk %s"), now->mremap_dec);
    }
}

static bool
mappings_counted(const struct scene *scene)
{
    return process_knows(scene->process, PART_COUNTERS)
           && (scene->process->identity.flags & SEGMENT_FLAG_MMAP) != 0;
}

/* Blocks of the program's own pools: the functions by which it tells of them. */
#define CUSTOM_ROWS 2

static const char *const custom_names[CUSTOM_ROWS] = {"custom_alloc", "custom_free"};

static void
custom_row(struct row *row, const struct scene *scene, int which)
{
    static const struct snapshot nothing;
    const struct snapshot *now = &scene->process->now;
    const struct snapshot *then = scene->mark != NULL ? &scene->mark->now : &nothing;
    bool since = scene->mark != NULL;

    *row = (struct row){.name = custom_names[which], .rate = -1, .never_fails = true};
    if (which == 0) {
        row->calls = (struct amount){now->custom_made, then->custom_made, since};
        row->bytes = (struct amount){now->custom_made_bytes, then->custom_made_bytes, since};
    } else {
        row->calls = (struct amount){now->custom_freed, then->custom_freed, since};
        row->bytes =
            (struct amount){now->custom_freed_bytes, then->custom_freed_bytes, since};
        if (!since)
            remark_add(row, _("unmatched %s"), now->custom_unmatched);
    }
}

static int
custom_rows(const struct scene *scene)
{
    return process_knows(scene->process, PART_COUNTERS)
                   && snapshot_has_custom(&scene->process->now)
               ? CUSTOM_ROWS
               : 0;
}

static bool
function_shown(const struct scene *scene, int function, bool all)
{
    return all || function < CLASSIC_ROWS || scene->process->now.calls[function] > 0;
}

int
view_call_rows(const struct scene *scene)
{
    int rows = 0;

    if (!process_knows(scene->process, PART_COUNTERS))
        return CLASSIC_ROWS;
    for (int i = 0; i < FN_COUNT; i++)
        rows += function_shown(scene, i, false);
    return rows + (mappings_counted(scene) ? MAPPING_COUNT : 0);
}

/* The columns there may be after the name, in the order of sorting. */
enum calls_field { FIELD_CALLS, FIELD_RATE, FIELD_TOTAL, FIELD_FAILED, FIELD_COUNT };

/* How wide they are, 0 for those that are not shown; headings may be wide. */
struct calls_columns {
    int name;
    int field[FIELD_COUNT];
    bool compact;   /* counts are short */
    bool remark;
};

/* Sizes in bytes may be long. */
static int
total_cols(const struct view *view, const struct process *process)
{
    int widest = 0;
    char text[UNITS_MAX];

    for (int i = 0; i < FN_COUNT; i++) {
        /* A blank before it, and perhaps a sign. */
        int cols = 2 + (int)text_columns(units_bytes(text, sizeof text,
                                                     process->now.bytes[i], view->unit));

        if (cols > widest)
            widest = cols;
    }
    return widest;
}

static struct calls_columns
choose_columns(const struct view *view, const struct scene *scene, int cols, bool all)
{
    static const enum calls_field drop_order[] = {FIELD_RATE, FIELD_FAILED, FIELD_TOTAL};
    struct calls_columns columns = {8, {13, 10, 11, 9}, false, false};
    int total = total_cols(view, scene->process);
    int left;

    if (total > columns.field[FIELD_TOTAL])
        columns.field[FIELD_TOTAL] = total;
    for (int i = 0; i < FN_COUNT; i++) {
        int name = (int)strlen(report_function_names[i]);

        if (function_shown(scene, i, all) && name > columns.name)
            columns.name = name;
    }
    for (int i = 0; all && i < custom_rows(scene); i++)
        if ((int)strlen(custom_names[i]) > columns.name)
            columns.name = (int)strlen(custom_names[i]);
    left = cols - 1 - columns.name;
    for (unsigned i = 0; i < FIELD_COUNT; i++) {
        int heading = 1 + (int)text_columns(view_sort_column(PAGE_CALLS, i + 1));

        if (heading > columns.field[i])
            columns.field[i] = heading;
        left -= columns.field[i];
    }
    columns.remark = left >= REMARK_COLS;
    for (unsigned i = 0; i < sizeof drop_order / sizeof *drop_order && left < 0; i++) {
        left += columns.field[drop_order[i]];
        columns.field[drop_order[i]] = 0;
    }
    if (left < 0) {
        columns.compact = true;
        columns.name = columns.name < cols / 2 ? columns.name : cols / 2;
        columns.field[FIELD_CALLS] = cols - 1 - columns.name;
    }
    return columns;
}

static void
draw_heading(struct picture *picture, const struct calls_columns *columns,
             const struct sort *sort, int row, int col)
{
    col += 1 + columns->name;
    for (unsigned i = 0; i < FIELD_COUNT; i++) {
        const struct rect field = { row, col, 1, columns->field[i] };

        if (field.cols > 0)
            view_heading(picture, &field, view_sort_column(PAGE_CALLS, i + 1), sort,
                         i + 1);
        col += field.cols;
    }
}

static void
field_text(char *text, size_t size, const struct view *view,
           const struct calls_columns *columns, const struct row *values,
           enum calls_field field)
{
    switch (field) {
    case FIELD_CALLS:
        if (columns->compact)
            amount_count_compact(text, size, &values->calls);
        else
            amount_count(text, size, &values->calls);
        break;
    case FIELD_RATE:
        units_count_compact(text, size,
                            values->rate < 0 ? UNITS_UNKNOWN
                                             : (uint64_t)(values->rate + 0.5));
        break;
    case FIELD_TOTAL:
        amount_bytes(text, size, &values->bytes, view->unit);
        break;
    default:
        text[0] = '\0';
        if (values->failures_unknown && !values->never_fails)
            units_count_compact(text, size, UNITS_UNKNOWN);
        else if (!values->never_fails)
            amount_count_compact(text, size, &values->failed);
    }
}

/* Whole ones, as many as have room. */
static void
draw_remarks(struct canvas *canvas, const struct row *values, int row, int col, int end)
{
    for (int i = 0; i < values->remark_count; i++) {
        const char *remark = values->remarks[i], *comma = i > 0 ? _(", ") : "";

        if (col + (int)(text_columns(comma) + text_columns(remark)) > end)
            return;
        col += canvas_put(canvas, row, col, end - col, ROLE_NORMAL, comma);
        col += canvas_put(canvas, row, col, end - col, ROLE_NORMAL, remark);
    }
}

static void
draw_row(struct picture *picture, const struct view *view,
         const struct calls_columns *columns, const struct row *values,
         const struct rect *rect, int line)
{
    struct canvas *canvas = &picture->canvas;
    int row = rect->row + line;
    int col = rect->col + 1 + columns->name;
    int end = rect->col + rect->cols;
    char text[UNITS_MAX];

    canvas_put(canvas, row, rect->col + 1, columns->name, ROLE_VALUE, values->name);
    for (unsigned i = 0; i < FIELD_COUNT; i++) {
        int cols = columns->field[i];

        field_text(text, sizeof text, view, columns, values, (enum calls_field)i);
        canvas_field(canvas, row, col, cols, TEXT_RIGHT, ROLE_NORMAL, text);
        col += cols;
        if (i == FIELD_FAILED && cols > 0 && amount_size(&values->failed) > 0)
            canvas_paint(canvas, row, col - (int)strlen(text), (int)strlen(text),
                         ROLE_BAD);
    }
    if (columns->remark)
        draw_remarks(canvas, values, row, col + 2, end);
}

/* The rows there are, in the page's own order; returns how many. */
static size_t
collect_rows(struct row *rows, const struct scene *scene, bool all)
{
    size_t count = 0;

    for (int i = 0; i < FN_COUNT; i++)
        if (function_shown(scene, i, all))
            function_row(&rows[count++], scene, i);
    for (int i = 0; i < MAPPING_COUNT && mappings_counted(scene); i++)
        mapping_row(&rows[count++], scene, i);
    for (int i = 0; all && i < custom_rows(scene); i++)
        custom_row(&rows[count++], scene, i);
    return count;
}

static uint64_t
sort_key(const struct row *row, unsigned column)
{
    switch (column) {
    case 1:
        return amount_size(&row->calls);
    case 2:
        return row->rate > 0 ? (uint64_t)(row->rate * 1000) : 0;
    case 3:
        return amount_size(&row->bytes);
    default:
        return amount_size(&row->failed);
    }
}

/* Headings and rows from the top of rect; skips the first ones. */
static void
draw_table(struct picture *picture, const struct view *view, const struct scene *scene,
           const struct rect *rect, bool all, int skip)
{
    static const struct sort usual;
    const struct sort *sort = all ? &view->sort[PAGE_CALLS] : &usual;
    struct calls_columns columns = choose_columns(view, scene, rect->cols, all);
    struct row rows[FN_COUNT + MAPPING_COUNT + CUSTOM_ROWS];
    uint64_t keys[FN_COUNT + MAPPING_COUNT + CUSTOM_ROWS];
    uint16_t order[FN_COUNT + MAPPING_COUNT + CUSTOM_ROWS];
    size_t count = collect_rows(rows, scene, all);

    int headings = view_has_headings(rect->rows);

    for (size_t i = 0; i < count; i++)
        keys[i] = sort_key(&rows[i], sort->column);
    sort_rows(order, count, sort, keys);
    if (headings)
        draw_heading(picture, &columns, sort, rect->row, rect->col);
    for (int i = skip, line = headings; i < (int)count && line < rect->rows; i++, line++)
        draw_row(picture, view, &columns, &rows[order[i]], rect, line);
}

void
view_calls_block(struct picture *picture, const struct view *view,
                 const struct scene *scene, const struct rect *rect)
{
    struct rect table = { rect->row + 1, rect->col, rect->rows - 1, rect->cols };
    char since[128];

    canvas_clip(&picture->canvas, rect);
    if (rect->rows == 0)
        return;
    view_since(since, sizeof since, scene);
    view_block_title(picture, rect, PAGE_CALLS, _("Calls"), since);
    if (!process_knows(scene->process, PART_COUNTERS))
        view_not_measured(picture, scene, rect->row + 1, rect->col + 1, rect->cols - 1);
    else
        draw_table(picture, view, scene, &table, false, 0);
}

/* Facts below the table. */
struct facts {
    struct {
        const char *label;
        char value[128];
    } list[16];
    int count;
};

static void
fact(struct facts *facts, const char *label, const char *value)
{
    if (facts->count == (int)(sizeof facts->list / sizeof *facts->list))
        return;
    facts->list[facts->count].label = label;
    snprintf(facts->list[facts->count].value, sizeof facts->list[0].value, "%s", value);
    facts->count++;
}

static void
collect_changes(struct facts *facts, const struct view *view, const struct scene *scene)
{
    const struct snapshot *now = &scene->process->now, *then = &scene->mark->now;
    const struct amount live = { now->live_bytes, then->live_bytes, true };
    const struct amount blocks = { now->live_blocks, then->live_blocks, true };
    const struct amount total = { now->total_bytes, then->total_bytes, true };
    char text[UNITS_MAX];

    fact(facts, _("Live since the mark"),
         amount_bytes(text, sizeof text, &live, view->unit));
    fact(facts, _("Blocks since the mark"), amount_count(text, sizeof text, &blocks));
    fact(facts, _("Allocated since the mark"),
         amount_bytes(text, sizeof text, &total, view->unit));
}

static void
collect_facts(struct facts *facts, const struct view *view, const struct scene *scene)
{
    const struct process *process = scene->process;
    const struct snapshot *now = &process->now;
    char text[UNITS_MAX];

    if (scene->mark != NULL)
        collect_changes(facts, view, scene);
    fact(facts, _("Live now"),
         units_bytes(text, sizeof text, now->live_bytes, view->unit));
    fact(facts, _("in blocks"), units_count(text, sizeof text, now->live_blocks));
    if (process_knows(process, PART_USABLE))
        fact(facts, _("which occupy"),
             units_bytes(text, sizeof text, now->usable_bytes, view->unit));
    if (custom_rows(scene) > 0) {
        fact(facts, _("Live in its pools"),
             units_bytes(text, sizeof text, now->custom_live_bytes, view->unit));
        fact(facts, _("in blocks"), units_count(text, sizeof text, now->custom_live));
    }
    fact(facts, _("Peak"),
         units_bytes(text, sizeof text, now->peak_bytes, view->unit));
    fact(facts, _("Allocated in all"),
         units_bytes(text, sizeof text, now->total_bytes, view->unit));
    fact(facts, _("Stack at calls, deepest"),
         units_bytes(text, sizeof text, report_stack(process, now->stack_peak),
                     view->unit));
    if (process->stack_touched > 0)
        fact(facts, _("Stack touched"),
             units_bytes(text, sizeof text, process->stack_touched, view->unit));
    fact(facts, _("Threads ever"),
         units_count(text, sizeof text, now->threads_started));
    if (now->threads_merged > 0)
        fact(facts, _("Threads counted together"),
             units_count(text, sizeof text, now->threads_merged));
    if (now->torn > 0)
        fact(facts, _("Threads dead in an update"),
             units_count(text, sizeof text, now->torn));
    fact(facts, _("Allocator"), process->identity.allocator);
}

static void
draw_facts(struct picture *picture, const struct facts *facts, const struct rect *rect,
           int line)
{
    struct canvas *canvas = &picture->canvas;
    int width = FACT_COLS;

    for (int i = 0; i < facts->count; i++)
        if ((int)text_columns(facts->list[i].label) + 2 > width)
            width = (int)text_columns(facts->list[i].label) + 2;
    for (int i = 0; i < facts->count; i++, line++) {
        if (line < view_has_headings(rect->rows) || line >= rect->rows)
            continue;
        canvas_put(canvas, rect->row + line, rect->col + 1, width - 2, ROLE_NORMAL,
                   facts->list[i].label);
        canvas_put(canvas, rect->row + line, rect->col + 1 + width,
                   rect->cols - 1 - width, ROLE_VALUE, facts->list[i].value);
    }
}

static int
table_rows(const struct scene *scene)
{
    return FN_COUNT + (mappings_counted(scene) ? MAPPING_COUNT : 0) + custom_rows(scene);
}

/* Without the headings; one line is blank. */
int
view_calls_lines(const struct view *view, const struct scene *scene)
{
    struct facts facts = { .count = 0 };

    collect_facts(&facts, view, scene);
    return table_rows(scene) + 1 + facts.count;
}

void
view_calls(struct picture *picture, const struct view *view, const struct scene *scene)
{
    struct facts facts = { .count = 0 };
    char since[128];
    struct rect rest;
    int line;

    view_since(since, sizeof since, scene);
    rest = view_page_title(picture, _("Calls"), since);
    if (!process_knows(scene->process, PART_COUNTERS)) {
        view_not_measured(picture, scene, rest.row, rest.col + 1, rest.cols - 1);
        return;
    }
    draw_table(picture, view, scene, &rest, true, view->scroll);
    collect_facts(&facts, view, scene);
    line = view_has_headings(rest.rows) + table_rows(scene) + 1 - view->scroll;
    draw_facts(picture, &facts, &rest, line);
}
