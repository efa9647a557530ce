/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One line a process, the program last and indented by the tree.  The narrower the
 * window the fewer columns, least important first.  What is not measured has a dash
 * and says so, never a zero.
 */
#include "config.h"

#include "tui/processes.h"

#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "tui/list.h"
#include "tui/search.h"
#include "tui/view.h"

#define MARK_COLS    2
#define PID_COLS     8
#define STATE_COLS   9
#define BYTES_COLS   11
#define RATE_COLS    9
#define TIME_COLS    10
#define REMARK_COLS  12
#define NARROW_COLS  36   /* below: a short heap and the program */
#define SHORT_COLS   7

/* As many as a roster has, and then some. */
#define LISTED_MAX 4096

/* Their widths, 0 where they are not shown. */
struct columns {
    int pid, state, heap, peak, rate, rss, time;
    bool narrow;   /* the heap is short */
};

/* As wide as its values and its heading need. */
static int
width(int cols, const char *heading)
{
    int needed = (int)text_columns(heading) + 1;

    return needed > cols ? needed : cols;
}

/* Of sizes, whose units are wide in some languages. */
static int
bytes_cols(enum unit unit)
{
    char text[UNITS_MAX];

    units_bytes(text, sizeof text, 1u << 30, unit);
    return width(BYTES_COLS, text);
}

/* The column if there is room for it and all more important ones are there. */
static int
take(int *left, int before, int cols)
{
    if (before == 0 || *left < cols)
        return 0;
    *left -= cols;
    return cols;
}

static struct columns
choose_columns(int cols, enum unit unit)
{
    int bytes = bytes_cols(unit);
    struct columns columns = { .heap = width(bytes, _("heap")) };
    int left = cols - MARK_COLS - cols / 3; /* the program's */

    if (cols < NARROW_COLS)
        return (struct columns){ .heap = SHORT_COLS, .narrow = true };
    left -= columns.heap;
    columns.pid = take(&left, columns.heap, width(PID_COLS, _("pid")));
    columns.state = take(&left, columns.pid, width(STATE_COLS, _("state")) + 1);
    columns.peak = take(&left, columns.state, width(bytes, _("peak")));
    /* TRANSLATORS: allocations per second */
    columns.rate = take(&left, columns.peak, width(RATE_COLS, _("allocs/s")));
    columns.rss = take(&left, columns.rate, width(bytes, _("RSS")));
    columns.time = take(&left, columns.rss, width(TIME_COLS, _("time")));
    return columns;
}

/* ---- which, and in which order ---- */

static uint64_t
sort_key(const struct roster_entry *entry, unsigned column)
{
    switch (column) {
    case 1:
        return entry->measured ? entry->heap : 0;
    case 2:
        return entry->measured ? entry->heap_peak : 0;
    case 3:
        return entry->measured && !entry->ended ? (uint64_t)entry->allocations : 0;
    case 4:
        return entry->rss;
    default:
        return (uint64_t)entry->run_ns;
    }
}

static bool
passes(const struct processes *processes, const struct roster_entry *entry)
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

/* Those listed, good until the next call; how many. */
static size_t
choose(const struct processes *processes, const struct roster_entry ***out)
{
    static const struct roster_entry *passing[LISTED_MAX], *chosen[LISTED_MAX];
    static uint64_t keys[LISTED_MAX];
    static uint16_t order[LISTED_MAX];
    const struct roster *roster = processes->roster;
    size_t count = 0;

    for (size_t i = 0; i < roster_count(roster) && count < LISTED_MAX; i++) {
        const struct roster_entry *entry = roster_at(roster, i);

        if (!passes(processes, entry))
            continue;
        keys[count] = sort_key(entry, processes->sort.column);
        passing[count++] = entry;
    }
    sort_rows(order, count, &processes->sort, keys);
    for (size_t i = 0; i < count; i++)
        chosen[i] = passing[order[i]];
    *out = chosen;
    return count;
}

