/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The first page: the heap, compared with its peak, and everything that explains it.
 * Also the header of all pages.  If the program is not measured, the page says so in
 * words and shows what the kernel knows; a zero is always a measurement.
 */
#include "config.h"

#include "tui/view.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/i18n.h"
#include "report/summary.h"

#define WARN_PART       0.9  /* of the peak, from which on the gauge warns */
#define LOW_COVERAGE    50   /* percent, below which the coverage warns */
#define WIDE_COLS       100  /* from here on figures are further apart */
#define NS_PER_SECOND   1000000000

enum role
view_state_role(enum process_state state, enum role otherwise)
{
    switch (state) {
    case STATE_RUNNING:
        return ROLE_GOOD;
    case STATE_STOPPED:
    case STATE_STALE:
    case STATE_NOT_LOADED:
        return ROLE_WARN;
    case STATE_KILLED:
        return ROLE_BAD;
    default:
        return otherwise;
    }
}

static enum role
state_role(const struct view *view, const struct scene *scene)
{
    const struct process *process = scene->process;

    if (view->history || view->paused || scene->saved)
        return ROLE_PROMPT;
    if (process->state == STATE_EXITED && WIFEXITED(process->wait_status)
        && WEXITSTATUS(process->wait_status) != 0)
        return ROLE_WARN;
    return view_state_role(process->state, ROLE_TITLE);
}

void
view_state(char *text, size_t size, const struct view *view, const struct scene *scene)
{
    const struct process *process = scene->process;

    if (view->history) {
        /* TRANSLATORS: at most 8 columns: a moment of the past is shown */
        snprintf(text, size, "%s", _("HISTORY"));
    } else if (view->paused) {
        snprintf(text, size, "%s", _("PAUSED"));
    } else if (scene->saved) {
        /* TRANSLATORS: at most 8 columns: a session that was saved is shown */
        snprintf(text, size, "%s", _("SAVED"));
    } else if (process->state == STATE_EXITED && WIFEXITED(process->wait_status)) {
        snprintf(text, size, "%s %d", process_state_word(process->state),
                 WEXITSTATUS(process->wait_status));
    } else if (process->state == STATE_KILLED) {
        snprintf(text, size, "%s", process_signal_name(WTERMSIG(process->wait_status)));
    } else {
        snprintf(text, size, "%s", process_state_word(process->state));
    }
}

static void
seconds_text(char *text, size_t size, int64_t ns)
{
    double seconds = (double)ns / NS_PER_SECOND;
    bool short_one = ns % (NS_PER_SECOND / 10) != 0; /* 0.25 s must not become 0.2 s */

    /* TRANSLATORS: seconds */
    snprintf(text, size,
             seconds >= 10 ? _("%.0f s")
             : short_one   ? _("%.2f s")
                           : _("%.1f s"),
             seconds);
}

/* Places the parts of the header from the right edge, least important first. */
void
view_header(struct screen *screen, const struct view *view, const struct scene *scene)
{
    const struct rect *rect = &screen->layout.block[BLOCK_HEADER];
    char interval[UNITS_MAX], pid[UNITS_MAX], state[64], time[UNITS_MAX];
    int right = rect->col + rect->cols - 1;
    int left = rect->col + 1;

    canvas_clip(&screen->canvas, rect);
    if (rect->rows == 0)
        return;
    view_state(state, sizeof state, view, scene);
    view_time(time, sizeof time, scene->process, scene->process->run_ns);
    seconds_text(interval, sizeof interval, scene->interval_ns);
    snprintf(pid, sizeof pid, _("pid %d"), (int)scene->process->pid);
    if (rect->cols >= 70 && scene->interval_ns > 0) {
        right -= (int)text_columns(interval);
        canvas_put(&screen->canvas, rect->row, right, rect->cols, ROLE_DIM, interval);
        right -= 2;
    }
    if (rect->cols >= 32) {
        right -= (int)text_columns(time);
        canvas_put(&screen->canvas, rect->row, right, rect->cols, ROLE_NORMAL, time);
        right -= 2;
    }
    right -= (int)text_columns(state);
    canvas_put(&screen->canvas, rect->row, right, rect->cols, state_role(view, scene),
               state);
    right -= 2;
    if (rect->cols >= 56 && scene->process->pid > 0) {
        right -= (int)text_columns(pid);
        canvas_put(&screen->canvas, rect->row, right, rect->cols, ROLE_NORMAL, pid);
        right -= 2;
    }
    left += canvas_put(&screen->canvas, rect->row, left, right - left, ROLE_TITLE,
                       "memtop");
    left += 2;
    canvas_put(&screen->canvas, rect->row, left, right - left, ROLE_VALUE,
               scene->command);
}

