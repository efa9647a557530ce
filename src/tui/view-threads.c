/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The page of threads: what each has called, allocated and freed, and how deep its stack
 * is; with a mark, what each has done since.  In a narrow window columns are left out by
 * importance.  For the past only the sums of the process are known, and the page says
 * so.
 */
#include "config.h"

#include "tui/state.h"

#include <stdio.h>

#include "base/i18n.h"
#include "monitor/saved.h"

#define TID_COLS   6
#define NAME_COLS  16 /* a name has at most 15 bytes */
#define BYTES_COLS 9

/* The threads listed, and the context of the table's rows. */
struct threads_shown {
    const struct view *view;
    const struct scene *scene;
    const struct thread *passing[THREADS_MAX];
    uint16_t order[THREADS_MAX];
};

static size_t
listed(const struct scene *scene)
{
    return scene->thread_count < THREADS_MAX ? scene->thread_count : THREADS_MAX;
}

static bool
is_since(const struct scene *scene)
{
    return scene->mark != NULL && scene->mark_threads != NULL;
}

/* The counters of a thread's place at the mark; NULL if not known.  Most places have the
   same index as then, so the search starts there. */
static const struct thread_counters *
at_mark(const struct scene *scene, const struct thread_counters *now)
{
    static const struct thread_counters none;
    size_t count = scene->mark_thread_count;
    size_t guess = now->place > 0 ? now->place - 1 : 0;

    for (size_t i = 0; i < count; i++) {
        const struct thread *then = &scene->mark_threads[(guess + i) % count];

        if (then->counters.place == now->place)
            return &then->counters;
    }
    /* Before its first owner a place had counted nothing. */
    return now->owners <= 1 ? &none : NULL;
}

/* What a thread has done, in all or since the mark. */
struct traffic {
    struct amount calls, allocated, freed;
};

static struct traffic
traffic_of(const struct scene *scene, const struct thread_counters *now)
{
    const struct amount unknown = { UNITS_UNKNOWN, 0, false };
    const struct thread_counters *then;

    if (!is_since(scene))
        return (struct traffic){ { now->calls, 0, false },
                                 { now->allocated, 0, false },
                                 { now->freed, 0, false } };
    then = at_mark(scene, now);
    if (then == NULL)
        return (struct traffic){ unknown, unknown, unknown };
    return (struct traffic){ { now->calls, then->calls, true },
                             { now->allocated, then->allocated, true },
                             { now->freed, then->freed, true } };
}

enum threads_field {
    FIELD_CALLS = 1, /* from here on also numbers in struct sort, */
    FIELD_ALLOCATED,
    FIELD_FREED,
    FIELD_STACK,
    FIELD_PEAK,
    FIELD_TOUCHED, /* up to here */
    FIELD_LIMIT
};

static struct amount
amount_of(const struct table_at *at)
{
    const struct thread *thread = at->row;
    const struct thread_counters *counters = &thread->counters;
    const struct traffic traffic =
        traffic_of(((const struct threads_shown *)at->data)->scene, counters);

    switch (at->column->id) {
    case FIELD_CALLS:
        return traffic.calls;
    case FIELD_ALLOCATED:
        return traffic.allocated;
    case FIELD_FREED:
        return traffic.freed;
    case FIELD_STACK:
        return (struct amount){counters->stack_now, 0, false};
    case FIELD_PEAK:
        return (struct amount){counters->stack_peak, 0, false};
    case FIELD_TOUCHED:
        return (struct amount){thread->stack_touched, 0, false};
    default:
        return (struct amount){counters->stack_limit, 0, false};
    }
}

static uint64_t
field_key(const struct table_at *at)
{
    const struct amount amount = amount_of(at);

    return amount.now == UNITS_UNKNOWN ? 0 : amount_size(&amount);
}

static void
calls_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct amount amount = amount_of(at);

    amount_count(cell->room, sizeof cell->room, &amount);
}

