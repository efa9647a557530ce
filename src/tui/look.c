/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keys that change how things are shown: pause, mark, scales, graphs, units and the
 * interval.
 */
#include "config.h"

#include "tui/state.h"

#include <string.h>

#include "base/i18n.h"
#include "tui/keys.h"

#define WINDOW_MIN_NS INT64_C(1000000000)

static void
pause_or_go_on(struct app *app)
{
    char time[UNITS_MAX];

    app->view.paused = !app->view.paused;
    session_hold(app->session, app->view.paused);
    if (!app->view.paused) {
        app_ack(app, "%s", _("The picture is live again"));
        return;
    }
    app->frozen = *app_shown(app);
    /* Threads belong to the paused screen, too. */
    app->threads_asked = true;
    app_ack(app, _("Paused at %s; collecting continues"),
            units_duration(time, sizeof time, app->frozen.run_ns));
}

/* Keeps the threads of the mark; they are not known for the past. */
static void
mark_threads(struct app *app)
{
    struct scene *scene = &app->scene;

    scene->mark_threads = NULL;
    if (app->view.history || scene->threads == NULL)
        return;
    memcpy(app->mark_threads, app->threads, sizeof app->mark_threads);
    scene->mark_threads = app->mark_threads;
    scene->mark_thread_count =
        scene->thread_count < THREADS_MAX ? scene->thread_count : THREADS_MAX;
}

void
look_set_mark(struct app *app)
{
    const struct process *process = app->scene.process;
    char heap[UNITS_MAX];

    if (!process_knows(process, PART_COUNTERS)) {
        app_ack(app, "%s", process->measured ? _("No mark was set: calls were not "
                                                 "recorded")
                                             : _("No mark was set: nothing is measured"));
        return;
    }
    app->mark = (struct mark){ process->run_ns, process->generations, process->now,
                               process->sizes, process->breakdown };
    app->marked = true;
    mark_threads(app);
    if (session_shown(app->session)->profile != NULL)
        profile_set_mark(session_shown(app->session)->profile, process->run_ns);
    app_ack(app, _("Mark set: heap %s"),
            units_bytes(heap, sizeof heap, process->now.live_bytes, app->view.unit));
}

void
look_clear_mark(struct app *app, const char *why)
{
    app->marked = false;
    if (session_shown(app->session)->profile != NULL)
        profile_clear_mark(session_shown(app->session)->profile);
    app_ack(app, "%s", why);
}

static void
mark_or_clear(struct app *app)
{
    if (app->marked)
        look_clear_mark(app, _("Mark cleared"));
    else
        app->mark_asked = true;
}

void
look_set_interval(struct app *app, int64_t interval)
{
    const char *what = _("Interval %.2g s");

    if (interval < APP_INTERVAL_MIN_NS) {
        interval = APP_INTERVAL_MIN_NS;
        what = _("Interval %.2g s, the shortest");
    } else if (interval > APP_INTERVAL_MAX_NS) {
        interval = APP_INTERVAL_MAX_NS;
        what = _("Interval %.2g s, the longest");
    }
    app->interval_changed = interval != app->interval_ns;
    app->interval_ns = interval;
    app_ack(app, what, (double)interval / 1e9);
}

static void
sort_by_next(struct app *app)
{
    enum page page = app->view.page;
    struct sort *sort = &app->view.sort[page];
    const char *name = view_sort_column(page, ++sort->column);

    if (view_sort_column(page, 1) == NULL) {
        sort->column = 0;
        app_ack(app, "%s", _("There is no table to sort on this page"));
    } else if (name == NULL) {
        *sort = (struct sort){ 0, false };
        app_ack(app, "%s", _("In the usual order"));
    } else {
        /* TRANSLATORS: a column's name. */
        app_ack(app, _("Sorted by: %s"), name);
    }
}

static void
reverse(struct app *app)
{
    struct sort *sort = &app->view.sort[app->view.page];

    if (view_sort_column(app->view.page, 1) == NULL) {
        app_ack(app, "%s", _("There is no table to sort on this page"));
        return;
    }
    sort->reverse = !sort->reverse;
    app_ack(app, "%s", sort->reverse ? _("In reverse order") : _("No longer reversed"));
}

static void
reset_peak(struct app *app)
{
    struct view *view = &app->view;

    if (view->peak_from_ns > 0) {
        view->peak_from_ns = 0;
        app_ack(app, "%s", _("The peak of the whole run"));
    } else {
        view->peak_from_ns = app->scene.process->run_ns;
        app_ack(app, "%s", _("Peak reset; r again shows that of the run"));
    }
}

static void
change_window(struct app *app, int steps)
{
    int64_t window = graph_window_step(view_window(&app->view, &app->scene), steps);
    char text[UNITS_MAX];

    if (window < WINDOW_MIN_NS)
        window = WINDOW_MIN_NS;
    app->view.window_ns = window;
    memset(app->view.top, 0, sizeof app->view.top);
    if (app_shown(app)->missing & PART_CLOCK)
        view_time(text, sizeof text, app_shown(app), window);
    else
        units_offset(text, sizeof text, window);
    app_ack(app, _("The graphs show %s"), text);
}

static void
change_style(struct app *app)
{
    static const char *const names[GRAPH_STYLES] = {
        [GRAPH_BRAILLE] = N_("Graphs in braille"),
        [GRAPH_BLOCK] = N_("Graphs in blocks"),
        [GRAPH_ASCII] = N_("Graphs in ASCII"),
    };

    if (!app->screen.canvas.unicode) {
        app_ack(app, "%s", _("Only ASCII graphs are possible with this character set"));
        return;
    }
    app->view.style = (enum graph_style)((app->view.style + 1) % GRAPH_STYLES);
    app_ack(app, "%s", _(names[app->view.style]));
}

static void
change_unit(struct app *app)
{
    static const char *const names[] = {
        [UNIT_AUTO] = N_("Sizes in automatic units"),
        [UNIT_KIB] = N_("Sizes in KiB"),
        [UNIT_MIB] = N_("Sizes in MiB"),
        [UNIT_BYTES] = N_("Sizes in bytes"),
    };

    app->view.unit = units_next(app->view.unit);
    app_ack(app, "%s", _(names[app->view.unit & ~(unsigned)UNIT_SI]));
}

bool
look_perform(struct app *app, enum action action)
{
    struct view *view = &app->view;

    switch (action) {
    case ACTION_LOG:
        view->log = !view->log;
        memset(view->top, 0, sizeof view->top);
        app_ack(app, "%s", view->log ? _("Logarithmic scale") : _("Linear scale"));
        break;
    case ACTION_STYLE:
        change_style(app);
        break;
    case ACTION_UNIT:
        change_unit(app);
        break;
    case ACTION_ZOOM_OUT:
        change_window(app, 1);
        break;
    case ACTION_ZOOM_IN:
        change_window(app, -1);
        break;
    case ACTION_FASTER:
        look_set_interval(app, app->interval_ns / 2);
        break;
    case ACTION_SLOWER:
        look_set_interval(app, app->interval_ns * 2);
        break;
    case ACTION_SORT:
        sort_by_next(app);
        break;
    case ACTION_REVERSE:
        reverse(app);
        break;
    case ACTION_RESET_PEAK:
        reset_peak(app);
        break;
    case ACTION_PAUSE:
        pause_or_go_on(app);
        break;
    case ACTION_MARK:
        mark_or_clear(app);
        break;
    default:
        return false;
    }
    return true;
}
