/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the mouse does; keys can do all of it.  A click on a key in the footer acts as
 * that key, a click on a title shows its page, and a click in a graph sets the cursor
 * there.  The wheel scrolls; on the overview it zooms.
 */
#include "config.h"

#include "tui/state.h"

#include "base/i18n.h"
#include "tui/term.h"

#define WHEEL_LINES 3

void
mouse_switch(struct app *app)
{
    bool on = !app->mouse;

    if (!term_mouse(on)) {
        app_ack(app, "%s", _("This terminal does not report a mouse"));
        return;
    }
    app->mouse = on;
    app_ack(app, "%s",
            on ? _("Mouse on; m gives it back to the terminal") : _("Mouse off"));
}

static void
wheel(struct app *app, bool up)
{
    if (app->view.page == PAGE_OVERVIEW)
        command_perform(app, up ? ACTION_ZOOM_IN : ACTION_ZOOM_OUT);
    else
        command_scroll(app, up ? -WHEEL_LINES : WHEEL_LINES);
}

/* Run time at the middle of the column. */
static int64_t
moment_at(const struct hit *hit, int col)
{
    double part = ((double)(col - hit->rect.col) + 0.5) / hit->rect.cols;

    return hit->from_ns + (int64_t)(part * (double)(hit->to_ns - hit->from_ns));
}

static void
click(struct app *app)
{
    const struct hit *hit;
    int row, col;

    term_mouse_place(&row, &col);
    hit = picture_hit_at(&app->screen, row, col);
    if (hit == NULL)
        return;
    if (hit->action == ACTION_NONE)
        cursor_to(app, moment_at(hit, col));
    else if (hit->action == ACTION_ROW)
        pages_def(app->view.page)->click(app, row - hit->rect.row);
    else if (hit->action == ACTION_VIEW)
        command_show_page(app, hit->page);
    else
        command_perform(app, hit->action);
}

bool
mouse_input(struct app *app, int input)
{
    bool in_the_way = app->question != QUESTION_NONE || app->view.help > 0;

    if (input < INPUT_CLICK || input > INPUT_MOUSE)
        return false;
    if (in_the_way || input == INPUT_MOUSE)
        return true;
    if (input == INPUT_CLICK)
        click(app);
    else
        wheel(app, input == INPUT_WHEEL_UP);
    return true;
}
