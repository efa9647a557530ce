/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The page of processes: the tree, and its sum.  Of the past it is not recorded. */
#include "config.h"

#include "tui/state.h"

#include <stdio.h>

#include "base/i18n.h"
#include "monitor/subject.h"
#include "tui/processes.h"

#define TITLE_COLS 20

struct processes
processes_of(const struct view *view, const struct scene *scene)
{
    return (struct processes){
        .roster = session_roster(scene->session),
        .selected = view->selected != 0 ? view->selected : scene->process->pid,
        .followed = scene->process->pid,
        .scroll = view->scroll,
        .unit = view->unit,
        .sort = view->sort[PAGE_PROCESSES],
        .filter = view->process_filter,
    };
}

static void
draw(struct picture *picture, const struct view *view, const struct scene *scene)
{
    const struct rect *body = &picture->layout.block[BLOCK_BODY];
    const struct roster *roster = session_roster(scene->session);
    const struct processes processes = processes_of(view, scene);
    char sum[256] = "";
    struct rect list;

    if (roster != NULL && !view->history && view->process_filter[0] != '\0')
        /* TRANSLATORS: so many of so many processes */
        snprintf(sum, sizeof sum, _("%u of %u"), (unsigned)processes_count(&processes),
                 (unsigned)roster_count(roster));
    else if (roster != NULL && !view->history)
        processes_sum(sum, sizeof sum, roster, body->cols - TITLE_COLS, view->unit);
    list = view_page_title(picture, pages_title(PAGE_PROCESSES), sum);
    if (view->history)
        canvas_put(&picture->canvas, list.row, list.col + 1, list.cols - 1, ROLE_NORMAL,
                   _("The processes of the past are not recorded."));
    else if (roster == NULL)
        canvas_put(&picture->canvas, list.row, list.col + 1, list.cols - 1, ROLE_NORMAL,
                   _("The processes were not recorded."));
    else if (list.rows > 0)
        processes_draw(&picture->canvas, &list, &processes);
}

static void
find(struct app *app, const char *text)
{
    find_filter(app, app->view.process_filter, text);
}

static bool
scroll(struct app *app, int lines)
{
    follow_step(app, lines);
    return true;
}

const struct page_def page_processes = {
    .title = N_("Processes"),
    .reads = PAGE_READS_FIGURES,
    .draw = draw,
    .table = &processes_table,
    .asks = N_("Processes called: %s_"),
    .find = find,
    .scroll = scroll,
};
