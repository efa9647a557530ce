/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The search: through lines of the output, from the newest up.  Output lines are
 * identified by their number, because their positions change while the program prints.
 */
#include "config.h"

#include "tui/state.h"

#include <stdio.h>
#include <string.h>

#include "base/i18n.h"
#include "system/capture.h"

void
find_ask(struct app *app)
{
    const struct page_def *page = pages_def(app->view.page);

    if (page->find != NULL && (page->find != find_output || app->capture != NULL))
        prompt_ask(app, QUESTION_SEARCH);
    else
        app_ack(app, "%s", _("Nothing to search here; o shows what the program printed"));
}

static bool
matches(const struct app *app, int index)
{
    char text[OUTPUT_TEXT_MAX];
    int col = 0, cols;

    view_output_text(&app->scene, index, text, sizeof text);
    return search_text(text, app->view.search, &col, &cols);
}

/* The first line from index on that matches; < 0: none. */
static int
walk(const struct app *app, int index, int step)
{
    int lines = view_output_lines(&app->scene);

    while (index >= 0 && index < lines) {
        if (matches(app, index))
            return index;
        index += step;
    }
    return -1;
}

/* Scrolls until the line is in the middle, unless it is visible already. */
static void
reveal(struct app *app, int index)
{
    int rows = view_page_rest(&app->screen).rows;
    int lines = view_output_lines(&app->scene);
    int limit = view_scroll_limit(&app->screen, &app->view, &app->scene);
    int below = lines - app->view.scroll;   /* first line below the screen */

    if (index < below && index >= below - rows)
        return;
    app->view.scroll = lines - index - rows / 2 - 1;
    if (app->view.scroll > limit)
        app->view.scroll = limit;
    if (app->view.scroll < 0)
        app->view.scroll = 0;
}

static void
stand_at(struct app *app, int index)
{
    app->view.found_any = true;
    app->view.found = capture_lines_dropped(app->capture) + (uint64_t)index;
    reveal(app, index);
}

static void
tell_count(struct app *app)
{
    int lines = view_output_lines(&app->scene);
    int count = 0;

    for (int i = 0; i < lines; i++)
        count += matches(app, i);
    app_ack(app,
            ngettext("%d line found; n and N go to the next one",
                     "%d lines found; n and N go to the next one", (unsigned)count),
            count);
}

static void
find_in_output(struct app *app)
{
    /* Start where the user reads: at the last line shown. */
    int from = view_output_lines(&app->scene) - app->view.scroll - 1;
    int index = walk(app, from, -1);

    if (index < 0)
        index = walk(app, from + 1, 1);
    if (index < 0) {
        app_ack(app, _("'%s' is not in the output"), app->view.search);
        return;
    }
    stand_at(app, index);
    tell_count(app);
}

static void
tell_nothing_is_searched(struct app *app, const char *text)
{
    if (text[0] == '\0')
        app_ack(app, "%s", _("The search is off"));
}

void
find_output(struct app *app, const char *text)
{
    struct view *view = &app->view;

    snprintf(view->search, sizeof view->search, "%s", text);
    view->found_any = false;
    if (text[0] != '\0')
        find_in_output(app);
    tell_nothing_is_searched(app, text);
}

void
find_filter(struct app *app, char *filter, const char *text)
{
    snprintf(filter, SEARCH_MAX, "%s", text);
    app->view.scroll = 0;
    tell_nothing_is_searched(app, text);
}

void
find_next(struct app *app, bool up)
{
    const struct view *view = &app->view;
    int index;

    if (view->search[0] == '\0' || !view->found_any || view->page != PAGE_OUTPUT) {
        app_ack(app, "%s", _("There is no search; / on the output page starts one"));
        return;
    }
    index = (int)((int64_t)view->found - (int64_t)capture_lines_dropped(app->capture));
    if (index < 0)
        index = 0;
    index = walk(app, index + (up ? -1 : 1), up ? -1 : 1);
    if (index >= 0)
        stand_at(app, index);
    else
        app_ack(app, "%s", up ? _("No more matches above") : _("No more matches below"));
}
