/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What keys do.  Every key that changes something says so in the message line;
 * what cannot be done says why.  Questions are answered in the message line too
 * and Esc leaves them.
 */
#include "config.h"

#include "tui/state.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "i18n.h"
#include "tui/keys.h"
#include "tui/term.h"

#define INTERVAL_MIN_NS INT64_C(100000000)
#define INTERVAL_MAX_NS INT64_C(60000000000)
#define TWICE_NS        INT64_C(2000000000)
#define WINDOW_MIN_NS   INT64_C(1000000000)
#define SHORT_BELOW_COLS 66
#define FAR_STEPS       10
#define END_INTERACTING 0x1d   /* ^] */

static bool
running(const struct app *app)
{
    return !session_process(app->session)->ended;
}

/* ---- leaving ---- */

static void
leave(struct app *app, enum tui_outcome outcome)
{
    app->outcome = outcome;
    app->done = true;
}

void
command_quit(struct app *app)
{
    if (!running(app) || app->launched == NULL)
        leave(app, TUI_ENDED);
    else if (app->options->on_quit == TUI_ON_QUIT_LEAVE)
        leave(app, TUI_LEFT);
    else if (app->options->on_quit == TUI_ON_QUIT_KILL)
        target_end(app);
    else
        app->question = QUESTION_QUIT;
}

static void
answer_quit(struct app *app, int input)
{
    switch (keys_latin(input)) {
    case 'k':
    case 'K':
        app->question = QUESTION_NONE;
        target_end(app);
        break;
    case 'l':
    case 'L':
        leave(app, TUI_LEFT);
        break;
    case INPUT_ESCAPE:
        app->question = QUESTION_NONE;
        break;
    default:
        break;
    }
}

/* ---- signals to the program ---- */

static void
send_typed_signal(struct app *app)
{
    int number = app->typed[0] != '\0' ? target_signal_number(app->typed) : SIGTERM;

    app->question = QUESTION_NONE;
    if (number < 0)
        app_ack(app, _("There is no signal '%s'"), app->typed);
    else if (!target_signal(app, number))
        app_ack(app, _("Signal not sent: %s"), strerror(errno));
    else
        app_ack(app, _("%s sent to %d"), process_signal_name(number),
                (int)session_process(app->session)->pid);
}

static void
answer_signal(struct app *app, int input)
{
    size_t length = strlen(app->typed);

    if (input == INPUT_ESCAPE || input == INPUT_CTRL('c'))
        app->question = QUESTION_NONE;
    else if (input == INPUT_ENTER)
        send_typed_signal(app);
    else if (input == INPUT_BACKSPACE && length > 0)
        app->typed[length - 1] = '\0';
    else if (input < 128 && isalnum(input) && length + 1 < sizeof app->typed) {
        app->typed[length] = (char)toupper(input);
        app->typed[length + 1] = '\0';
    }
}

const char *
command_question(const struct app *app, char *text, size_t size)
{
    switch (app->question) {
    case QUESTION_QUIT:
        return app->picture.canvas.cols >= SHORT_BELOW_COLS
                   ? _("The program is running: k kill it, l leave it running, Esc stay")
                   : _("k kill, l leave, Esc stay");
    case QUESTION_SIGNAL:
        snprintf(text, size, _("Signal to send (Enter for TERM, Esc none): %s_"),
                 app->typed);
        return text;
    default:
        return "";
    }
}

static void
ask_signal(struct app *app)
{
    if (!running(app)) {
        app_ack(app, "%s", _("The program has ended"));
        return;
    }
    app->question = QUESTION_SIGNAL;
    app->typed[0] = '\0';
}

static void
stop_or_continue(struct app *app)
{
    bool stopped = session_process(app->session)->state == STATE_STOPPED;

    if (!target_signal(app, stopped ? SIGCONT : SIGSTOP))
        app_ack(app, "%s", running(app) ? strerror(errno) : _("The program has ended"));
    else
        app_ack(app, "%s", stopped ? _("The program continues")
                                   : _("The program is stopped; Z continues it"));
}

