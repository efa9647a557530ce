/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The page of threads: what each has called, allocated and freed, and how deep its
 * stack is.  Columns leave by importance: the state, the stack now, its limit.  Of
 * the past only the process's sums are known, and that is said.
 */
#include "config.h"

#include "tui/view.h"

#include <stdio.h>

#include "i18n.h"

#define TID_COLS   8
#define NAME_COLS  16   /* a name has 15 bytes */
#define STATE_COLS 2
#define CALLS_COLS 11
#define BYTES_COLS 11

struct columns {
    bool state, now, limit;
};

static struct columns
choose_columns(int cols)
{
    int left = cols - TID_COLS - NAME_COLS - CALLS_COLS - 3 * BYTES_COLS - 1;
    struct columns columns = { false, false, false };

    if ((columns.limit = left >= BYTES_COLS))
        left -= BYTES_COLS;
    if ((columns.now = left >= BYTES_COLS))
        left -= BYTES_COLS;
    columns.state = left >= STATE_COLS;
    return columns;
}

static size_t
listed(const struct scene *scene)
{
    return scene->thread_count < THREADS_MAX ? scene->thread_count : THREADS_MAX;
}

int
view_threads_lines(const struct scene *scene)
{
    return (int)listed(scene) + 4;   /* heading, more, a blank one, the note */
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
draw_heading(struct picture *picture, const struct columns *columns, int row, int col)
{
    put(picture, row, &col, TID_COLS, ROLE_DIM, _("thread"));
    canvas_field(&picture->canvas, row, col + 2, NAME_COLS - 1, TEXT_LEFT, ROLE_DIM,
                 _("name"));
    col += NAME_COLS + 1 + (columns->state ? STATE_COLS : 0);
    put(picture, row, &col, CALLS_COLS, ROLE_DIM, _("calls"));
    put(picture, row, &col, BYTES_COLS, ROLE_DIM, _("allocated"));
    put(picture, row, &col, BYTES_COLS, ROLE_DIM, _("freed"));
    if (columns->now)
        put(picture, row, &col, BYTES_COLS, ROLE_DIM, _("stack"));
    put(picture, row, &col, BYTES_COLS, ROLE_DIM, _("peak"));
    if (columns->limit)
        put(picture, row, &col, BYTES_COLS, ROLE_DIM, _("limit"));
}

static void
put_bytes(struct picture *picture, const struct view *view, int row, int *col,
          uint64_t bytes)
{
    char text[UNITS_MAX];

    put(picture, row, col, BYTES_COLS, ROLE_NORMAL,
        units_bytes(text, sizeof text, bytes, view->unit));
}

static uint64_t
known(uint64_t bytes)
{
    return bytes > 0 ? bytes : UNITS_UNKNOWN;
}

static void
draw_thread(struct picture *picture, const struct view *view,
            const struct columns *columns, const struct thread *thread, int row, int col)
{
    const struct thread_counters *counters = &thread->counters;
    const char state[2] = { thread->state, '\0' };
    char text[UNITS_MAX];

    snprintf(text, sizeof text, "%d", (int)counters->tid);
    put(picture, row, &col, TID_COLS, ROLE_VALUE, text);
    if (counters->owners > 1)
        canvas_put(&picture->canvas, row, col, 1, ROLE_WARN, "*");
    canvas_field(&picture->canvas, row, col + 2, NAME_COLS - 1, TEXT_LEFT, ROLE_NORMAL,
                 thread->name[0] != '\0' ? thread->name : "-");
    col += NAME_COLS + 1;
    if (columns->state)
        put(picture, row, &col, STATE_COLS, ROLE_NORMAL, state);
    put(picture, row, &col, CALLS_COLS, ROLE_NORMAL,
        units_count(text, sizeof text, counters->calls));
    put_bytes(picture, view, row, &col, counters->allocated);
    put_bytes(picture, view, row, &col, counters->freed);
    if (columns->now)
        put_bytes(picture, view, row, &col, known(counters->stack_now));
    put_bytes(picture, view, row, &col, known(counters->stack_peak));
    if (columns->limit)
        put_bytes(picture, view, row, &col, known(counters->stack_limit));
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
        canvas_put(
            &picture->canvas, row + 1, body->col + 1, body->cols - 1, ROLE_NORMAL,
            _("* calls and bytes with those of threads that had its place before"));
}

void
view_threads(struct picture *picture, const struct view *view, const struct scene *scene)
{
    const struct rect *body = &picture->layout.block[BLOCK_BODY];
    struct columns columns = choose_columns(body->cols);
    int row = body->row + 2 - view->scroll;

    canvas_clip(&picture->canvas, body);
    if (body->rows == 0)
        return;
    canvas_rule(&picture->canvas, body->row, body->col, body->cols, _("Threads"), "");
    if (view->history) {
        canvas_put(&picture->canvas, body->row + 1, body->col + 1, body->cols - 1,
                   ROLE_NORMAL, _("The threads of the past are not recorded."));
        return;
    }
    if (!scene->process->measured) {
        view_not_measured(picture, scene, body->row + 1, body->col + 1, body->cols - 1);
        return;
    }
    if (scene->thread_count == 0) {
        canvas_put(&picture->canvas, body->row + 1, body->col + 1, body->cols - 1,
                   ROLE_NORMAL, _("No thread has called yet."));
        return;
    }
    draw_heading(picture, &columns, body->row + 1, body->col);
    for (size_t i = 0; i < listed(scene); i++, row++)
        if (row > body->row + 1)
            draw_thread(picture, view, &columns, &scene->threads[i], row, body->col);
    if (row > body->row + 1)
        draw_notes(picture, scene, body, row);
}
