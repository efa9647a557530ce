/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The selection on the page of processes, and the process that all other pages show.
 * Pause, cursor, mark and scales belong to the process that was shown before, so showing
 * another one resets them.
 */
#include "config.h"

#include "tui/state.h"

#include <errno.h>
#include <string.h>

#include "base/i18n.h"
#include "tui/processes.h"

void
follow_step(struct app *app, int steps)
{
    const struct processes processes = processes_of(&app->view, &app->scene);
    int lines = table_room(view_page_rest(&app->screen).rows);

    if (processes.process_list != NULL)
        app->view.selected = processes_step(&processes, steps, lines, &app->view.scroll);
}

pid_t
follow_target(struct app *app)
{
    if (app->view.page != PAGE_PROCESSES || app->view.history)
        return app_shown(app)->pid;
    follow_step(app, 0);
    return app->view.selected != 0 ? app->view.selected : app_shown(app)->pid;
}

static void
forget_shown(struct app *app)
{
    struct view *view = &app->view;

    view->paused = view->history = false;
    session_hold(app->session, false);
    view->window_ns = view->peak_from_ns = 0;
    memset(view->top, 0, sizeof view->top);
    view->filter[0] = view->sizes_shown[0] = '\0';
    app->marked = app->mark_asked = false;
}

void
follow_selected(struct app *app)
{
    const struct process_list *process_list = session_processes(app->session);
    pid_t pid = follow_target(app);
    int error;

    if (app->view.page != PAGE_PROCESSES || process_list == NULL) {
        app_ack(app, "%s", _("Enter shows another process only on the processes page"));
        return;
    }
    if (app->view.history) {
        app_ack(app, "%s", _("Another process can be shown only in the present; Esc "
                             "returns there"));
        return;
    }
    error = session_show(app->session, pid);
    if (error < 0) {
        app_ack(app, error == -ENOENT
                         ? _("Process %d has ended, and its counters are not kept")
                     : error == -ENODATA ? _("Nothing more was recorded of process %d")
                                         : _("Process %d cannot be shown"),
                (int)pid);
        return;
    }
    forget_shown(app);
    app_prepare(app);
    app_refresh(app);
    command_show_page(app, PAGE_OVERVIEW);
    app_ack(app, _("Process %d is shown"), (int)pid);
}
