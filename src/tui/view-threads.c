/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The page of threads: what each has called, allocated and freed, and how deep its
 * stack is; with a mark, what each has done since.  Columns leave by importance.  Of
 * the past only the process's sums are known, and that is said.
 */
#include "config.h"

#include "tui/view.h"

#include <stdio.h>

#include "base/i18n.h"
#include "monitor/saved.h"

#define TID_COLS   8
#define NAME_COLS  16   /* a name has 15 bytes */
#define STATE_COLS 2
#define BYTES_COLS 11

/* The columns there may be after the name, in the order of sorting. */
enum threads_field {
    FIELD_CALLS,
    FIELD_ALLOCATED,
    FIELD_FREED,
    FIELD_STACK,
    FIELD_PEAK,
    FIELD_TOUCHED,
    FIELD_LIMIT,
    FIELD_COUNT
};

/* How wide they are, 0 for those that are not shown. */
struct threads_columns {
    int tid, name;
    int field[FIELD_COUNT];
    bool state;
};

static const char *
field_heading(enum threads_field field)
{
    /* TRANSLATORS: how deep a stack may become. */
    return field == FIELD_LIMIT ? _("limit") : view_sort_column(PAGE_THREADS, field + 1);
}

/* Units and headings may be wide in some languages. */
static int
field_cols(const struct view *view, enum threads_field field)
{
    char text[UNITS_MAX];
    int heading = (int)text_columns(field_heading(field));
    int value = BYTES_COLS - 2;   /* a difference has a sign: the gap has room */

    if (field != FIELD_CALLS)
        value = (int)text_columns(units_bytes(text, sizeof text, 1 << 30, view->unit));
    if (value < BYTES_COLS - 2)
        value = BYTES_COLS - 2;
    return (heading > value ? heading : value) + 2;
}

static struct threads_columns
choose_columns(const struct view *view, int cols)
{
    static const enum threads_field drop_order[] = {
        FIELD_TOUCHED, FIELD_STACK, FIELD_LIMIT, FIELD_FREED, FIELD_PEAK, FIELD_CALLS};
    struct threads_columns columns = {.tid = 2 + (int)text_columns(_("thread")),
                                      .name = NAME_COLS};
    int left;

    if (columns.tid < TID_COLS)
        columns.tid = TID_COLS;
    left = cols - columns.tid - NAME_COLS - 1;

    for (int i = 0; i < FIELD_COUNT; i++) {
        columns.field[i] = field_cols(view, (enum threads_field)i);
        left -= columns.field[i];
    }
    for (size_t i = 0; i < sizeof drop_order / sizeof *drop_order && left < 0; i++) {
        left += columns.field[drop_order[i]];
        columns.field[drop_order[i]] = 0;
    }
    if (left < 0) {
        columns.tid = 0;
        columns.name = cols - 1 - columns.field[FIELD_ALLOCATED];
    }
    columns.state = left >= STATE_COLS;
    return columns;
}

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

/* What a thread's place had counted at the mark; NULL if that is not known.  Most
   stand where they stood then. */
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
    /* Before the first owner of a place it had counted nothing. */
    return now->owners <= 1 ? &none : NULL;
}

/* What a thread has done: all in all, or since the mark. */
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

static uint64_t
sort_key(const struct scene *scene, const struct thread *thread, unsigned column)
{
    const struct thread_counters *counters = &thread->counters;
    const struct traffic traffic = traffic_of(scene, counters);

    if (traffic.calls.now == UNITS_UNKNOWN && column <= 3)
        return 0;
    switch (column) {
    case 1:
        return amount_size(&traffic.calls);
    case 2:
        return amount_size(&traffic.allocated);
    case 3:
        return amount_size(&traffic.freed);
    case 4:
        return counters->stack_now;
    case 5:
        return counters->stack_peak;
    default:
        return thread->stack_touched;
    }
}

static bool
passes(const struct view *view, const struct thread *thread)
{
    int col = 0, cols;

    return view->filter[0] == '\0' || search_text(thread->name, view->filter, &col, &cols);
}

/* The threads to show, in order; returns how many. */
static size_t
choose_threads(const struct view *view, const struct scene *scene,
               const struct thread **chosen)
{
    const struct sort *sort = &view->sort[PAGE_THREADS];
    const struct thread *passing[THREADS_MAX];
    uint64_t keys[THREADS_MAX] = { 0 };
    uint16_t order[THREADS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < listed(scene); i++)
        if (passes(view, &scene->threads[i])) {
            keys[count] = sort_key(scene, &scene->threads[i], sort->column);
            passing[count++] = &scene->threads[i];
        }
    sort_rows(order, count, sort, keys);
    for (size_t i = 0; i < count; i++)
        chosen[i] = passing[order[i]];
    return count;
}

int
view_threads_lines(const struct view *view, const struct scene *scene)
{
    const struct thread *threads[THREADS_MAX];

    /* More, a blank one, the note, which may be long. */
    return (int)choose_threads(view, scene, threads) + 4;
}

/* A field at *col, which moves on. */
static void
put(struct picture *picture, int row, int *col, int cols, enum role role,
    const char *text)
{
    canvas_field(&picture->canvas, row, *col + 1, cols - 1, TEXT_RIGHT, role, text);
    *col += cols;
}

