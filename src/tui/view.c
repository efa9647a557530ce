/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Puts the screen together: the layout for the size, the page, the message line and the
 * keys.
 */
#include "config.h"

#include "tui/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "report/ranges.h"

#define TITLE_FROM_ROWS 4

enum page
view_page_of_digit(int digit)
{
    return pages_of_key('0' + digit);
}

const char *
view_sort_column(enum page page, unsigned column)
{
    const struct table *table = pages_def(page)->table;

    return table != NULL ? table_sort_title(table, column) : NULL;
}

/* The history may be coarse, so the result is limited: at least the present heap, at
   most the true peak. */
uint64_t
view_peak(const struct view *view, const struct scene *scene)
{
    const struct process *process = scene->process;
    const struct snapshot *now = &process->now;
    uint64_t peak;
    int64_t when;

    if (view->peak_from_ns == 0 || process->run_ns < view->peak_from_ns)
        return now->peak_bytes;
    if (!history_peak(scene->history, SERIES_HEAP, view->peak_from_ns, process->run_ns,
                      &peak, &when)
        || peak < now->live_bytes)
        peak = now->live_bytes;
    return peak < now->peak_bytes ? peak : now->peak_bytes;
}

bool
picture_resize(struct screen *screen, int rows, int cols)
{
    size_t columns = graph_columns(GRAPH_BRAILLE, cols);
    struct column *new_columns = calloc(columns + 1, sizeof *new_columns);
    wchar_t *new_cells = calloc((size_t)rows * (size_t)cols + 1, sizeof *new_cells);

    if (new_columns == NULL || new_cells == NULL
        || !canvas_resize(&screen->canvas, rows, cols)) {
        free(new_columns);
        free(new_cells);
        return false;
    }
    free(screen->columns);
    free(screen->cells);
    screen->columns = new_columns;
    screen->cells = new_cells;
    return true;
}

void
picture_hit(struct screen *screen, const struct hit *hit)
{
    if (screen->hit_count < HITS_MAX)
        screen->hits[screen->hit_count++] = *hit;
}

const struct hit *
picture_hit_at(const struct screen *screen, int row, int col)
{
    for (size_t i = 0; i < screen->hit_count; i++) {
        const struct rect *rect = &screen->hits[i].rect;

        if (row >= rect->row && row < rect->row + rect->rows && col >= rect->col
            && col < rect->col + rect->cols)
            return &screen->hits[i];
    }
    return NULL;
}

void
view_block_title(struct screen *screen, const struct rect *rect, enum page page,
                 const char *title, const char *right)
{
    const struct hit hit = { .rect = { rect->row, rect->col, 1, rect->cols },
                             .action = ACTION_VIEW,
                             .page = page };

    canvas_rule(&screen->canvas, rect->row, rect->col, rect->cols, title, right);
    picture_hit(screen, &hit);
}

struct rect
view_page_rest(const struct screen *screen)
{
    struct rect rest = screen->layout.block[BLOCK_BODY];
    int title = rest.rows >= TITLE_FROM_ROWS;

    rest.row += title;
    rest.rows -= title;
    return rest;
}

struct rect
view_page_title(struct screen *screen, const char *title, const char *right)
{
    const struct rect *body = &screen->layout.block[BLOCK_BODY];

    canvas_clip(&screen->canvas, body);
    if (body->rows >= TITLE_FROM_ROWS)
        canvas_rule(&screen->canvas, body->row, body->col, body->cols, title, right);
    return view_page_rest(screen);
}

void
picture_free(struct screen *screen)
{
    canvas_free(&screen->canvas);
    free(screen->columns);
    free(screen->cells);
    screen->columns = NULL;
    screen->cells = NULL;
}

char *
view_time(char *buf, size_t size, const struct process *process, int64_t ns)
{
    if (!(process->missing & PART_CLOCK))
        return units_duration(buf, size, ns);
    snprintf(buf, size, "%d%%", (int)(ns / (PROCESS_RUN_PARTS / 100)));
    return buf;
}

void
view_since(char *text, size_t size, const struct scene *scene)
{
    char time[UNITS_MAX];

    text[0] = '\0';
    if (scene->mark != NULL)
        snprintf(text, size, _("since the mark at %s"),
                 view_time(time, sizeof time, scene->process, scene->mark->run_ns));
}

static void
choose_layout(struct screen *screen, const struct view *view, const struct scene *scene)
{
    const struct content content = {
        .call_rows = view_call_rows(scene),
        .size_rows = RANGE_COUNT + 1,
        .counters = scene->process->measured || scene->process->state == STATE_STARTING,
        .output = scene->capture != NULL,
        .prompt = scene->asks,
    };
    const struct page_def *page = pages_def(view->page);

    (page->layout != NULL ? page->layout : layout_page)(
        screen->canvas.rows, screen->canvas.cols, &content, &screen->layout);
}

/* Shortens a message that is too long to whole parts of it, if possible. */
static const char *
message_fitting(char *text, size_t size, const char *message, int room)
{
    size_t kept = 0;

    for (size_t end = strcspn(message, ".;,"); message[end] != '\0';
         end += 1 + strcspn(message + end + 1, ".;,")) {
        snprintf(text, size, "%.*s", (int)end, message);
        if ((int)text_columns(text) <= room && message[end + 1] == ' ')
            kept = end;
    }
    if ((int)text_columns(message) <= room || kept == 0)
        return message;
    snprintf(text, size, "%.*s", (int)kept, message);
    return text;
}

static const char *
message_shown(char *text, size_t size, const struct scene *scene, int room)
{
    if (scene->typing)
        return text_tail(scene->message, (size_t)room);
    return scene->asks ? scene->message
                       : message_fitting(text, size, scene->message, room);
}

static void
draw_message(struct screen *screen, const struct scene *scene)
{
    const struct rect *rect = &screen->layout.block[BLOCK_MESSAGE];
    int indent = rect->cols > 20, room = rect->cols - indent;
    char text[1024];

    canvas_clip(&screen->canvas, rect);
    if (rect->rows > 0 && scene->message != NULL)
        canvas_put(&screen->canvas, rect->row, rect->col + indent, room,
                   scene->message_role, message_shown(text, sizeof text, scene, room));
}

void
view_draw(struct screen *screen, const struct view *view, const struct scene *scene)
{
    canvas_clear(&screen->canvas);
    screen->hit_count = 0;
    choose_layout(screen, view, scene);
    view_header(screen, view, scene);
    pages_def(view->page)->draw(screen, view, scene);
    draw_message(screen, scene);
    view_footer(screen, view);
    if (view->help > 0)
        view_help(screen, view);
}

int
view_scroll_limit(const struct screen *screen, const struct view *view,
                  const struct scene *scene)
{
    const struct page_def *page = pages_def(view->page);
    int rows = view_page_rest(screen).rows;
    int lines = page->lines != NULL ? page->lines(screen, view, scene) : 0;

    return lines > rows ? lines - rows : 0;
}