static const char *
why_not_measured(const struct scene *scene)
{
    const struct process *process = scene->process;

    if (process->state == STATE_STARTING && process->why_not[0] == '\0')
        return _("waiting for the program to load libmemtop");
    return process->why_not[0] != '\0' ? process->why_not : _("libmemtop was not loaded");
}

void
view_not_measured(struct screen *screen, const struct scene *scene, int row, int col,
                  int columns)
{
    char text[400];

    if (scene->process->measured)
        snprintf(text, sizeof text, "%s",
                 scene->saved ? _("not recorded") : _("no samples yet"));
    else if (scene->process->state == STATE_STARTING)
        snprintf(text, sizeof text, "%s", why_not_measured(scene));
    else
        snprintf(text, sizeof text, _("not measured: %s"), why_not_measured(scene));
    canvas_put(&screen->canvas, row, col, columns, ROLE_WARN, text);
}

static void
draw_gauge(struct screen *screen, const struct view *view, const struct scene *scene)
{
    const struct rect *rect = &screen->layout.block[BLOCK_GAUGE];
    const struct snapshot *now = &scene->process->now;
    struct canvas *canvas = &screen->canvas;
    char heap[UNITS_MAX], peak[UNITS_MAX], share[3 * UNITS_MAX];
    int col = rect->col + 1;
    int bar;
    uint64_t most;
    double part;

    canvas_clip(&screen->canvas, rect);
    if (rect->rows == 0)
        return;
    col += canvas_put(canvas, rect->row, col, rect->cols, ROLE_NORMAL, _("Heap")) + 2;
    if (!scene->process->measured) {
        view_not_measured(screen, scene, rect->row, col, rect->cols - col);
        return;
    }
    most = view_peak(view, scene);
    part = most > 0 ? (double)now->live_bytes / (double)most : 0;
    units_bytes(heap, sizeof heap, now->live_bytes, view->unit);
    units_bytes(peak, sizeof peak, most, view->unit);
    snprintf(share, sizeof share, _("%.0f%% of peak %s"), part * 100, peak);
    if (text_columns(heap) < 10)
        col += 10 - (int)text_columns(heap);
    col += canvas_put(canvas, rect->row, col, rect->cols, ROLE_VALUE, heap) + 1;
    if (col + 1 + (int)text_columns(share) > rect->col + rect->cols)
        snprintf(share, sizeof share, _("peak %s"), peak);
    bar = rect->col + rect->cols - col - (int)text_columns(share) - 4;
    if (bar >= 6) {
        canvas_glyph(canvas, rect->row, col, ROLE_DIM, GLYPH_GAUGE_LEFT);
        canvas_bar(canvas, rect->row, col + 1, bar,
                   part >= WARN_PART ? ROLE_WARN : ROLE_GAUGE, part);
        canvas_glyph(canvas, rect->row, col + 1 + bar, ROLE_DIM, GLYPH_GAUGE_RIGHT);
        col += bar + 2;
    }
    /* Shown whole or not at all: half a number would mislead. */
    if (col + 1 + (int)text_columns(share) <= rect->col + rect->cols)
        canvas_put(canvas, rect->row, col + 1, rect->cols, ROLE_NORMAL, share);
}