static void
interrupt(struct app *app)
{
    int64_t now = app_now();

    if (!running(app)
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

/* ---- the look ---- */

static void
change_page(struct app *app, int page)
{
    app->view.page = (enum page)((page + PAGE_COUNT) % PAGE_COUNT);
    app->view.scroll = 0;
    app->threads_asked = app->view.page == PAGE_THREADS && !app->view.paused;
}

static void
pause_or_go_on(struct app *app)
{
    char time[UNITS_MAX];

    app->view.paused = !app->view.paused;
    if (!app->view.paused) {
        app_ack(app, "%s", _("The picture is live again"));
        return;
    }
    app->frozen = *session_process(app->session);
    app->threads_asked = true;   /* they belong to the picture too */
    app_ack(app, _("Paused at %s; collecting continues"),
            units_duration(time, sizeof time, app->frozen.run_ns));
}

void
command_set_mark(struct app *app)
{
    const struct process *process = app->scene.process;
    char heap[UNITS_MAX];

    if (!process->measured) {
        app_ack(app, "%s", _("No mark: nothing is measured"));
        return;
    }
    app->mark = (struct mark){ process->run_ns, process->generations, process->now,
                               process->sizes };
    app->marked = true;
    app_ack(app, _("Mark set: heap %s"),
            units_bytes(heap, sizeof heap, process->now.live_bytes, app->view.unit));
}

void
command_clear_mark(struct app *app, const char *why)
{
    app->marked = false;
    app_ack(app, "%s", why);
}

static void
mark_or_clear(struct app *app)
{
    if (app->marked)
        command_clear_mark(app, _("Mark cleared"));
    else
        app->mark_asked = true;
}

static void
change_interval(struct app *app, bool longer)
{
    int64_t interval = longer ? app->interval_ns * 2 : app->interval_ns / 2;

    if (interval < INTERVAL_MIN_NS)
        interval = INTERVAL_MIN_NS;
    if (interval > INTERVAL_MAX_NS)
        interval = INTERVAL_MAX_NS;
    app->interval_changed = interval != app->interval_ns;
    app->interval_ns = interval;
    /* TRANSLATORS: seconds */
    app_ack(app, _("Interval %.2g s"), (double)interval / 1e9);
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
    app_ack(app, _("The graphs show %s"), units_offset(text, sizeof text, window));
}

static void
change_style(struct app *app)
{
    static const char *const names[GRAPH_STYLES] = {
        [GRAPH_BRAILLE] = N_("Graphs in braille"),
        [GRAPH_BLOCK] = N_("Graphs in blocks"),
        [GRAPH_ASCII] = N_("Graphs in ASCII"),
    };

    if (!app->picture.canvas.unicode) {
        app_ack(app, "%s", _("Only ASCII graphs here: the character set has no other"));
        return;
    }
    app->view.style = (enum graph_style)((app->view.style + 1) % GRAPH_STYLES);
    app_ack(app, "%s", _(names[app->view.style]));
}

static void
change_unit(struct app *app)
{
    static const char *const names[] = {
        [UNIT_AUTO] = N_("Sizes in fitting units"),
        [UNIT_KIB] = N_("Sizes in KiB"),
        [UNIT_MIB] = N_("Sizes in MiB"),
        [UNIT_BYTES] = N_("Sizes in bytes"),
    };

    app->view.unit = units_next(app->view.unit);
    app_ack(app, "%s", _(names[app->view.unit & ~(unsigned)UNIT_SI]));
}

static void
scroll_by(struct app *app, int lines)
{
    struct view *view = &app->view;
    int limit = view_scroll_limit(&app->picture, view, &app->scene);

    /* Pages that rest at their end count back from there. */
    if (view->page == PAGE_OUTPUT || view->page == PAGE_MESSAGES)
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
    } else if (app->capture == NULL || !running(app)
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
    int page = app->picture.layout.block[BLOCK_BODY].rows - 2;

    if (page < 1)
        page = 1;
    switch (action) {
    case ACTION_UP:
        scroll_by(app, -1);
        break;
    case ACTION_DOWN:
        scroll_by(app, 1);
        break;
    case ACTION_PAGE_UP:
        scroll_by(app, -page);
        break;
    case ACTION_PAGE_DOWN:
        scroll_by(app, page);
        break;
    case ACTION_HOME:
        scroll_by(app, -1000000);
        break;
    default:
        scroll_by(app, 1000000);
    }
}

/* Home and End are the history's where it is looked at, and on the overview. */
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
        ask_signal(app);
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
    default:
        break;
    }
}

static void
look_action(struct app *app, enum action action)
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
        change_interval(app, false);
        break;
    case ACTION_SLOWER:
        change_interval(app, true);
        break;
    case ACTION_PAUSE:
        pause_or_go_on(app);
        break;
    case ACTION_MARK:
        mark_or_clear(app);
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
        change_page(app, (int)app->view.page + 1);
        break;
    case ACTION_PREVIOUS_VIEW:
        change_page(app, (int)app->view.page - 1);
        break;
    case ACTION_OUTPUT:
        change_page(app, app->view.page == PAGE_OUTPUT ? PAGE_OVERVIEW : PAGE_OUTPUT);
        break;
    case ACTION_VIEW:
        if (view_page_of_digit(digit) != PAGE_COUNT)
            change_page(app, (int)view_page_of_digit(digit));
        break;
    case ACTION_CANCEL:
        if (app->view.history)
            cursor_leave(app);
        else
            change_page(app, PAGE_OVERVIEW);
        break;
    default:
        break;
    }
}

static void
perform(struct app *app, enum action action, int digit)
{
    if (history_action(app, action))
        return;
    switch (action) {
    case ACTION_NONE:
        app_ack(app, "%s", _("Unknown key; ? shows the keys"));
        break;
    case ACTION_REDRAW:
        term_forget();
        break;
    case ACTION_SUSPEND:
        term_suspend();
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
        program_action(app, action);
        look_action(app, action);
        page_action(app, action, digit);
    }
}

/* Any key shows the next page of the help; after the last one, or by Esc and q,
   the help closes. */
static void
turn_help_page(struct app *app, enum action action)
{
    if (action == ACTION_CANCEL || action == ACTION_QUIT
        || ++app->view.help > view_help_pages(&app->picture))
        app->view.help = 0;
}

void
command_key(struct app *app, int input)
{
    int digit = 0;
    enum action action = keys_action(input, &digit);

    app->dirty = app->by_key = true;
    if (app->question == QUESTION_QUIT)
        answer_quit(app, input);
    else if (app->question == QUESTION_SIGNAL)
        answer_signal(app, input);
    else if (app->view.help > 0 && action != ACTION_REDRAW && action != ACTION_SUSPEND)
        turn_help_page(app, action);
    else if (input != INPUT_RESIZE)
        perform(app, action, digit);
}
