/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Draws a graph: title, labelled axes, area and the mark at its peak.  With less room
 * the title goes first, then the time axis.  The columns of a graph lie on a fixed grid
 * of time, so a column keeps its height while it moves left.
 */
#include "config.h"

#include "tui/view.h"

#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "report/summary.h"

#define TITLE_FROM_ROWS 6
#define AXIS_FROM_ROWS  4
#define WIDE_LABELS     60   /* least width for labels with units */
#define TICK_SPACING    12
#define STEPS_A_WINDOW  16   /* a graph moves on in steps of a sixteenth of the window */

/* Limits of the window of time that is chosen automatically.  The shortest one is for
   running programs; the longest is five minutes, or WINDOW_SAMPLES samples if that is
   longer. */
#define SECOND_NS INT64_C(1000000000)
#define WINDOW_MIN_NS (10 * SECOND_NS)
#define WINDOW_MAX_NS (300 * SECOND_NS)
#define WINDOW_SAMPLES 300

int64_t
view_window(const struct view *view, const struct scene *scene)
{
    int64_t longest = scene->interval_ns * WINDOW_SAMPLES, fitting;

    if (view->window_ns > 0)
        return view->window_ns;
    if (scene->process->missing & PART_CLOCK)
        return PROCESS_RUN_PARTS;
    if (scene->saved)
        longest = INT64_MAX;   /* the whole run at first */
    else if (longest < WINDOW_MAX_NS)
        longest = WINDOW_MAX_NS;
    fitting = graph_window(scene->shown_ns < longest ? scene->shown_ns : longest);
    return fitting < WINDOW_MIN_NS && !scene->ended ? WINDOW_MIN_NS : fitting;
}

int64_t
view_right(const struct view *view, const struct scene *scene)
{
    int64_t window = view_window(view, scene);
    int64_t ago = scene->shown_ns - scene->process->run_ns;
    int64_t half = window / 2, edge = window / 16;

    if (!view->history || scene->shown_ns <= window || ago < window - edge || half < 1)
        return scene->shown_ns;
    /* Moves by half windows, so that the graph stands still while the cursor moves. */
    return scene->shown_ns - ((ago + edge) / half - 1) * half;
}

void
view_rescale(struct view *view, const struct scene *scene)
{
    int64_t to = view_right(view, scene);
    int64_t from = to - view_window(view, scene);

    for (int series = 0; series < SERIES_COUNT; series++) {
        bool decimal = series == SERIES_CALLS || (view->unit & UNIT_SI);
        uint64_t max = 0;
        int64_t when;

        if (!history_peak(scene->history, (enum series)series, from, to, &max, &when))
            max = 0;
        view->top[series] = graph_top(view->top[series], max, decimal, view->log);
    }
}

/* Positions of the parts of a graph. */
struct frame {
    int row, col;         /* of the area */
    int rows, cols;
    int label_cols;       /* left of the axis */
    bool title, axis;
    int64_t from_ns, to_ns;
    int64_t right_ns;     /* run time at which the values end, to_ns or before */
    size_t count;         /* history columns */
    int shown;            /* cells until the values end */
    struct graph_scale scale;
};

/* The column of a time in the area; < 0 if it is outside. */
static int
column_at(const struct frame *frame, int64_t run_ns)
{
    if (run_ns <= frame->from_ns || run_ns > frame->to_ns)
        return -1;
    return (int)((double)(run_ns - frame->from_ns - 1)
                 / (double)(frame->to_ns - frame->from_ns) * frame->cols);
}

/* Sets the times of the frame's columns.  A run shorter than the window starts at its
   left edge and fills it.  A longer run moves left by a part of the window at a time, so
   that most drawings differ from the last in a few columns only. */
static void
frame_set_time(struct frame *frame, const struct view *view, const struct scene *scene)
{
    int64_t window = view_window(view, scene), width, step;

    frame->count = graph_columns(view->style, frame->cols);
    width = window / (int64_t)frame->count;
    if (width < 1)
        width = 1;
    frame->right_ns = view_right(view, scene);
    step = width * (int64_t)(frame->count / STEPS_A_WINDOW + 1);
    if (scene->ended || view->history)
        step = width;
    frame->to_ns = (frame->right_ns + step - 1) / step * step;
    if (frame->to_ns < width * (int64_t)frame->count)
        frame->to_ns = width * (int64_t)frame->count;
    frame->from_ns = frame->to_ns - width * (int64_t)frame->count;
    frame->shown = column_at(frame, frame->right_ns) + 1;
}