/* A stack size of 0 means that it is not known. */
static void
bytes_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct threads_shown *shown = at->data;
    struct amount amount = amount_of(at);

    if (at->column->id >= FIELD_STACK && amount.now == 0)
        amount.now = UNITS_UNKNOWN;
    amount_bytes(cell->room, sizeof cell->room, &amount, shown->view->unit);
}

static int
bytes_content(const struct table_at *at)
{
    return table_bytes_cols(((const struct threads_shown *)at->data)->view->unit);
}

static void
tid_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct thread *thread = at->row;

    snprintf(cell->room, sizeof cell->room, "%d", (int)thread->counters.tid);
}

static void
shared_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct thread *thread = at->row;

    if (thread->counters.owners > 1)
        cell->text = "*";
}

/* A thread without a name has "-", or its number if that has no column. */
static void
name_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct thread *thread = at->row;

    if (thread->name[0] != '\0')
        cell->text = thread->name;
    else if (at->column->grow)
        tid_cell(cell, at);
    else
        cell->text = "-";
}

static void
state_cell(struct table_cell *cell, const struct table_at *at)
{
    const struct thread *thread = at->row;

    snprintf(cell->room, sizeof cell->room, "%c", thread->state);
}

/* With room for the sign of a difference. */
#define FIGURE(field) TABLE_SIGNED, .id = (field), .least = BYTES_COLS, .key = field_key
#define BYTES(field) FIGURE(field), .content = bytes_content, .cell = bytes_cell
#define ALLOCATED                                                                        \
    BYTES(FIELD_ALLOCATED), .title = N_("allocated"), .sort = FIELD_ALLOCATED
#define SHARED .fixed = 1, .role = ROLE_WARN, .cell = shared_cell

static const struct table_column narrow_columns[] = {
    {SHARED},
    {.title = N_("name"), .grow = true, .cell = name_cell},
    {ALLOCATED},
};
static const struct table narrow_table = {TABLE_COLUMNS(narrow_columns), .margin = 1};

static const struct table_column columns[] = {
    {TABLE_SIGNED, .title = N_("thread"), .role = ROLE_VALUE, .least = TID_COLS,
     .cell = tid_cell},
    {SHARED},
    {.title = N_("name"), .gap = 1, .fixed = NAME_COLS, .cell = name_cell},
    {TABLE_FIGURE, .least = 1, .rank = 7, .loose = true, .cell = state_cell},
    {FIGURE(FIELD_CALLS), .title = N_("calls"), .cell = calls_cell, .rank = 1,
     .sort = FIELD_CALLS},
    {ALLOCATED},
    {BYTES(FIELD_FREED), .title = N_("freed"), .rank = 3, .sort = FIELD_FREED},
    {BYTES(FIELD_STACK), .title = N_("stack"), .rank = 5, .sort = FIELD_STACK},
    {BYTES(FIELD_PEAK), .title = N_("peak"), .rank = 2, .sort = FIELD_PEAK},
    {BYTES(FIELD_TOUCHED), .title = N_("touched"), .rank = 6, .sort = FIELD_TOUCHED},
    /* TRANSLATORS: how deep a stack may become. */
    {BYTES(FIELD_LIMIT), .title = N_("limit"), .rank = 4},
};
static const struct table threads_table = {TABLE_COLUMNS(columns),
                                           .narrow = &narrow_table};

static const void *
thread_row(const struct table_rows *rows, size_t index)
{
    return ((const struct threads_shown *)rows->data)->passing[index];
}

static bool
passes(const struct view *view, const struct thread *thread)
{
    int col = 0, cols;

    return view->filter[0] == '\0'
           || search_text(thread->name, view->filter, &col, &cols);
}

