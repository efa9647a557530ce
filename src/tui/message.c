/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chooses the message line.  A question comes first, then the answer to a key, the place
 * in the history, news of the session, and last the state of the program.
 */
#include "config.h"

#include "tui/state.h"

#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

#include "base/i18n.h"
#include "monitor/saved.h"

#define SECOND_NS  INT64_C(1000000000)
#define WARNING_NS (10 * SECOND_NS)   /* how long a warning stays */

static void
ended_message(const struct process *process, char *text, size_t size)
{
    int status = process->wait_status;
    char time[UNITS_MAX];

    if (process->run_ns < 10 * SECOND_NS)
        /* TRANSLATORS: seconds */
        snprintf(time, sizeof time, _("%.2f s"), (double)process->run_ns / SECOND_NS);
    else
        units_duration(time, sizeof time, process->run_ns);
    if (process->state == STATE_EXITED && !WIFEXITED(status))
        snprintf(text, size, "%s", _("The program has exited; its status is unknown"));
    else if (process->state == STATE_EXITED)
        snprintf(text, size,
                 _("The program exited with status %d after %s. q quits, w saves"),
                 WEXITSTATUS(status), time);
    else if (process->state == STATE_KILLED && WCOREDUMP(status))
        snprintf(text, size, _("%s killed the program after %s (core dumped). q quits"),
                 process_signal_name(WTERMSIG(status)), time);
    else if (process->state == STATE_KILLED)
        snprintf(text, size, _("%s killed the program after %s. q quits, w saves"),
                 process_signal_name(WTERMSIG(status)), time);
    else
        snprintf(text, size, "%s", _("The program is gone; its status is unknown"));
}

static void
saved_message(const struct saved *saved, char *text, size_t size)
{
    time_t when = (time_t)saved->epoch_s;
    char date[64] = "?";
    struct tm local;

    if (saved->epoch_s > 0 && localtime_r(&when, &local) != NULL)
        strftime(date, sizeof date, "%Y-%m-%d %H:%M", &local);
    /* TRANSLATORS: a date and time. */
    snprintf(text, size, _("Saved %s, while the program ran. q quits"), date);
}

static void
state_message(struct app *app, char *text, size_t size)
{
    const struct process *process = app_shown(app);
    char time[UNITS_MAX];

    if (process->missing & PART_COUNTERS)
        snprintf(text, size, "%s",
                 _("A record of calls: heap and stack over time. q quits"));
    else if (session_process(app->session)->ended)
        ended_message(session_process(app->session), text, size);
    else if (process->ended)
        snprintf(text, size, _("Process %d has ended; 5, Home, Enter show the program"),
                 (int)process->pid);
    else if (session_saved(app->session) != NULL)
        saved_message(session_saved(app->session), text, size);
    else if (app->view.paused)
        snprintf(text, size, _("Paused at %s; collecting continues, Space resumes"),
                 units_duration(time, sizeof time, app->frozen.run_ns));
    else if (process->state == STATE_STARTING)
        snprintf(text, size, "%s", _("Waiting for the program to load libmemtop"));
    else if (process->state == STATE_NOT_LOADED && process->why_not[0] != '\0')
        snprintf(text, size, _("Not measured: %s"), process->why_not);
    else if (process->state == STATE_STOPPED)
        snprintf(text, size, "%s", _("The program is stopped; Z continues it"));
    else if (process->state == STATE_IDLE)
        snprintf(text, size, "%s", _("No allocation calls for some time"));
    else if (process->state == STATE_STALE)
        snprintf(text, size, "%s",
                 _("The counters have not been readable for some time"));
    else if (app->capture != NULL && capture_full_screen(app->capture))
        snprintf(text, size, "%s",
                 _("The program wants the whole terminal; o shows what it prints"));
    else {
        app->nothing_new = true;
        snprintf(text, size, _("Sampling every %.2g s"), (double)app->interval_ns / 1e9);
    }
}

/* The cursor's place in the history, and the growing length of the run. */
static void
history_message(const struct app *app, char *text, size_t size)
{
    const struct process *past = &app->past;
    char at[UNITS_MAX], end[UNITS_MAX], heap[UNITS_MAX];

    view_time(at, sizeof at, past, past->run_ns);
    view_time(end, sizeof end, past, app_shown(app)->run_ns);
    if (past->measured)
        /* TRANSLATORS: a moment, the whole time, a size. */
        snprintf(text, size, _("History %s of %s, heap %s"), at, end,
                 units_bytes(heap, sizeof heap, past->now.live_bytes, app->view.unit));
    else
        snprintf(text, size, _("History %s of %s, not measured there"), at, end);
}

/* The newest message of the session if it is recent.  After the program's end that end
   is more important, so NULL is returned. */
static const struct message *
fresh_message(const struct app *app)
{
    size_t count = session_message_count(app->session);
    const struct message *newest;
    int64_t age;

    if (count == 0 || !app_running(app))
        return NULL;
    newest = session_message(app->session, count - 1);
    age = session_process(app->session)->run_ns - newest->run_ns;
    if (newest->severity == SEVERITY_ERROR || newest->severity == SEVERITY_WARNING)
        return age < WARNING_NS ? newest : NULL;
    return age < APP_ACK_NS ? newest : NULL;
}

void
message_choose(struct app *app)
{
    struct scene *scene = &app->scene;
    const struct message *fresh = fresh_message(app);
    const char *question =
        prompt_text(app, app->question_text, sizeof app->question_text);

    scene->asks = *question != '\0';
    scene->typing = prompt_is_typed(app->question);
    scene->message_role = ROLE_NORMAL;
    app->nothing_new = false;
    if (scene->asks) {
        scene->message = question;
        scene->message_role = ROLE_PROMPT;
    } else if (app->ack_ns != 0) {
        scene->message = app->ack;
    } else if (app->view.history) {
        history_message(app, app->state_text, sizeof app->state_text);
        scene->message = app->state_text;
    } else if (fresh != NULL) {
        scene->message = fresh->text;
        if (fresh->severity == SEVERITY_WARNING)
            scene->message_role = ROLE_WARN;
        else if (fresh->severity == SEVERITY_ERROR)
            scene->message_role = ROLE_BAD;
    } else {
        state_message(app, app->state_text, sizeof app->state_text);
        scene->message = app->state_text;
    }
}