/* A row of figures, as many as fit. */
struct overview_figures {
    struct screen *screen;
    int row, col, end, gap;
    bool full;
};

static void
figure(struct overview_figures *figures, enum role role, const char *format,
       const char *value)
{
    char text[4 * UNITS_MAX];
    int columns;

    snprintf(text, sizeof text, format, value);
    columns = (int)text_columns(text);
    if (figures->full || figures->col + columns > figures->end) {
        figures->full = true;
        return;
    }
    canvas_put(&figures->screen->canvas, figures->row, figures->col, columns, role,
               text);
    figures->col += columns + figures->gap;
}

static void
since_figure(struct overview_figures *figures, const struct view *view,
             const struct scene *scene)
{
    const struct snapshot *now = &scene->process->now, *then = &scene->mark->now;
    const struct amount heap = { now->live_bytes, then->live_bytes, true };
    const struct amount blocks = { now->live_blocks, then->live_blocks, true };
    char bytes[UNITS_MAX], count[UNITS_MAX], text[3 * UNITS_MAX];

    snprintf(text, sizeof text,
             ngettext("Since mark %s, %s block", "Since mark %s, %s blocks",
                      amount_size(&blocks)),
             amount_bytes(bytes, sizeof bytes, &heap, view->unit),
             amount_count(count, sizeof count, &blocks));
    figure(figures, ROLE_VALUE, "%s", text);
}

static uint64_t
failed_calls(const struct snapshot *now)
{
    uint64_t sum = 0;

    for (int i = 0; i < FN_COUNT; i++)
        sum += now->failed[i];
    return sum;
}

static void
kernel_figures(struct overview_figures *figures, const struct view *view,
               const struct scene *scene)
{
    const struct process *process = scene->process;
    int coverage = process_coverage(process);
    char text[UNITS_MAX];

    if (process->os_known)
        figure(figures, ROLE_NORMAL, _("RSS %s"),
               units_bytes(text, sizeof text, process->os.rss, view->unit));
    if (coverage >= 0) {
        snprintf(text, sizeof text, "%d%%", coverage);
        figure(figures, coverage < LOW_COVERAGE ? ROLE_WARN : ROLE_NORMAL,
               /* TRANSLATORS: how much of the anonymous RSS the heap explains. */
               _("Coverage %s"), text);
    }
}

static void
counter_figures(struct overview_figures *figures, const struct view *view,
                const struct scene *scene)
{
    const struct snapshot *now = &scene->process->now;
    const struct rates *rates = &scene->process->rates;
    char text[UNITS_MAX];

    figure(figures, ROLE_NORMAL, _("Total %s"),
           units_bytes(text, sizeof text, now->total_bytes, view->unit));
    if (!scene->process->ended) {
        /* TRANSLATORS: allocated in a second; short. */
        figure(figures, ROLE_NORMAL, _("Alloc %s"),
               units_rate(text, sizeof text,
                          report_rate(scene->process, rates->bytes_allocated),
                          view->unit));
        /* TRANSLATORS: freed in a second; short. */
        figure(figures, ROLE_NORMAL, _("Free %s"),
               units_rate(text, sizeof text,
                          report_rate(scene->process, rates->bytes_freed), view->unit));
    }
    snprintf(text, sizeof text, "%llu", (unsigned long long)now->threads);
    figure(figures, ROLE_NORMAL, _("Threads %s"), text);
    if (scene->process->children > 0) {
        snprintf(text, sizeof text, "%u", scene->process->children);
        figure(figures, ROLE_NORMAL, _("Children %s"), text);
    }
    if (now->unmatched > 0)
        figure(figures, ROLE_WARN, _("Unmatched %s"),
               units_count_compact(text, sizeof text, now->unmatched));
}