static bool
frame_init(struct frame *frame, const struct view *view, const struct scene *scene,
           const struct rect *rect, enum series series)
{
    frame->title = rect->rows >= TITLE_FROM_ROWS;
    frame->axis = rect->rows >= AXIS_FROM_ROWS;
    frame->label_cols = rect->cols >= WIDE_LABELS ? 9 : rect->cols >= 16 ? 5 : 0;
    frame->row = rect->row + frame->title;
    frame->rows = rect->rows - frame->title - frame->axis;
    frame->col = rect->col + frame->label_cols + 1;
    frame->cols = rect->cols - frame->label_cols - 1;
    if (frame->cols < 1 || frame->rows < 1)
        return false;
    frame_set_time(frame, view, scene);
    frame->scale.top = view->top[series];
    frame->scale.log = view->log;
    frame->scale.decimal = series == SERIES_CALLS || (view->unit & UNIT_SI);
    return true;
}

/* Reads the columns.  The last column ends on the grid, but values only until right_ns
   may be shown: a paused screen must not show later ones.  Returns false if nothing is
   known. */
static bool
fetch_columns(struct screen *screen, const struct scene *scene,
              const struct frame *frame, enum series series)
{
    int64_t width = (frame->to_ns - frame->from_ns) / (int64_t)frame->count;
    int64_t shown = frame->right_ns - frame->from_ns;
    size_t last = shown > 0 ? (size_t)((shown - 1) / width) : 0;
    int64_t last_ns = frame->from_ns + width * (int64_t)last;
    bool known = false;

    memset(screen->columns, 0, frame->count * sizeof *screen->columns);
    if (last > 0)
        history_columns(scene->history, series, frame->from_ns, last_ns,
                        screen->columns, last);
    if (last < frame->count)
        history_columns(scene->history, series, last_ns, frame->right_ns,
                        screen->columns + last, 1);
    for (size_t i = 0; i <= last && i < frame->count; i++)
        known = known || screen->columns[i].known;
    /* Columns after the end are not gaps. */
    for (size_t i = last + 1; i < frame->count; i++)
        screen->columns[i].known = true;
    return known;
}

static void
draw_labels(struct screen *screen, const struct view *view, const struct frame *frame,
            enum series series)
{
    struct graph_label labels[GRAPH_LABELS];
    int count = graph_labels(&frame->scale, frame->rows, labels);

    for (int row = 0; row < frame->rows; row++)
        canvas_glyph(&screen->canvas, frame->row + row, frame->col - 1, ROLE_DIM,
                     GLYPH_VERTICAL);
    for (int i = 0; i < count && frame->label_cols > 0; i++) {
        char text[2 * UNITS_MAX], calls[UNITS_MAX];
        int row = frame->row + labels[i].row;

        if (series == SERIES_CALLS) {
            units_count_compact(calls, sizeof calls, labels[i].value);
            snprintf(text, sizeof text, frame->label_cols > 6 ? _("%s/s") : "%s", calls);
        } else if (frame->label_cols > 6) {
            units_axis(text, sizeof text, labels[i].value, view->unit & UNIT_SI);
        } else {
            units_axis_compact(text, sizeof text, labels[i].value, view->unit & UNIT_SI);
        }
        if ((int)text_columns(text) > frame->label_cols && series != SERIES_CALLS)
            units_axis_compact(text, sizeof text, labels[i].value, view->unit & UNIT_SI);
        canvas_field(&screen->canvas, row, frame->col - 1 - frame->label_cols,
                     frame->label_cols, TEXT_RIGHT, ROLE_NORMAL, text);
        canvas_glyph(&screen->canvas, row, frame->col - 1, ROLE_DIM, GLYPH_TICK);
    }
}

/* Column of the cursor, which is inside the window or on its edge (view_right()); < 0
   without a cursor. */
static int
cursor_column(const struct view *view, const struct scene *scene,
              const struct frame *frame)
{
    int at = column_at(frame, scene->process->run_ns);

    if (!view->history)
        return -1;
    return at < 0 && scene->process->run_ns <= frame->from_ns ? 0 : at;
}

static bool
within(int col, int from, int to)
{
    return col >= from && col <= to;
}

/* Time before the end: "-35s"; if the run's times are not known, the part of the run. */
static char *
ago_text(char *buf, size_t size, const struct scene *scene, int64_t ago_ns)
{
    if (scene->process->missing & PART_CLOCK)
        return view_time(buf, size, scene->process, scene->shown_ns - ago_ns);
    return units_offset(buf, size, -ago_ns);
}

