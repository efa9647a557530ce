/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One line per process; the program is the last column, indented as a tree.  In a narrow
 * window the least important columns are left out.  A process that is not measured has
 * dashes and a remark, never zeros.
 */
#include "config.h"

#include "tui/processes.h"

#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "tui/list.h"
#include "tui/search.h"
#include "tui/view.h"

#define MARK_COLS   2
#define PID_COLS    7
#define STATE_COLS  8
#define BYTES_COLS  10
#define RATE_COLS   8
#define TIME_COLS   9
#define REMARK_COLS 12
#define NARROW_COLS 36 /* below this: a short heap column and the program */
#define SHORT_COLS  7

/* At least as many as a process list can hold. */
#define LISTED_MAX 4096

/* Context of the table's rows. */
struct processes_shown {
    const struct processes *processes;
    const struct process_entry **passing;
};

/* ---- choosing and sorting ---- */

static bool
passes(const struct processes *processes, const struct process_entry *entry)
{
    char command[2 * sizeof entry->command];
    int col = 0, cols;

    if (processes->filter == NULL || processes->filter[0] == '\0')
        return true;
    text_sanitise(command, sizeof command, entry->command, strlen(entry->command));
    return search_text(command, processes->filter, &col, &cols);
}

static bool
is_tree(const struct processes *processes)
{
    return processes->sort.column == 0 && !processes->sort.reverse
           && (processes->filter == NULL || processes->filter[0] == '\0');
}

static const void *
process_row(const struct table_rows *rows, size_t index)
{
    return ((const struct processes_shown *)rows->data)->passing[index];
}

/* Chooses the processes to list and their order.  The result is valid until the next
   call. */
static struct table_rows
choose(struct processes_shown *shown, const struct processes *processes)
{
    static const struct process_entry *passing[LISTED_MAX];
    static uint64_t keys[LISTED_MAX];
    static uint16_t order[LISTED_MAX];
    const struct process_list *process_list = processes->process_list;
    struct table_rows rows = {
        .data = shown, .row = process_row, .sort = &processes->sort};

    *shown = (struct processes_shown){processes, passing};
    for (size_t i = 0; i < process_list_count(process_list) && rows.count < LISTED_MAX;
         i++)
        if (passes(processes, process_list_at(process_list, i)))
            passing[rows.count++] = process_list_at(process_list, i);
    table_sort(&processes_table, &rows, keys, order);
    return rows;
}

static pid_t
pid_at(const struct table_rows *rows, size_t index)
{
    return ((const struct process_entry *)table_row(rows, index))->pid;
}

size_t
processes_count(const struct processes *processes)
{
    struct processes_shown shown;

    return choose(&shown, processes).count;
}

/* Index of the selected process, 0 if it is not listed. */
static size_t
index_of(const struct table_rows *rows, pid_t selected)
{
    for (size_t i = 0; selected != 0 && i < rows->count; i++)
        if (pid_at(rows, i) == selected)
            return i;
    return 0;
}

/* ---- the columns ---- */

enum process_field { FIELD_HEAP = 1, FIELD_PEAK, FIELD_RATE, FIELD_RSS, FIELD_TIME };

static enum role
line_role(const struct process_entry *entry)
{
    return entry->ended ? ROLE_DIM : ROLE_NORMAL;
}

static enum unit
unit_of(const struct table_at *at)
{
    return ((const struct processes_shown *)at->data)->processes->unit;
}

static void
followed_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct processes_shown *shown = at->data;
    const struct process_entry *entry = at->row;

    if (entry->pid == shown->processes->followed)
        cell->text = "*";
}

static void
pid_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct process_entry *entry = at->row;

    snprintf(cell->room, sizeof cell->room, "%d", (int)entry->pid);
    cell->role = entry->ended ? ROLE_DIM : ROLE_VALUE;
}

static void
state_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct process_entry *entry = at->row;

    cell->text = process_state_word(entry->state);
    cell->role = view_state_role(entry->state, line_role(entry));
}

static bool
is_known(const struct process_entry *entry, int field)
{
    switch (field) {
    case FIELD_RATE:
        return entry->measured && !entry->ended;
    case FIELD_RSS:
        return entry->rss > 0;
    case FIELD_TIME:
        return true;
    default:
        return entry->measured;
    }
}

