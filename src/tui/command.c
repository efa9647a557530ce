/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What keys do.  Every key that changes something reports that on the message line; if
 * something cannot be done, the message says why.
 */
#include "config.h"

#include "tui/state.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/i18n.h"
#include "tui/keys.h"
#include "tui/term.h"

#define TWICE_NS  INT64_C(2000000000)
#define FAR_STEPS       10
#define END_INTERACTING 0x1d   /* ^] */

void
command_leave(struct app *app, enum tui_outcome outcome)
{
    app->outcome = outcome;
    app->done = true;
}

void
command_quit(struct app *app)
{
    if (!app_running(app) || app->launched == NULL)
        command_leave(app, TUI_ENDED);
    else if (app->options->attached)
        command_leave(app, TUI_LEFT);
    else if (app->options->on_quit == TUI_ON_QUIT_LEAVE)
        command_leave(app, TUI_LEFT);
    else if (app->options->on_quit == TUI_ON_QUIT_KILL)
        target_end(app);
    else
        app->question = QUESTION_QUIT;
}

static void
stop_or_continue(struct app *app)
{
    const pid_t pid = follow_target(app);
    const bool root = pid == session_process(app->session)->pid;
    const bool stopped = target_stopped(app, pid);

    if (!target_send(app, pid, stopped ? SIGCONT : SIGSTOP))
        app_ack(app, "%s",
                target_lives(app, pid) ? strerror(errno) : target_ended_text(app, pid));
    else if (root)
        app_ack(app, "%s", stopped ? _("The program continues")
                                   : _("The program is stopped; Z continues it"));
    else
        app_ack(app, stopped ? _("Process %d continues")
                             : _("Process %d is stopped; Z continues it"),
                (int)pid);
}

static void
interrupt(struct app *app)
{
    int64_t now = app_now();

    if (!app_running(app) || app->options->attached
        || (app->interrupted_ns != 0 && now - app->interrupted_ns < TWICE_NS)) {
        command_quit(app);
        return;
    }
    app->interrupted_ns = now;
    if (target_interrupt(app))
        app_ack(app, "%s", _("Interrupt sent to the program; ^C again quits"));
    else
        app_ack(app, _("Interrupt not sent: %s; ^C again quits"), strerror(errno));
}

void
command_show_page(struct app *app, enum page page)
{
    const unsigned reads = pages_def(page)->reads;

    app->view.page = page;
    app->view.scroll = 0;
    app->say_again = true;
    app->threads_asked |= (reads & PAGE_READS_THREADS) && !app->view.paused;
    app->sites_stale = true;
    app->sample_asked =
        (reads & (PAGE_READS_BANDS | PAGE_READS_FIGURES | PAGE_READS_PROFILE))
        && !app->view.paused && !app->view.history;
}

void
command_scroll(struct app *app, int lines)
{
    struct view *view = &app->view;
    const struct page_def *page = pages_def(view->page);
    int limit = view_scroll_limit(&app->screen, view, &app->scene);

    if (page->scroll != NULL && page->scroll(app, lines))
        return;
    /* These pages count lines back from their end. */
    if (page->at_end)
        lines = -lines;
    view->scroll += lines;
    if (view->scroll > limit)
        view->scroll = limit;
    if (view->scroll < 0)
        view->scroll = 0;
}

static void
start_interacting(struct app *app)
{
    if (app->view.page != PAGE_OUTPUT) {
        app_ack(app, "%s",
                _("Keys go to the program from the output page: press o, then i"));
    } else if (app->capture == NULL || !app_running(app)
               || (app->launched != NULL && !app->launched->captured[0])) {
        app_ack(app, "%s", _("The program does not read from this terminal"));
    } else {
        app->view.interacting = true;
        app->view.scroll = 0;
    }
}

void
command_interact(struct app *app)
{
    char bytes[512];
    size_t count = term_read_raw(bytes, sizeof bytes);
    char *end = memchr(bytes, END_INTERACTING, count);

    if (end != NULL) {
        app->view.interacting = false;
        app->dirty = app->by_key = true;
        count = (size_t)(end - bytes);
    }
    if (count > 0 && capture_write(app->capture, bytes, count) < count)
        app_ack(app, "%s", _("The program does not take keys now; some are lost"));
}

/* ---- the table's actions ---- */

static void
scroll_action(struct app *app, enum action action)
{
    int page = view_page_rest(&app->screen).rows - 1;

    if (page < 1)
        page = 1;
    switch (action) {
    case ACTION_UP:
        command_scroll(app, -1);
        break;
    case ACTION_DOWN:
        command_scroll(app, 1);
        break;
    case ACTION_PAGE_UP:
        command_scroll(app, -page);
        break;
    case ACTION_PAGE_DOWN:
        command_scroll(app, page);
        break;
    case ACTION_HOME:
        command_scroll(app, -1000000);
        break;
    default:
        command_scroll(app, 1000000);
    }
}

/* Home and End move in the history if the history is shown, or on the overview;
   otherwise they scroll. */