/* Draws the time axis.  The mark and the cursor replace labels. */
static void
draw_time_axis(struct screen *screen, const struct view *view,
               const struct scene *scene, const struct frame *frame)
{
    struct graph_tick ticks[GRAPH_TICKS];
    int row = frame->row + frame->rows;
    int free_from = frame->col + 2;
    int count = graph_ticks(frame->to_ns - frame->from_ns, frame->cols, TICK_SPACING,
                            ticks);
    int64_t after = scene->shown_ns - frame->right_ns;
    char offset[UNITS_MAX];
    const char *right = after > 0      ? ago_text(offset, sizeof offset, scene, after)
                        : scene->ended ? _("end")
                                       : _("now");
    int right_cols = (int)text_columns(right);
    int ahead = frame->cols - frame->shown;
    int right_end = frame->col + (frame->shown > right_cols ? frame->shown : right_cols);
    int right_start = right_end - right_cols;
    int at = scene->mark != NULL ? column_at(frame, scene->mark->run_ns) : -1;
    int flag = at < 0 ? -1 : frame->col + at;
    int cross = cursor_column(view, scene, frame);

    canvas_glyph(&screen->canvas, row, frame->col - 1, ROLE_DIM, GLYPH_CORNER);
    for (int i = 0; i < frame->cols; i++)
        canvas_glyph(&screen->canvas, row, frame->col + i, ROLE_DIM, GLYPH_HORIZONTAL);
    if (cross >= 0)
        cross += frame->col;
    if (cross >= 0)
        canvas_glyph(&screen->canvas, row, cross, ROLE_VALUE, GLYPH_CROSS);
    if (flag >= 0)
        canvas_glyph(&screen->canvas, row, flag, ROLE_PEAK, GLYPH_FLAG);
    if (right_end <= frame->col + frame->cols
        && !within(flag, right_start - 1, right_end)
        && !within(cross, right_start - 1, right_end)) {
        if (right_start > frame->col)
            canvas_char(&screen->canvas, row, right_start - 1, ROLE_NORMAL, L' ');
        canvas_put(&screen->canvas, row, right_start, right_cols, ROLE_NORMAL, right);
        if (ahead > 0)
            canvas_char(&screen->canvas, row, right_end, ROLE_NORMAL, L' ');
    }
    for (int i = 0; i < count; i++) {
        char text[UNITS_MAX];
        int start = frame->col + ticks[i].col - ahead;
        int columns;

        if (ticks[i].ago_ns == 0)
            break;
        ago_text(text, sizeof text, scene, ticks[i].ago_ns + after);
        columns = (int)text_columns(text);
        if (start < free_from || start + columns + 1 >= right_start
            || within(flag, start - 1, start + columns)
            || within(cross, start - 1, start + columns))
            continue;
        canvas_char(&screen->canvas, row, start - 1, ROLE_NORMAL, L' ');
        canvas_put(&screen->canvas, row, start, columns, ROLE_NORMAL, text);
        canvas_char(&screen->canvas, row, start + columns, ROLE_NORMAL, L' ');
        free_from = start + columns + 2;
    }
}

static void
draw_area(struct screen *screen, const struct view *view, const struct frame *frame,
          enum role role)
{
    graph_plot(screen->columns, frame->count, &frame->scale, view->style, frame->rows,
               frame->cols, screen->cells);
    for (int row = 0; row < frame->rows; row++)
        for (int col = 0; col < frame->cols; col++) {
            wchar_t ch = screen->cells[row * frame->cols + col];

            if (ch != L' ')
                canvas_char(&screen->canvas, frame->row + row, frame->col + col,
                            ch == L'?' ? ROLE_WARN : role, ch);
        }
}

/* Marks the highest column of the window. */
static void
draw_peak(struct screen *screen, const struct view *view, const struct scene *scene,
          const struct frame *frame, enum series series)
{
    int64_t when;
    uint64_t value;
    int row, col;

    if (!history_peak(scene->history, series, frame->from_ns, frame->right_ns, &value,
                      &when)
        || value == 0)
        return;
    row = graph_row(value, &frame->scale, view->style, frame->rows) - 1;
    col = column_at(frame, when);
    if (row >= 0 && col >= 0 && col < frame->cols)
        canvas_glyph(&screen->canvas, frame->row + row, frame->col + col, ROLE_PEAK,
                     GLYPH_MARK);
}

/* Draws the cursor, a vertical line; the area shows through it. */
static void
draw_cursor(struct screen *screen, const struct view *view, const struct scene *scene,
            const struct frame *frame)
{
    int at = cursor_column(view, scene, frame);

    for (int row = frame->row; at >= 0 && row < frame->row + frame->rows; row++) {
        int col = frame->col + at;

        if (canvas_is_blank(&screen->canvas, row, col, 1))
            canvas_glyph(&screen->canvas, row, col, ROLE_VALUE, GLYPH_VERTICAL);
        else
            canvas_paint(&screen->canvas, row, col, 1, ROLE_PROMPT);
    }
}