static uint64_t
figure(const struct process_entry *entry, int field)
{
    switch (field) {
    case FIELD_HEAP:
        return entry->heap;
    case FIELD_PEAK:
        return entry->heap_peak;
    case FIELD_RATE:
        return (uint64_t)entry->allocations;
    case FIELD_RSS:
        return entry->rss;
    default:
        return (uint64_t)entry->run_ns;
    }
}

static uint64_t
field_key(const struct table_at *at)
{
    return is_known(at->row, at->column->id) ? figure(at->row, at->column->id) : 0;
}

static void
figure_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct process_entry *entry = at->row;
    uint64_t value =
        is_known(entry, at->column->id) ? figure(entry, at->column->id) : UNITS_UNKNOWN;

    cell->role = line_role(entry);
    if (at->column->id == FIELD_RATE)
        units_count_compact(cell->room, sizeof cell->room, value);
    else if (at->column->id == FIELD_TIME)
        units_duration(cell->room, sizeof cell->room, entry->run_ns);
    else
        units_bytes(cell->room, sizeof cell->room, value, unit_of(at));
}

static void
short_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct process_entry *entry = at->row;

    cell->role = line_role(entry);
    if (entry->measured)
        units_axis_compact(cell->room, sizeof cell->room, entry->heap,
                           unit_of(at) & UNIT_SI);
    else
        cell->text = "-";
}

static int
bytes_content(const struct table_at *at)
{
    return table_bytes_cols(unit_of(at));
}

/* Draws the lines from parents to children; returns the column after them. */
static int
draw_branches(struct canvas *canvas, const struct process_entry *entry, int row, int col,
              int end)
{
    for (unsigned depth = 1; depth <= entry->depth && col + 2 < end; depth++, col += 2) {
        bool goes_on = entry->guides >> depth & 1;

        if (depth == entry->depth) {
            canvas_glyph(canvas, row, col, ROLE_DIM,
                         goes_on ? GLYPH_BRANCH : GLYPH_CORNER);
            canvas_glyph(canvas, row, col + 1, ROLE_DIM, GLYPH_HORIZONTAL);
        } else if (goes_on) {
            canvas_glyph(canvas, row, col, ROLE_DIM, GLYPH_VERTICAL);
        }
    }
    return col;
}

/* Draws a remark at *col and moves *col on, unless there is only room for its
   beginning. */
static void
remark(struct canvas *canvas, int row, int *col, int end, enum role role,
       const char *text)
{
    int cols = (int)text_columns(text);

    if (end - *col >= (cols < REMARK_COLS ? cols : REMARK_COLS))
        *col += canvas_put(canvas, row, *col, end - *col, role, text) + 2;
}

/* Draws the program, remarks on it, and the program it executed before. */
static void
draw_program(struct canvas *canvas, const struct rect *field, const struct table_at *at)
{
    const struct processes_shown *shown = at->data;
    const struct process_entry *entry = at->row;
    bool tree = is_tree(shown->processes);
    int row = field->row, col = field->col, end = field->col + field->cols, room;
    char ended[32] = "", text[160];

    if (entry->unlisted > 0 && tree)
        /* TRANSLATORS: number of further processes that have ended; keep it short */
        snprintf(ended, sizeof ended, ngettext("+%u ended", "+%u ended", entry->unlisted),
                 entry->unlisted);
    if (tree)
        col = draw_branches(canvas, entry, row, col, end);
    room = end - col;
    if (room - (int)text_columns(ended) - 2 >= REMARK_COLS)
        room -= (int)text_columns(ended) + (ended[0] != '\0' ? 2 : 0);
    col += canvas_put(canvas, row, col, room, line_role(entry), entry->command) + 2;
    if (ended[0] != '\0')
        remark(canvas, row, &col, end, ROLE_DIM, ended);
    if (!entry->measured && !entry->ended && entry->state == STATE_NOT_LOADED) {
        snprintf(text, sizeof text, _("not measured: %s"),
                 entry->why_not != NULL && entry->why_not[0] != '\0'
                     ? entry->why_not
                     : _("libmemtop was not loaded"));
        remark(canvas, row, &col, end, ROLE_WARN, text);
    }
    if (entry->before[0] != '\0') {
        /* TRANSLATORS: what a process executed before: "(was sh > env)" */
        snprintf(text, sizeof text, _("(was %s)"), entry->before);
        remark(canvas, row, &col, end, ROLE_DIM, text);
    }
}

#define FOLLOWED .fixed = MARK_COLS, .gap = 1, .role = ROLE_VALUE, .cell = followed_cell
#define BYTES(field) FIGURE(field), .least = BYTES_COLS, .content = bytes_content
#define FIGURE(field)                                                                    \
    TABLE_FIGURE, .id = (field), .cell = figure_cell, .sort = (field), .key = field_key
