/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The call table: one row per counted function.  The overview shows the four usual
 * functions and others that were called; the page shows all, with remarks as in
 * memusage's report.  In a narrow window columns are left out by importance: remarks
 * first, then the rate, then failures.
 */
#include "config.h"

#include "tui/view.h"

#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "segment/functions.h"
#include "report/summary.h"

#define CLASSIC_ROWS 4 /* malloc, realloc, calloc, free */
#define NAME_COLS    8
#define REMARK_COLS  12
#define REMARKS_MAX  3
#define FACT_COLS    26

/* The figures of a row. */
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

/* The functions by which the program reports blocks of its own pools. */
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
        row->bytes =
            (struct amount){now->custom_made_bytes, then->custom_made_bytes, since};
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

/* ---- the table ---- */

#define ROWS_MAX (FN_COUNT + MAPPING_COUNT + CUSTOM_ROWS)

struct calls_shown {
    const struct view *view;
    const struct scene *scene;
    struct row rows[ROWS_MAX];
};

enum calls_field { FIELD_CALLS = 1, FIELD_RATE, FIELD_TOTAL, FIELD_FAILED };

static const void *
call_row(const struct table_rows *rows, size_t index)
{
    return &((const struct calls_shown *)rows->data)->rows[index];
}

static uint64_t
field_key(const struct table_at *at)
{
    const struct row *row = at->row;

    switch (at->column->id) {
    case FIELD_CALLS:
        return amount_size(&row->calls);
    case FIELD_RATE:
        return row->rate > 0 ? (uint64_t)(row->rate * 1000) : 0;
    case FIELD_TOTAL:
        return amount_size(&row->bytes);
    default:
        return amount_size(&row->failed);
    }
}

static void
name_cell(struct table_cell *cell, const struct table_at *at)
{
    cell->text = ((const struct row *)at->row)->name;
}

/* Takes at most half of a window that is too narrow for more than names and calls. */
static int
narrow_name(const struct table_at *at)
{
    int cols = NAME_COLS;

    for (size_t i = 0; i < at->rows->count; i++) {
        int name = (int)strlen(((const struct row *)at->rows->row(at->rows, i))->name);

        cols = name > cols ? name : cols;
    }
    return cols < at->cols / 2 ? cols : at->cols / 2;
}

static void
calls_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct row *values = at->row;

    if (at->column->grow)
        amount_count_compact(cell->room, sizeof cell->room, &values->calls);
    else
        amount_count(cell->room, sizeof cell->room, &values->calls);
}

static void
rate_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct row *values = at->row;

    units_count_compact(cell->room, sizeof cell->room,
                        values->rate < 0 ? UNITS_UNKNOWN
                                         : (uint64_t)(values->rate + 0.5));
}

static void
total_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct calls_shown *shown = at->data;

    amount_bytes(cell->room, sizeof cell->room, &((const struct row *)at->row)->bytes,
                 shown->view->unit);
}

/* Wide enough for sizes in bytes, which may be long, and for the sign of a difference. */
static int
total_content(const struct table_at *at)
{
    const struct calls_shown *shown = at->data;
    int widest = 0;
    char text[UNITS_MAX];

    for (int i = 0; i < FN_COUNT; i++) {
        int cols = 1
                   + (int)text_columns(units_bytes(text, sizeof text,
                                                   shown->scene->process->now.bytes[i],
                                                   shown->view->unit));

        if (cols > widest)
            widest = cols;
    }
    return widest;
}

static void
failed_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct row *values = at->row;

    if (values->failures_unknown && !values->never_fails)
        units_count_compact(cell->room, sizeof cell->room, UNITS_UNKNOWN);
    else if (!values->never_fails)
        amount_count_compact(cell->room, sizeof cell->room, &values->failed);
    if (amount_size(&values->failed) > 0)
        cell->role = ROLE_BAD;
}

/* Draws as many whole remarks as fit. */
static void
draw_remarks(struct canvas *canvas, const struct rect *field, const struct table_at *at)
{
    const struct row *values = at->row;
    int col = field->col, end = field->col + field->cols;

    for (int i = 0; i < values->remark_count; i++) {
        const char *remark = values->remarks[i], *comma = i > 0 ? _(", ") : "";

        if (col + (int)(text_columns(comma) + text_columns(remark)) > end)
            return;
        col += canvas_put(canvas, field->row, col, end - col, ROLE_NORMAL, comma);
        col += canvas_put(canvas, field->row, col, end - col, ROLE_NORMAL, remark);
    }
}

#define FIGURE(field)                                                                    \
    .id = (field), .align = TEXT_RIGHT, .room = 1, .sort = (field), .key = field_key

static const struct table_column narrow_columns[] = {
    {.role = ROLE_VALUE, .gap = 1, .content = narrow_name, .cell = name_cell},
    {FIGURE(FIELD_CALLS), .title = N_("calls"), .grow = true, .cell = calls_cell},
};
static const struct table narrow_table = {TABLE_COLUMNS(narrow_columns)};