static bool
history_action(struct app *app, enum action action)
{
    bool everywhere = app->view.history || app->view.page == PAGE_OVERVIEW;

    if (action == ACTION_BACK)
        cursor_move(app, -1);
    else if (action == ACTION_FORTH)
        cursor_move(app, 1);
    else if (action == ACTION_FAR_BACK)
        cursor_move(app, -FAR_STEPS);
    else if (action == ACTION_FAR_FORTH)
        cursor_move(app, FAR_STEPS);
    else if (action == ACTION_HOME && everywhere)
        cursor_first(app);
    else if (action == ACTION_END && everywhere)
        cursor_leave(app);
    else
        return false;
    return true;
}

static void
program_action(struct app *app, enum action action)
{
    switch (action) {
    case ACTION_QUIT:
        command_quit(app);
        break;
    case ACTION_INTERRUPT:
        interrupt(app);
        break;
    case ACTION_STOP:
        stop_or_continue(app);
        break;
    case ACTION_SIGNAL:
        prompt_ask(app, QUESTION_SIGNAL);
        break;
    case ACTION_ASK_INTERVAL:
        prompt_ask(app, QUESTION_INTERVAL);
        break;
    case ACTION_FOLLOW:
        follow_selected(app);
        break;
    case ACTION_SEARCH:
        find_ask(app);
        break;
    case ACTION_NEXT_MATCH:
        find_next(app, true);
        break;
    case ACTION_PREVIOUS_MATCH:
        find_next(app, false);
        break;
    case ACTION_INTERACT:
        start_interacting(app);
        break;
    case ACTION_SAVE_TEXT:
        save_text(app);
        break;
    case ACTION_SAVE_JSON:
        save_json(app);
        break;
    case ACTION_SAVE_PICTURE:
        save_picture(app);
        break;
    case ACTION_SAVE_BLOCKS:
        save_blocks(app);
        break;
    case ACTION_SAVE_SESSION:
        save_session(app);
        break;
    case ACTION_EXPORT:
        prompt_ask(app, QUESTION_EXPORT);
        break;
    default:
        break;
    }
}

static void
page_action(struct app *app, enum action action, int digit)
{
    switch (action) {
    case ACTION_HELP:
        app->view.help = 1;
        break;
    case ACTION_NEXT_VIEW:
        command_show_page(app, pages_next(app->view.page, 1));
        break;
    case ACTION_PREVIOUS_VIEW:
        command_show_page(app, pages_next(app->view.page, -1));
        break;
    case ACTION_OUTPUT:
        command_show_page(app, app->view.page == PAGE_OUTPUT ? PAGE_OVERVIEW
                                                            : PAGE_OUTPUT);
        break;
    case ACTION_VIEW:
        if (view_page_of_digit(digit) < pages_count())
            command_show_page(app, view_page_of_digit(digit));
        break;
    case ACTION_CANCEL:
        if (app->view.history)
            cursor_leave(app);
        else
            command_show_page(app, PAGE_OVERVIEW);
        break;
    default:
        break;
    }
}

/* These actions need a running program, which a saved session does not have. */
static bool
needs_program(enum action action)
{
    return action == ACTION_PAUSE || action == ACTION_FASTER || action == ACTION_SLOWER
           || action == ACTION_ASK_INTERVAL || action == ACTION_STOP
           || action == ACTION_SIGNAL || action == ACTION_INTERACT;
}

static bool
key_of_page(struct app *app, enum action action)
{
    const struct page_def *page = pages_def(app->view.page);

    return page->key != NULL && page->key(app, action);
}

static void
perform(struct app *app, enum action action, int digit)
{
    if (session_saved(app->session) != NULL && needs_program(action)) {
        app_ack(app, "%s", _("This is a saved session: its program is not running"));
        return;
    }
    if (history_action(app, action) || key_of_page(app, action))
        return;
    switch (action) {
    case ACTION_NONE:
        app_ack(app, "%s", _("Unknown key; ? shows the keys"));
        break;
    case ACTION_REDRAW:
        term_forget();
        app->say_again = true;
        break;
    case ACTION_SUSPEND:
        term_suspend();
        break;
    case ACTION_MOUSE:
        mouse_switch(app);
        break;
    case ACTION_UP:
    case ACTION_DOWN:
    case ACTION_PAGE_UP:
    case ACTION_PAGE_DOWN:
    case ACTION_HOME:
    case ACTION_END:
        scroll_action(app, action);
        break;
    default:
        if (look_perform(app, action) || sites_perform(app, action))
            return;
        program_action(app, action);
        page_action(app, action, digit);
    }
}

void
command_perform(struct app *app, enum action action)
{
    perform(app, action, 0);
}

/* Any key shows the next page of the help; after the last one, or by Esc and q,
   the help closes. */
static void
turn_help_page(struct app *app, enum action action)
{
    if (action == ACTION_CANCEL || action == ACTION_QUIT
        || ++app->view.help > view_help_pages(&app->screen))
        app->view.help = 0;
}

void
command_key(struct app *app, int input)
{
    int digit = 0;
    enum action action = keys_action(input, &digit);

    app->dirty = app->by_key = app->sites_stale = true;
    if (mouse_input(app, input))
        return;
    if (input != INPUT_RESIZE)
        app->ack_ns = 0;
    if (prompt_key(app, input))
        return;
    if (app->view.help > 0 && action != ACTION_REDRAW && action != ACTION_SUSPEND)
        turn_help_page(app, action);
    else if (input != INPUT_RESIZE)
        perform(app, action, digit);
}