/* Chooses the threads to show and their order. */
static struct table_rows
choose_threads(struct threads_shown *shown, const struct view *view,
               const struct scene *scene)
{
    struct table_rows rows = {.data = shown,
                              .row = thread_row,
                              .selected = TABLE_NO_ROW,
                              .sort = &view->sort[PAGE_THREADS]};
    uint64_t keys[THREADS_MAX];

    shown->view = view;
    shown->scene = scene;
    for (size_t i = 0; i < listed(scene); i++)
        if (passes(view, &scene->threads[i]))
            shown->passing[rows.count++] = &scene->threads[i];
    table_sort(&threads_table, &rows, keys, shown->order);
    return rows;
}

static int
count_lines(const struct screen *screen, const struct view *view,
            const struct scene *scene)
{
    struct threads_shown shown;

    /* Adds room for "more threads", a blank line and the note, which may be long. */
    return table_has_headings(view_page_rest(screen).rows)
           + (int)choose_threads(&shown, view, scene).count + 4;
}

static void
draw_shared_note(struct screen *screen, const struct rect *rect, int row)
{
    const char *note =
        _("* includes calls and bytes of earlier threads in its place");
    int cols = rect->cols - 1;

    while (cols > 0 && *note != '\0') {
        char line[256];

        note += text_line(line, sizeof line, note, (size_t)cols);
        canvas_put(&screen->canvas, row++, rect->col + 1, cols, ROLE_NORMAL, line);
    }
}

/* Draws the notes below the list. */
static void
draw_notes(struct screen *screen, const struct scene *scene, const struct rect *body,
           int row)
{
    size_t more = scene->thread_count - listed(scene);
    bool shared = false;
    char text[128];

    for (size_t i = 0; i < listed(scene); i++)
        shared = shared || scene->threads[i].counters.owners > 1;
    if (more > 0) {
        snprintf(text, sizeof text,
                 ngettext("and %zu more thread", "and %zu more threads", more), more);
        canvas_put(&screen->canvas, row++, body->col + 1, body->cols - 1, ROLE_NORMAL,
                   text);
    }
    if (shared)
        draw_shared_note(screen, body, row + 1);
}

/* Why there is no list; "" if there is one. */
static const char *
why_no_list(const struct view *view, const struct scene *scene, size_t count)
{
    if (view->history)
        return _("The threads of the past are not recorded.");
    if (scene->saved
        && (!session_saved(scene->session)->threads_known
            || session_shown(scene->session) != session_root(scene->session)))
        return _("The threads were not recorded.");
    if (scene->thread_count == 0)
        return _("No thread has called the allocator yet.");
    return count == 0 ? _("No thread has this name.") : "";
}

static void
draw(struct screen *screen, const struct view *view, const struct scene *scene)
{
    struct threads_shown shown;
    struct table_rows rows = choose_threads(&shown, view, scene);
    const char *why = why_no_list(view, scene, rows.count);
    char right[SEARCH_MAX + 128] = "";
    struct rect rest;
    int top, below;

    if (is_since(scene))
        view_since(right, sizeof right, scene);
    if (view->filter[0] != '\0')
        snprintf(right, sizeof right, _("name: %s"), view->filter);
    rest = view_page_title(screen, pages_title(PAGE_THREADS), right);
    if (!scene->process->measured && !view->history) {
        view_not_measured(screen, scene, rest.row, rest.col + 1, rest.cols - 1);
        return;
    }
    if (why[0] != '\0') {
        canvas_put(&screen->canvas, rest.row, rest.col + 1, rest.cols - 1, ROLE_NORMAL,
                   why);
        return;
    }
    rows.first = (size_t)view->scroll;
    table_draw(&screen->canvas, &rest, &threads_table, &rows);
    top = rest.row + table_has_headings(rest.rows);
    below = top + (int)rows.count - view->scroll;
    if (below >= top)
        draw_notes(screen, scene, &rest, below);
}

static void
find(struct app *app, const char *text)
{
    find_filter(app, app->view.filter, text);
}

const struct page_def page_threads = {
    .title = N_("Threads"),
    .reads = PAGE_READS_THREADS,
    .draw = draw,
    .lines = count_lines,
    .table = &threads_table,
    .asks = N_("Threads called: %s_"),
    .find = find,
};