static void
own_figures(struct overview_figures *figures, const struct view *view,
            const struct scene *scene)
{
    char text[2 * UNITS_MAX], rss[UNITS_MAX];

    if (!scene->own.known)
        return;
    snprintf(text, sizeof text, _("%.1f%% CPU, %s"), scene->own.cpu_percent,
             units_bytes(rss, sizeof rss, scene->own.rss, view->unit));
    figure(figures, ROLE_DIM, _("memtop itself: %s"), text);
}

static void
draw_totals(struct screen *screen, const struct view *view, const struct scene *scene)
{
    const struct rect *rect = &screen->layout.block[BLOCK_TOTALS];
    struct overview_figures figures = {screen,
                                       rect->row,
                                       rect->col + 1,
                                       rect->col + rect->cols,
                                       rect->cols < WIDE_COLS ? 2 : 3,
                                       false};
    const struct snapshot *now = &scene->process->now;
    char text[UNITS_MAX];
    uint64_t failed = failed_calls(now);

    canvas_clip(&screen->canvas, rect);
    if (rect->rows == 0)
        return;
    if (process_knows(scene->process, PART_COUNTERS)) {
        if (scene->mark != NULL)
            since_figure(&figures, view, scene);
        /* TRANSLATORS: blocks on the heap that are not freed yet */
        figure(&figures, ROLE_NORMAL,
               ngettext("Live %s block", "Live %s blocks", now->live_blocks),
               units_count(text, sizeof text, now->live_blocks));
        if (failed > 0)
            figure(&figures, ROLE_BAD, _("Failed calls %s"),
                   units_count_compact(text, sizeof text, failed));
    }
    kernel_figures(&figures, view, scene);
    if (process_knows(scene->process, PART_COUNTERS))
        counter_figures(&figures, view, scene);
    own_figures(&figures, view, scene);
}

/* Column of the values: after the longest label, so that all values are aligned. */
static int
brief_values_col(void)
{
    const char *const labels[] = { _("heap"), _("peak"),  _("mark"), _("live"),
                                   _("state"), _("stack"), _("time") };
    int widest = 5;

    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if ((int)text_columns(labels[i]) > widest)
            widest = (int)text_columns(labels[i]);
    return widest + 1;
}

static void
brief_line(struct screen *screen, int line, const char *label, enum role role,
           const char *value)
{
    const struct rect *rect = &screen->layout.block[BLOCK_BRIEF];
    int used = brief_values_col();

    if (line >= rect->rows)
        return;
    canvas_put(&screen->canvas, rect->row + line, rect->col, rect->cols, ROLE_NORMAL,
               label);
    canvas_put(&screen->canvas, rect->row + line, rect->col + used, rect->cols - used,
               role, value);
}

/* Puts the state at the right of the first line with room for it.  Returns false if
   there is none; the state then needs its own line. */
static bool
brief_state(struct screen *screen, const struct view *view, const struct scene *scene,
            int lines)
{
    const struct rect *rect = &screen->layout.block[BLOCK_BRIEF];
    char state[64];
    int columns;

    view_state(state, sizeof state, view, scene);
    columns = (int)text_columns(state);
    for (int line = 0; line < lines && line < rect->rows; line++) {
        int row = rect->row + line;
        int col = rect->col + rect->cols - columns;

        if (canvas_is_blank(&screen->canvas, row, col - 1, columns + 1)) {
            canvas_put(&screen->canvas, row, col, columns, state_role(view, scene),
                       state);
            return true;
        }
    }
    return false;
}