size_t
processes_count(const struct processes *processes)
{
    const struct roster_entry **chosen;

    return choose(processes, &chosen);
}

/* Where the selected one stands: 0 if it is not there. */
static size_t
index_of(const struct roster_entry **chosen, size_t count, pid_t selected)
{
    for (size_t i = 0; selected != 0 && i < count; i++)
        if (chosen[i]->pid == selected)
            return i;
    return 0;
}

/* A field at *col, which moves on. */
static void
put(struct canvas *canvas, int row, int *col, int cols, enum role role, const char *text)
{
    canvas_field(canvas, row, *col + 1, cols - 1, TEXT_RIGHT, role, text);
    *col += cols;
}

/* One that can be sorted by, its number being column. */
static void
put_heading(struct canvas *canvas, const struct sort *sort, unsigned column, int row,
            int *col, int cols)
{
    const struct rect field = { row, *col, 1, cols };

    if (cols > 0)
        view_column_heading(canvas, &field, view_sort_column(PAGE_PROCESSES, column), sort,
                            column);
    *col += cols;
}

static void
draw_heading(struct canvas *canvas, const struct columns *columns,
             const struct sort *sort, int row, int col, int end)
{
    const int cols[] = { columns->heap, columns->peak, columns->rate, columns->rss,
                         columns->time };

    col += MARK_COLS;
    if (columns->pid > 0)
        put(canvas, row, &col, columns->pid, ROLE_DIM, _("pid"));
    if (columns->state > 0)
        canvas_field(canvas, row, col + 2, columns->state - 2, TEXT_LEFT, ROLE_DIM,
                     _("state"));
    col += columns->state;
    for (unsigned i = 0; i < sizeof cols / sizeof *cols; i++)
        put_heading(canvas, sort, i + 1, row, &col, cols[i]);
    canvas_put(canvas, row, col + 2, end - col - 2, ROLE_DIM, _("program"));
}

static enum role
line_role(const struct roster_entry *entry)
{
    return entry->ended ? ROLE_DIM : ROLE_NORMAL;
}

static void
put_bytes(struct canvas *canvas, int row, int *col, int cols, enum role role, bool known,
          uint64_t bytes, enum unit unit)
{
    char text[UNITS_MAX];

    if (cols > 0)
        put(canvas, row, col, cols, role,
            units_bytes(text, sizeof text, known ? bytes : UNITS_UNKNOWN, unit));
}