#define PROGRAM                                                                          \
    .title = N_("program"), .gap = 2, .grow = true, .part = {1, 3}, .draw = draw_program

static const struct table_column narrow_columns[] = {
    {FOLLOWED},
    {TABLE_FIGURE, .title = N_("heap"), .fixed = SHORT_COLS, .cell = short_cell,
     .sort = FIELD_HEAP},
    {PROGRAM},
};
static const struct table narrow_table = {TABLE_COLUMNS(narrow_columns)};

static const struct table_column columns[] = {
    {FOLLOWED},
    {TABLE_FIGURE, .title = N_("pid"), .least = PID_COLS, .rank = 1, .cell = pid_cell},
    {.title = N_("state"), .gap = 2, .least = STATE_COLS, .rank = 2, .cell = state_cell},
    {BYTES(FIELD_HEAP), .title = N_("heap")},
    {BYTES(FIELD_PEAK), .title = N_("peak"), .rank = 3},
    /* TRANSLATORS: allocations per second */
    {FIGURE(FIELD_RATE), .title = N_("allocs/s"), .least = RATE_COLS, .rank = 4},
    {BYTES(FIELD_RSS), .title = N_("RSS"), .rank = 5},
    {FIGURE(FIELD_TIME), .title = N_("time"), .least = TIME_COLS, .rank = 6},
    {PROGRAM},
};
const struct table processes_table = {TABLE_COLUMNS(columns), .narrow_below = NARROW_COLS,
                                      .narrow = &narrow_table};

/* ---- the list ---- */

pid_t
processes_step(const struct processes *processes, int steps, int lines, int *scroll)
{
    struct processes_shown shown;
    const struct table_rows rows = choose(&shown, processes);
    int count = (int)rows.count;
    int index = (int)index_of(&rows, processes->selected) + steps;

    if (count == 0)
        return 0;
    if (index >= count)
        index = count - 1;
    if (index < 0)
        index = 0;
    *scroll = list_first((size_t)index, *scroll, lines);
    return pid_at(&rows, (size_t)index);
}

void
processes_draw(struct canvas *canvas, const struct rect *rect,
               const struct processes *processes)
{
    struct processes_shown shown;
    struct table_rows rows = choose(&shown, processes);

    rows.selected = index_of(&rows, processes->selected);
    rows.first =
        (size_t)list_first(rows.selected, processes->scroll, table_room(rect->rows));
    table_draw(canvas, rect, &processes_table, &rows);
}

/* Appends to a list, with a comma before all parts but the first. */
static void
append_count(char *text, size_t size, const char *format, unsigned count)
{
    size_t used = strlen(text);

    if (used > 0)
        /* TRANSLATORS: between the parts of a list, as is "; ". */
        used += (size_t)snprintf(text + used, size - used, "%s", _(", "));
    snprintf(text + used, size - used, format, count);
}

void
processes_sum(char *text, size_t size, const struct process_list *process_list, int cols,
              enum unit unit)
{
    const struct process_list_sum *sum = process_list_sum(process_list);
    unsigned ended = sum->ended + (unsigned)sum->dropped;
    unsigned shortest = (unsigned)sum->shortest;
    char heap[UNITS_MAX], full[256] = "";
    size_t used;

    units_bytes(heap, sizeof heap, sum->heap, unit);
    /* TRANSLATORS: the heaps of all processes. */
    snprintf(text, size, _("together %s"), heap);
    /* TRANSLATORS: numbers of processes, a list: "3 running, 2 ended". */
    append_count(full, sizeof full, ngettext("%u running", "%u running", sum->living),
                 sum->living);
    append_count(full, sizeof full, ngettext("%u ended", "%u ended", ended), ended);
    if (sum->not_loaded > 0)
        append_count(full, sizeof full,
                     ngettext("%u not measured", "%u not measured", sum->not_loaded),
                     sum->not_loaded);
    if (shortest > 0)
        append_count(
            full, sizeof full,
            /* TRANSLATORS: processes that ended too soon to find out more */
            ngettext("%u short-lived not measured", "%u short-lived not measured",
                     shortest),
            shortest);
    used = strlen(full);
    snprintf(full + used, sizeof full - used, _("; heap together %s"), heap);
    if ((int)text_columns(full) <= cols)
        snprintf(text, size, "%s", full);
}