static void
draw_heading(struct picture *picture, const struct view *view,
             const struct threads_columns *columns, int row, int col)
{
    put(picture, row, &col, columns->tid, ROLE_DIM, _("thread"));
    col += columns->tid > 0;
    canvas_field(&picture->canvas, row, col + 1, columns->name - 1, TEXT_LEFT, ROLE_DIM,
                 _("name"));
    col += columns->name + (columns->state ? STATE_COLS : 0);
    for (unsigned i = 0; i < FIELD_COUNT; i++) {
        const struct rect field = { row, col, 1, columns->field[i] };

        if (field.cols > 0)
            view_heading(picture, &field, field_heading((enum threads_field)i),
                         &view->sort[PAGE_THREADS], i + 1);
        col += field.cols;
    }
}

static uint64_t
known(uint64_t bytes)
{
    return bytes > 0 ? bytes : UNITS_UNKNOWN;
}

static void
field_text(char *text, size_t size, const struct view *view, const struct scene *scene,
           const struct thread *thread, enum threads_field field)
{
    const struct thread_counters *counters = &thread->counters;
    const struct traffic traffic = traffic_of(scene, counters);
    const struct amount amounts[FIELD_COUNT] = {
        [FIELD_ALLOCATED] = traffic.allocated,
        [FIELD_FREED] = traffic.freed,
        [FIELD_STACK] = { known(counters->stack_now), 0, false },
        [FIELD_PEAK] = { known(counters->stack_peak), 0, false },
        [FIELD_TOUCHED] = { known(thread->stack_touched), 0, false },
        [FIELD_LIMIT] = { known(counters->stack_limit), 0, false },
    };

    if (field == FIELD_CALLS)
        amount_count(text, size, &traffic.calls);
    else
        amount_bytes(text, size, &amounts[field], view->unit);
}

static void
draw_thread(struct picture *picture, const struct view *view, const struct scene *scene,
            const struct threads_columns *columns, const struct thread *thread, int row,
            int col)
{
    const struct thread_counters *counters = &thread->counters;
    const char state[2] = { thread->state, '\0' };
    char text[UNITS_MAX];

    snprintf(text, sizeof text, "%d", (int)counters->tid);
    put(picture, row, &col, columns->tid, ROLE_VALUE, text);
    if (counters->owners > 1)
        canvas_put(&picture->canvas, row, col, 1, ROLE_WARN, "*");
    col += columns->tid > 0;
    canvas_field(&picture->canvas, row, col + 1, columns->name - 1, TEXT_LEFT,
                 ROLE_NORMAL,
                 thread->name[0] != '\0' ? thread->name
                 : columns->tid > 0       ? "-"
                                          : text);
    col += columns->name;
    if (columns->state)
        put(picture, row, &col, STATE_COLS, ROLE_NORMAL, state);
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (columns->field[i] == 0)
            continue;
        field_text(text, sizeof text, view, scene, thread, (enum threads_field)i);
        put(picture, row, &col, columns->field[i], ROLE_NORMAL, text);
    }
}

static void
draw_shared_note(struct picture *picture, const struct rect *rect, int row)
{
    const char *note =
        _("* calls and bytes with those of threads that had its place before");
    int cols = rect->cols - 1;

    while (cols > 0 && *note != '\0') {
        char line[256];

        note += text_line(line, sizeof line, note, (size_t)cols);
        canvas_put(&picture->canvas, row++, rect->col + 1, cols, ROLE_NORMAL, line);
    }
}

/* What is to be said below the list. */
static void
draw_notes(struct picture *picture, const struct scene *scene, const struct rect *body,
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
        canvas_put(&picture->canvas, row++, body->col + 1, body->cols - 1, ROLE_NORMAL,
                   text);
    }
    if (shared)
        draw_shared_note(picture, body, row + 1);
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
        return _("No thread has called yet.");
    return count == 0 ? _("No thread is called so.") : "";
}

void
view_threads(struct picture *picture, const struct view *view, const struct scene *scene)
{
    const struct thread *threads[THREADS_MAX];
    size_t count = choose_threads(view, scene, threads);
    const char *why = why_no_list(view, scene, count);
    char right[SEARCH_MAX + 128] = "";
    struct threads_columns columns;
    struct rect rest;
    int top, row;

    if (is_since(scene))
        view_since(right, sizeof right, scene);
    if (view->filter[0] != '\0')
        snprintf(right, sizeof right, _("name: %s"), view->filter);
    rest = view_page_title(picture, _("Threads"), right);
    if (!scene->process->measured && !view->history) {
        view_not_measured(picture, scene, rest.row, rest.col + 1, rest.cols - 1);
        return;
    }
    if (why[0] != '\0') {
        canvas_put(&picture->canvas, rest.row, rest.col + 1, rest.cols - 1, ROLE_NORMAL,
                   why);
        return;
    }
    columns = choose_columns(view, rest.cols);
    top = rest.row + view_has_headings(rest.rows);
    if (top > rest.row)
        draw_heading(picture, view, &columns, rest.row, rest.col);
    row = top - view->scroll;
    for (size_t i = 0; i < count; i++, row++)
        if (row >= top)
            draw_thread(picture, view, scene, &columns, threads[i], row, rest.col);
    if (row >= top)
        draw_notes(picture, scene, &rest, row);
}
