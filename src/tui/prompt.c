/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Questions in the message line and their answers.  Esc leaves them; what is
 * typed here never is a command.
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

#define SHORT_BELOW_COLS 66

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
prompt_text(const struct app *app, char *text, size_t size)
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

void
prompt_ask_signal(struct app *app)
{
    if (!app_running(app)) {
        app_ack(app, "%s", _("The program has ended"));
        return;
    }
    app->question = QUESTION_SIGNAL;
    app->typed[0] = '\0';
}

bool
prompt_key(struct app *app, int input)
{
    switch (app->question) {
    case QUESTION_QUIT:
        answer_quit(app, input);
        return true;
    case QUESTION_SIGNAL:
        answer_signal(app, input);
        return true;
    default:
        return false;
    }
}