/* "peak 400.1 MiB at -61s", of the whole run. */
static void
peak_text(char *text, size_t size, const struct view *view, const struct scene *scene,
          enum series series)
{
    char value_text[UNITS_MAX], when_text[UNITS_MAX];
    uint64_t value;
    int64_t when, ago;

    text[0] = '\0';
    if (!history_peak(scene->history, series, view->peak_from_ns, scene->shown_ns, &value,
                      &when))
        return;
    if (series == SERIES_CALLS) {
        /* TRANSLATORS: calls a second. */
        snprintf(text, size, _("highest %s/s"),
                 units_count_compact(value_text, sizeof value_text, value));
        return;
    }
    if (series == SERIES_HEAP && scene->process->measured && view->peak_from_ns == 0
        && scene->process->now.peak_bytes > value)
        value = scene->process->now.peak_bytes;
    units_bytes(value_text, sizeof value_text, value, view->unit);
    ago = scene->shown_ns - when;
    ago -= ago % (ago < 10 * SECOND_NS ? SECOND_NS / 10 : SECOND_NS);
    if (ago == 0)
        snprintf(text, size,
                 /* TRANSLATORS: the heap is at its highest right now. */
                 scene->ended ? _("peak %s at the end") : _("peak %s now"),
                 value_text);
    else
        snprintf(text, size, _("peak %s at %s"), value_text,
                 ago_text(when_text, sizeof when_text, scene, ago));
}

static void
draw_title(struct screen *screen, const struct view *view, const struct scene *scene,
           const struct rect *rect, const struct chart *chart)
{
    char right[3 * UNITS_MAX] = "";
    char title[128];

    if (chart->peak)
        peak_text(right, sizeof right, view, scene, chart->series);
    snprintf(title, sizeof title, view->log ? _("%s, logarithmic") : "%s", chart->title);
    canvas_rule(&screen->canvas, rect->row, rect->col, rect->cols, title, right);
}

void
chart_draw(struct screen *screen, const struct view *view, const struct scene *scene,
          const struct rect *rect, const struct chart *chart)
{
    struct frame frame;

    canvas_clip(&screen->canvas, rect);
    if (rect->rows == 0 || !frame_init(&frame, view, scene, rect, chart->series))
        return;
    if (frame.title)
        draw_title(screen, view, scene, rect, chart);
    draw_labels(screen, view, &frame, chart->series);
    if (frame.axis)
        draw_time_axis(screen, view, scene, &frame);
    if (!fetch_columns(screen, scene, &frame, chart->series)) {
        view_not_measured(screen, scene, frame.row + frame.rows / 2, frame.col + 1,
                          frame.cols - 1);
        return;
    }
    draw_area(screen, view, &frame, chart->role);
    picture_hit(screen,
                &(struct hit){ .rect = { frame.row, frame.col, frame.rows, frame.cols },
                               .from_ns = frame.from_ns,
                               .to_ns = frame.to_ns });
    draw_peak(screen, view, scene, &frame, chart->series);
    draw_cursor(screen, view, scene, &frame);
}

void
chart_sparkline(struct screen *screen, const struct view *view,
               const struct scene *scene, const struct rect *rect)
{
    char text[4 * UNITS_MAX], now[UNITS_MAX], peak[UNITS_MAX];
    const struct process *process = scene->process;
    struct view flat = *view;
    struct frame frame;
    int used;

    canvas_clip(&screen->canvas, rect);
    if (!process->measured) {
        used = canvas_put(&screen->canvas, rect->row, rect->col + 1, rect->cols - 1,
                          ROLE_NORMAL, _("Stack"));
        view_not_measured(screen, scene, rect->row, rect->col + used + 3,
                          rect->cols - used - 3);
        return;
    }
    snprintf(text, sizeof text, _("Stack  %s  peak %s"),
             units_bytes(now, sizeof now, report_stack(process, process->now.stack_now),
                         view->unit),
             units_bytes(peak, sizeof peak,
                         report_stack(process, process->now.stack_peak), view->unit));
    used = canvas_put(&screen->canvas, rect->row, rect->col + 1, rect->cols - 1,
                      ROLE_NORMAL, text);
    if (flat.style == GRAPH_BRAILLE)
        flat.style = GRAPH_BLOCK;
    if (!frame_init(&frame, &flat, scene, rect, SERIES_STACK))
        return;
    /* Aligned with the heap's graph above, if the text leaves room for that. */
    if (frame.col < rect->col + used + 3) {
        frame.cols -= rect->col + used + 3 - frame.col;
        frame.col = rect->col + used + 3;
    }
    if (frame.cols < 4)
        return;
    frame_set_time(&frame, &flat, scene);
    fetch_columns(screen, scene, &frame, SERIES_STACK);
    draw_area(screen, &flat, &frame, ROLE_STACK);
    draw_cursor(screen, view, scene, &frame);
}
