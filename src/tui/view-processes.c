/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The page of processes: their tree and a summary.  The past is not recorded. */
#include "config.h"

#include "tui/state.h"

#include <stdio.h>

#include "base/i18n.h"
#include "monitor/tracked.h"
#include "tui/processes.h"

#define TITLE_COLS 20

struct processes
processes_of(const struct view *view, const struct scene *scene)
{
    return (struct processes){
        .process_list = session_processes(scene->session),
        .selected = view->selected != 0 ? view->selected : scene->process->pid,
        .followed = scene->process->pid,
        .scroll = view->scroll,
        .unit = view->unit,
        .sort = view->sort[PAGE_PROCESSES],
        .filter = view->process_filter,
    };
}

static void
draw(struct screen *screen, const struct view *view, const struct scene *scene)
{
    const struct rect *body = &screen->layout.block[BLOCK_BODY];
    const struct process_list *process_list = session_processes(scene->session);
    const struct processes processes = processes_of(view, scene);
    char sum[256] = "";
    struct rect list;

    if (process_list != NULL && !view->history && view->process_filter[0] != '\0')
        /* TRANSLATORS: two numbers of processes: those shown, and all */
        snprintf(sum, sizeof sum, _("%u of %u"), (unsigned)processes_count(&processes),
                 (unsigned)process_list_count(process_list));
    else if (process_list != NULL && !view->history)
        processes_sum(sum, sizeof sum, process_list, body->cols - TITLE_COLS, view->unit);
    list = view_page_title(screen, pages_title(PAGE_PROCESSES), sum);
    if (view->history)
        canvas_put(&screen->canvas, list.row, list.col + 1, list.cols - 1, ROLE_NORMAL,
                   _("The processes of the past are not recorded."));
    else if (process_list == NULL)
        canvas_put(&screen->canvas, list.row, list.col + 1, list.cols - 1, ROLE_NORMAL,
                   _("The processes were not recorded."));
    else if (list.rows > 0)
        processes_draw(&screen->canvas, &list, &processes);
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