static void
draw_brief(struct screen *screen, const struct view *view, const struct scene *scene)
{
    const struct rect *rect = &screen->layout.block[BLOCK_BRIEF];
    const struct process *process = scene->process;
    const struct snapshot *now = &process->now;
    char text[UNITS_MAX], state[64];
    int line = 0;

    canvas_clip(&screen->canvas, rect);
    if (rect->rows == 0)
        return;
    if (process->measured)
        brief_line(screen, line++, _("heap"), ROLE_VALUE,
                   units_bytes(text, sizeof text, now->live_bytes, view->unit));
    else
        view_not_measured(screen, scene, rect->row + line++, rect->col, rect->cols);
    if (process->measured) {
        brief_line(screen, line++, _("peak"), ROLE_NORMAL,
                   units_bytes(text, sizeof text, view_peak(view, scene), view->unit));
        if (scene->mark != NULL) {
            const struct amount heap = { now->live_bytes, scene->mark->now.live_bytes,
                                         true };

            /* TRANSLATORS: set by the user at a moment, to see changes since. */
            brief_line(screen, line++, _("mark"), ROLE_VALUE,
                       amount_bytes(text, sizeof text, &heap, view->unit));
        }
        if (process_knows(process, PART_COUNTERS))
            brief_line(screen, line++, _("live"), ROLE_NORMAL,
                       units_count(text, sizeof text, now->live_blocks));
    }
    if (!process->measured || !brief_state(screen, view, scene, line)) {
        /* The state is more important than the number of blocks. */
        if (line >= rect->rows && rect->rows > 2)
            line = rect->rows - 1;
        canvas_field(&screen->canvas, rect->row + line, rect->col, rect->cols, TEXT_LEFT,
                     ROLE_NORMAL, "");
        view_state(state, sizeof state, view, scene);
        brief_line(screen, line++, _("state"), state_role(view, scene), state);
    }
    if (process->os_known)
        brief_line(screen, line++, _("RSS"), ROLE_NORMAL,
                   units_bytes(text, sizeof text, process->os.rss, view->unit));
    if (process->measured)
        brief_line(screen, line++, _("stack"), ROLE_NORMAL,
                   units_bytes(text, sizeof text,
                               report_stack(scene->process, now->stack_peak),
                               view->unit));
    brief_line(screen, line++, _("time"), ROLE_NORMAL,
               view_time(text, sizeof text, process, process->run_ns));
}

static void
draw_graphs(struct screen *screen, const struct view *view, const struct scene *scene)
{
    const struct rect *blocks = screen->layout.block;
    bool measured = scene->process->measured || scene->process->state == STATE_STARTING;
    const struct chart heap = { SERIES_HEAP, _("Heap"), ROLE_HEAP, true };
    const struct chart rss = { SERIES_RSS, _("Resident memory (RSS)"), ROLE_HEAP, true };
    const struct chart stack = { SERIES_STACK, _("Stack"), ROLE_STACK, true };
    const struct chart rate = { SERIES_CALLS, _("Calls per second"), ROLE_RATE, true };

    chart_draw(screen, view, scene, &blocks[BLOCK_HEAP], measured ? &heap : &rss);
    if (blocks[BLOCK_STACK].rows == 1)
        chart_sparkline(screen, view, scene, &blocks[BLOCK_STACK]);
    else
        chart_draw(screen, view, scene, &blocks[BLOCK_STACK], &stack);
    chart_draw(screen, view, scene, &blocks[BLOCK_RATE], &rate);
}

static void
draw(struct screen *screen, const struct view *view, const struct scene *scene)
{
    const struct rect *blocks = screen->layout.block;

    draw_gauge(screen, view, scene);
    draw_totals(screen, view, scene);
    draw_brief(screen, view, scene);
    draw_graphs(screen, view, scene);
    view_calls_block(screen, view, scene, &blocks[BLOCK_CALLS]);
    view_sizes_block(screen, view, scene, &blocks[BLOCK_SIZES]);
    if (blocks[BLOCK_OUTPUT].rows > 0)
        view_output_block(screen, view, scene, &blocks[BLOCK_OUTPUT], 0);
}

const struct page_def page_overview = {
    .draw = draw,
    .layout = layout_overview,
};