static const struct table_column columns[] = {
    {.role = ROLE_VALUE, .gap = 1, .least = NAME_COLS, .fit = true, .cell = name_cell},
    {FIGURE(FIELD_CALLS), .title = N_("calls"), .least = 12, .cell = calls_cell},
    {FIGURE(FIELD_RATE), .title = N_("calls/s"), .least = 9, .rank = 3,
     .cell = rate_cell},
    {FIGURE(FIELD_TOTAL), .title = N_("total"), .least = 10, .rank = 1,
     .content = total_content, .cell = total_cell},
    {FIGURE(FIELD_FAILED), .title = N_("failed"), .least = 8, .rank = 2,
     .cell = failed_cell},
    {.gap = 2, .least = REMARK_COLS, .grow = true, .rank = 4, .draw = draw_remarks},
};
static const struct table calls_table = {TABLE_COLUMNS(columns), .narrow = &narrow_table};

/* Collects the rows in the page's own order; returns their number. */
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

/* Draws headings and rows, without the first `skip` rows. */
static void
draw_table(struct screen *screen, const struct view *view, const struct scene *scene,
           const struct rect *rect, bool all, int skip)
{
    static const struct sort usual;
    struct calls_shown shown = {.view = view, .scene = scene};
    struct table_rows rows = {.data = &shown,
                              .count = collect_rows(shown.rows, scene, all),
                              .row = call_row,
                              .first = (size_t)skip,
                              .selected = TABLE_NO_ROW,
                              .sort = all ? &view->sort[PAGE_CALLS] : &usual};
    uint64_t keys[ROWS_MAX];
    uint16_t order[ROWS_MAX];

    table_sort(&calls_table, &rows, keys, order);
    table_draw(&screen->canvas, rect, &calls_table, &rows);
}

void
view_calls_block(struct screen *screen, const struct view *view,
                 const struct scene *scene, const struct rect *rect)
{
    struct rect table = { rect->row + 1, rect->col, rect->rows - 1, rect->cols };
    char since[128];

    canvas_clip(&screen->canvas, rect);
    if (rect->rows == 0)
        return;
    view_since(since, sizeof since, scene);
    view_block_title(screen, rect, PAGE_CALLS, pages_title(PAGE_CALLS), since);
    if (!process_knows(scene->process, PART_COUNTERS))
        view_not_measured(screen, scene, rect->row + 1, rect->col + 1, rect->cols - 1);
    else
        draw_table(screen, view, scene, &table, false, 0);
}

/* Facts shown below the table. */
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
        fact(facts, _("Live in own pools"),
             units_bytes(text, sizeof text, now->custom_live_bytes, view->unit));
        fact(facts, _("in blocks"), units_count(text, sizeof text, now->custom_live));
    }
    fact(facts, _("Peak"),
         units_bytes(text, sizeof text, now->peak_bytes, view->unit));
    fact(facts, _("Total allocated"),
         units_bytes(text, sizeof text, now->total_bytes, view->unit));
    fact(facts, _("Deepest stack at a call"),
         units_bytes(text, sizeof text, report_stack(process, now->stack_peak),
                     view->unit));
    if (process->stack_touched > 0)
        fact(facts, _("Stack touched"),
             units_bytes(text, sizeof text, process->stack_touched, view->unit));
    fact(facts, _("Threads started"),
         units_count(text, sizeof text, now->threads_started));
    if (now->threads_merged > 0)
        fact(facts, _("Threads counted together"),
             units_count(text, sizeof text, now->threads_merged));
    if (now->torn > 0)
        fact(facts, _("Threads killed in update"),
             units_count(text, sizeof text, now->torn));
    fact(facts, _("Allocator"), process->identity.allocator);
}

static void
draw_facts(struct screen *screen, const struct facts *facts, const struct rect *rect,
           int line)
{
    struct canvas *canvas = &screen->canvas;
    int width = FACT_COLS;

    for (int i = 0; i < facts->count; i++)
        if ((int)text_columns(facts->list[i].label) + 2 > width)
            width = (int)text_columns(facts->list[i].label) + 2;
    for (int i = 0; i < facts->count; i++, line++) {
        if (line < table_has_headings(rect->rows) || line >= rect->rows)
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

/* Counts one blank line between table and facts. */
static int
count_lines(const struct screen *screen, const struct view *view,
            const struct scene *scene)
{
    struct facts facts = { .count = 0 };

    collect_facts(&facts, view, scene);
    return table_has_headings(view_page_rest(screen).rows) + table_rows(scene) + 1
           + facts.count;
}

static void
draw(struct screen *screen, const struct view *view, const struct scene *scene)
{
    struct facts facts = { .count = 0 };
    char since[128];
    struct rect rest;
    int line;

    view_since(since, sizeof since, scene);
    rest = view_page_title(screen, pages_title(PAGE_CALLS), since);
    if (!process_knows(scene->process, PART_COUNTERS)) {
        view_not_measured(screen, scene, rest.row, rest.col + 1, rest.cols - 1);
        return;
    }
    draw_table(screen, view, scene, &rest, true, view->scroll);
    collect_facts(&facts, view, scene);
    line = table_has_headings(rest.rows) + table_rows(scene) + 1 - view->scroll;
    draw_facts(screen, &facts, &rest, line);
}

const struct page_def page_calls = {
    .title = N_("Calls"),
    .draw = draw,
    .lines = count_lines,
    .table = &calls_table,
};