/* The lines that lead from the parents to the children; the column behind them. */
static int
draw_branches(struct canvas *canvas, const struct roster_entry *entry, int row, int col,
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

/* A remark at *col, which moves on; none where it would be a mere beginning. */
static void
remark(struct canvas *canvas, int row, int *col, int end, enum role role,
       const char *text)
{
    int cols = (int)text_columns(text);

    if (end - *col >= (cols < REMARK_COLS ? cols : REMARK_COLS))
        *col += canvas_put(canvas, row, *col, end - *col, role, text) + 2;
}

/* The program, what is to be said of it, and what it was before. */
static void
draw_program(struct canvas *canvas, const struct roster_entry *entry, bool tree, int row,
             int col, int end)
{
    char ended[32] = "", text[160];
    int room;

    if (entry->unlisted > 0 && tree)
        /* TRANSLATORS: so many processes more have ended; keep it short */
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

static void
draw_entry(struct canvas *canvas, const struct rect *rect, const struct columns *columns,
           const struct processes *processes, const struct roster_entry *entry, int row)
{
    int col = rect->col + MARK_COLS, end = rect->col + rect->cols;
    enum role role = line_role(entry);
    enum unit unit = processes->unit;
    char text[UNITS_MAX];

    if (entry->pid == processes->followed)
        canvas_put(canvas, row, rect->col + 1, 1, ROLE_VALUE, "*");
    snprintf(text, sizeof text, "%d", (int)entry->pid);
    if (columns->pid > 0)
        put(canvas, row, &col, columns->pid, entry->ended ? ROLE_DIM : ROLE_VALUE,
            text);
    if (columns->state > 0)
        canvas_field(canvas, row, col + 2, columns->state - 2, TEXT_LEFT,
                     view_state_role(entry->state, line_role(entry)),
                     process_state_word(entry->state));
    col += columns->state;
    if (columns->narrow)
        put(canvas, row, &col, columns->heap, role,
            entry->measured
                ? units_axis_compact(text, sizeof text, entry->heap, unit & UNIT_SI)
                : "-");
    else
        put_bytes(canvas, row, &col, columns->heap, role, entry->measured, entry->heap,
                  unit);
    put_bytes(canvas, row, &col, columns->peak, role, entry->measured, entry->heap_peak,
              unit);
    if (columns->rate > 0)
        put(canvas, row, &col, columns->rate, role,
            !entry->measured || entry->ended
                ? "-"
                : units_count_compact(text, sizeof text, (uint64_t)entry->allocations));
    put_bytes(canvas, row, &col, columns->rss, role, entry->rss > 0, entry->rss, unit);
    if (columns->time > 0)
        put(canvas, row, &col, columns->time, role,
            units_duration(text, sizeof text, entry->run_ns));
    draw_program(canvas, entry, is_tree(processes), row, col + 2, end);
}

pid_t
processes_step(const struct processes *processes, int steps, int lines, int *scroll)
{
    const struct roster_entry **chosen;
    int count = (int)choose(processes, &chosen);
    int index = (int)index_of(chosen, (size_t)count, processes->selected) + steps;

    if (count == 0)
        return 0;
    if (index >= count)
        index = count - 1;
    if (index < 0)
        index = 0;
    *scroll = list_first((size_t)index, *scroll, lines);
    return chosen[index]->pid;
}

int
processes_lines(int rows)
{
    return rows - view_has_headings(rows);
}

void
processes_draw(struct canvas *canvas, const struct rect *rect,
               const struct processes *processes)
{
    const struct columns columns = choose_columns(rect->cols, processes->unit);
    const struct roster_entry **chosen;
    size_t count = choose(processes, &chosen);
    size_t selected = index_of(chosen, count, processes->selected);
    int lines = processes_lines(rect->rows), headings = rect->rows - lines;
    size_t first = (size_t)list_first(selected, processes->scroll, lines);

    if (headings)
        draw_heading(canvas, &columns, &processes->sort, rect->row, rect->col,
                     rect->col + rect->cols);
    for (int i = 0; i < lines && first + (size_t)i < count; i++) {
        int row = rect->row + headings + i;

        draw_entry(canvas, rect, &columns, processes, chosen[first + (size_t)i], row);
        if (first + (size_t)i != selected)
            continue;
        canvas_put(canvas, row, rect->col, 1, ROLE_PROMPT, ">");
        canvas_paint(canvas, row, rect->col, rect->cols, ROLE_PROMPT);
    }
}

/* Appends a part of a list, and before all but the first a comma. */
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
processes_sum(char *text, size_t size, const struct roster *roster, int cols,
              enum unit unit)
{
    const struct roster_sum *sum = roster_sum(roster);
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
    if (sum->blind > 0)
        append_count(full, sizeof full,
                     ngettext("%u not measured", "%u not measured", sum->blind),
                     sum->blind);
    if (shortest > 0)
        append_count(
            full, sizeof full,
            /* TRANSLATORS: processes whose life was too short to find out more */
            ngettext("%u short-lived not measured", "%u short-lived not measured",
                     shortest),
            shortest);
    used = strlen(full);
    snprintf(full + used, sizeof full - used, _("; heap together %s"), heap);
    if ((int)text_columns(full) <= cols)
        snprintf(text, size, "%s", full);
}
