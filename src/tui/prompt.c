/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Questions on the message line and their answers.  Esc cancels a question; keys typed
 * as an answer are never commands.
 */
#include "config.h"

#include "tui/state.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/i18n.h"
#include "base/quantity.h"

#define SHORT_BELOW_COLS 66   /* narrower screens get shorter questions */

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
        command_leave(app, TUI_LEFT);
        break;
    case INPUT_ESCAPE:
        app->question = QUESTION_NONE;
        break;
    default:
        break;
    }
}

static void
answer_export(struct app *app, int input)
{
    static const char letters[] = "fpmj"; /* in the order of enum siteexport_format */
    int letter = keys_latin(input);
    const char *found = letter > 0 && letter < 128 ? strchr(letters, letter) : NULL;

    if (found == NULL && input != INPUT_ESCAPE && input != INPUT_CTRL('c'))
        return;
    app->question = QUESTION_NONE;
    if (found != NULL)
        save_sites(app, (enum siteexport_format)(found - letters));
}

/* ---- typing ---- */

static void
take_back(struct app *app)
{
    size_t length = strlen(app->typed);

    /* Removes all bytes of the character. */
    while (length > 0 && ((unsigned char)app->typed[--length] & 0xc0) == 0x80)
        ;
    app->typed[length] = '\0';
}

static void
add_character(struct app *app, int input)
{
    size_t length = strlen(app->typed);
    char bytes[MB_LEN_MAX];
    mbstate_t state = {0};
    size_t count = wcrtomb(bytes, (wchar_t)input, &state);

    if (count == (size_t)-1 || length + count >= sizeof app->typed)
        return;
    memcpy(app->typed + length, bytes, count);
    app->typed[length + count] = '\0';
}

/* May this character be part of the answer? */
static bool
may_be_typed(enum question question, int input)
{
    if (input < ' ' || input >= INPUT_SPECIAL || input == 0x7f)
        return false;
    if (question == QUESTION_SIGNAL)
        return input < 128 && isalnum(input);
    if (question == QUESTION_INTERVAL)
        return (input >= '0' && input <= '9') || input == '.' || input == ',';
    return true;
}

/* ---- handling the answer ---- */

static void
answer_signal(struct app *app)
{
    int number = app->typed[0] != '\0' ? target_signal_number(app->typed) : SIGTERM;

    if (number < 0)
        app_ack(app, _("There is no signal '%s'"), app->typed);
    else if (!target_send(app, app->signal_pid, number))
        app_ack(app, _("Signal not sent: %s"), strerror(errno));
    else
        app_ack(app, _("%s sent to %d"), process_signal_name(number),
                (int)app->signal_pid);
}

static void
answer_interval(struct app *app)
{
    int64_t interval;

    if (app->typed[0] == '\0')
        return;
    if (quantity_seconds(app->typed, &interval))
        look_set_interval(app, interval);
    else
        app_ack(app, _("'%s' is not a number of seconds"), app->typed);
}

static void
answer(struct app *app)
{
    const struct page_def *page = pages_def(app->view.page);
    enum question question = app->question;

    app->question = QUESTION_NONE;
    if (question == QUESTION_SURVIVORS)
        sites_survivors(app, app->typed);
    else if (question == QUESTION_SIGNAL)
        answer_signal(app);
    else if (question == QUESTION_INTERVAL)
        answer_interval(app);
    else
        page->find(app, app->typed);
}

static void
type(struct app *app, int input)
{
    if (input == INPUT_ESCAPE || input == INPUT_CTRL('c'))
        app->question = QUESTION_NONE;
    else if (input == INPUT_ENTER)
        answer(app);
    else if (input == INPUT_BACKSPACE)
        take_back(app);
    else if (input == INPUT_CTRL('u'))
        app->typed[0] = '\0';
    else if (may_be_typed(app->question, input))
        add_character(app, app->question == QUESTION_SIGNAL ? toupper(input) : input);
}

/* ---- the questions ---- */

const char *
prompt_text(const struct app *app, char *text, size_t size)
{
    switch (app->question) {
    case QUESTION_QUIT:
        return app->screen.canvas.cols >= SHORT_BELOW_COLS
                   ? _("The program is running: k kill it, l leave it running, Esc stay")
                   : _("k kill, l leave, Esc stay");
    case QUESTION_SIGNAL:
        snprintf(text, size, _("Signal to %d (Enter for TERM, Esc none): %s_"),
                 (int)app->signal_pid, app->typed);
        return text;
    case QUESTION_INTERVAL:
        snprintf(text, size, _("Interval in seconds: %s_"), app->typed);
        return text;
    case QUESTION_SURVIVORS:
        snprintf(text, size, _("Alive for at least (90, 10m, 2h; Enter any): %s_"),
                 app->typed);
        return text;
    case QUESTION_EXPORT:
        return app->screen.canvas.cols >= SHORT_BELOW_COLS
                   ? _("Export sites: f folded stacks, p pprof, m massif, j JSON, Esc "
                       "none")
                   : _("f folded, p pprof, m massif, j JSON");
    case QUESTION_SEARCH:
        snprintf(text, size, _(pages_def(app->view.page)->asks), app->typed);
        return text;
    default:
        return "";
    }
}

void
prompt_ask(struct app *app, enum question question)
{
    const struct page_def *page = pages_def(app->view.page);

    if (question == QUESTION_SIGNAL) {
        app->signal_pid = follow_target(app);
        if (!target_lives(app, app->signal_pid)) {
            app_ack(app, "%s", target_ended_text(app, app->signal_pid));
            return;
        }
    }
    if (question == QUESTION_EXPORT && !save_has_sites(app))
        return;
    app->question = question;
    app->typed[0] = '\0';
    if (question == QUESTION_SEARCH && page->typed != NULL)
        snprintf(app->typed, sizeof app->typed, "%s", page->typed(&app->view));
    app->ack_ns = 0;
}

bool
prompt_is_typed(enum question question)
{
    return question != QUESTION_NONE && question != QUESTION_QUIT
           && question != QUESTION_EXPORT;
}

bool
prompt_key(struct app *app, int input)
{
    if (app->question == QUESTION_NONE || input == INPUT_RESIZE)
        return false;
    if (app->question == QUESTION_QUIT)
        answer_quit(app, input);
    else if (app->question == QUESTION_EXPORT)
        answer_export(app, input);
    else
        type(app, input);
    return true;
}
