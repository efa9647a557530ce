/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cursor in the run's history.  It stands only on moments that were kept, never
 * between two, so that everything shown there was really measured.  The cursor shows a
 * copy of the moment, because the history may drop the moment meanwhile.
 */
#include "config.h"

#include "tui/state.h"

#include "base/i18n.h"
#include "monitor/checkpoints.h"

/* Run time of what the screen shows without the cursor. */
static int64_t
present(const struct app *app)
{
    return app->view.paused ? app->frozen.run_ns : app_shown(app)->run_ns;
}

static void
show(struct app *app, const struct checkpoints *checkpoints, size_t index)
{
    const struct tracked *shown = session_shown(app->session);
    int64_t first, last;

    app->past = shown->process;
    checkpoints_restore(checkpoints, index, &app->past);
    app->view.history = true;
    app->ack_ns = 0;
    /* The graphs stand still between moves. */
    if (!app->view.paused && history_span(shown->history, &first, &last))
        app->scene.shown_ns = last;
}

/* Finds the newest moment; reports it if there is none. */
static bool
find_newest(struct app *app, const struct checkpoints *checkpoints, size_t *newest)
{
    if (checkpoints_find(checkpoints, present(app), newest))
        return true;
    app_ack(app, "%s", _("Nothing has been recorded yet"));
    return false;
}

void
cursor_move(struct app *app, int steps)
{
    const struct checkpoints *checkpoints = session_shown(app->session)->checkpoints;
    int64_t moment = app->view.history ? app->past.run_ns : present(app);
    size_t newest, index;
    int64_t target;

    if (!find_newest(app, checkpoints, &newest))
        return;
    if (!app->view.history && steps > 0) {
        app_ack(app, "%s", _("This is the latest; Left looks back"));
        return;
    }
    if (!checkpoints_find(checkpoints, moment, &index) || index > newest)
        index = newest;
    target = (int64_t)index + steps;
    /* If the cursor is between two moments, the first step back leads to the earlier
       one. */
    if (steps < 0 && checkpoints_time(checkpoints, index) < moment)
        target++;
    if (target < 0 && index == 0) {
        app_ack(app, "%s", _("Nothing was recorded before"));
        return;
    }
    if (target < 0)
        target = 0;
    if (target > (int64_t)newest && index < newest)
        target = (int64_t)newest;
    /* Stepping beyond the newest moment returns to the present. */
    if (target > (int64_t)newest
        || checkpoints_time(checkpoints, (size_t)target) == present(app))
        cursor_leave(app);
    else
        show(app, checkpoints, (size_t)target);
}

void
cursor_first(struct app *app)
{
    const struct checkpoints *checkpoints = session_shown(app->session)->checkpoints;
    size_t newest;

    if (find_newest(app, checkpoints, &newest))
        show(app, checkpoints, 0);
}

void
cursor_to(struct app *app, int64_t run_ns)
{
    const struct checkpoints *checkpoints = session_shown(app->session)->checkpoints;
    size_t newest, index;

    if (!find_newest(app, checkpoints, &newest))
        return;
    if (!checkpoints_find(checkpoints, run_ns, &index))
        /* The time is before the first moment. */
        index = 0;
    if (index >= newest)
        index = newest;
    show(app, checkpoints, index);
}

void
cursor_leave(struct app *app)
{
    if (!app->view.history)
        return;
    app->view.history = false;
    app_ack(app, "%s", app->view.paused ? _("Back where the picture was paused")
                       : app_shown(app)->ended
                           ? _("Back at the end")
                           : _("The picture is live again"));
}
