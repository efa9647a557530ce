/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Puts the picture together: the layout for the size, the page, the message
 * line and the keys.
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

/* The samples of a moment may be coarse: never less than the heap is now, never
   more than the true peak. */
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
picture_resize(struct picture *picture, int rows, int cols)
{
    size_t columns = graph_columns(GRAPH_BRAILLE, cols);
    struct column *new_columns = calloc(columns + 1, sizeof *new_columns);
    wchar_t *new_cells = calloc((size_t)rows * (size_t)cols + 1, sizeof *new_cells);

    if (new_columns == NULL || new_cells == NULL
        || !canvas_resize(&picture->canvas, rows, cols)) {
        free(new_columns);
        free(new_cells);
        return false;
    }
    free(picture->columns);
    free(picture->cells);
    picture->columns = new_columns;
    picture->cells = new_cells;
    return true;
}

void
picture_hit(struct picture *picture, const struct hit *hit)
{
    if (picture->hit_count < HITS_MAX)
        picture->hits[picture->hit_count++] = *hit;
}

const struct hit *
picture_hit_at(const struct picture *picture, int row, int col)
{
    for (size_t i = 0; i < picture->hit_count; i++) {
        const struct rect *rect = &picture->hits[i].rect;

        if (row >= rect->row && row < rect->row + rect->rows && col >= rect->col
            && col < rect->col + rect->cols)
            return &picture->hits[i];
    }
    return NULL;
}

void
view_block_title(struct picture *picture, const struct rect *rect, enum page page,
                 const char *title, const char *right)
{
    const struct hit hit = { .rect = { rect->row, rect->col, 1, rect->cols },
                             .action = ACTION_VIEW,
                             .page = page };

    canvas_rule(&picture->canvas, rect->row, rect->col, rect->cols, title, right);
    picture_hit(picture, &hit);
}

struct rect
view_page_rest(const struct picture *picture)
{
    struct rect rest = picture->layout.block[BLOCK_BODY];
    int title = rest.rows >= TITLE_FROM_ROWS;

    rest.row += title;
    rest.rows -= title;
    return rest;
}

struct rect
view_page_title(struct picture *picture, const char *title, const char *right)
{
    const struct rect *body = &picture->layout.block[BLOCK_BODY];

    canvas_clip(&picture->canvas, body);
    if (body->rows >= TITLE_FROM_ROWS)
        canvas_rule(&picture->canvas, body->row, body->col, body->cols, title, right);
    return view_page_rest(picture);
}

void
picture_free(struct picture *picture)
{
    canvas_free(&picture->canvas);
    free(picture->columns);
    free(picture->cells);
    picture->columns = NULL;
    picture->cells = NULL;
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
choose_layout(struct picture *picture, const struct view *view, const struct scene *scene)
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
        picture->canvas.rows, picture->canvas.cols, &content, &picture->layout);
}

/* What there is room for: rather whole parts of the message than most of it. */
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
draw_message(struct picture *picture, const struct scene *scene)
{
    const struct rect *rect = &picture->layout.block[BLOCK_MESSAGE];
    int indent = rect->cols > 20, room = rect->cols - indent;
    char text[1024];

    canvas_clip(&picture->canvas, rect);
    if (rect->rows > 0 && scene->message != NULL)
        canvas_put(&picture->canvas, rect->row, rect->col + indent, room,
                   scene->message_role, message_shown(text, sizeof text, scene, room));
}

void
view_draw(struct picture *picture, const struct view *view, const struct scene *scene)
{
    canvas_clear(&picture->canvas);
    picture->hit_count = 0;
    choose_layout(picture, view, scene);
    view_header(picture, view, scene);
    pages_def(view->page)->draw(picture, view, scene);
    draw_message(picture, scene);
    view_footer(picture, view);
    if (view->help > 0)
        view_help(picture, view);
}

int
view_scroll_limit(const struct picture *picture, const struct view *view,
                  const struct scene *scene)
{
    const struct page_def *page = pages_def(view->page);
    int rows = view_page_rest(picture).rows;
    int lines = page->lines != NULL ? page->lines(picture, view, scene) : 0;

    return lines > rows ? lines - rows : 0;
}
