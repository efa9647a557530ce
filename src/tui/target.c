/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Signals to the watched program.  They are sent through its pidfd if there is one, so
 * that they never reach another process that got the same pid; and never after the
 * program has ended.
 */
#include "config.h"

#include "tui/state.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/i18n.h"
#include "monitor/send.h"

#define GRACE_NS INT64_C(3000000000)

bool
target_signal(struct app *app, int signal_number)
{
    const struct launched *launched = app->launched;

    if (launched == NULL || session_process(app->session)->ended) {
        errno = ESRCH;
        return false;
    }
    if (launched->pidfd >= 0)
        return syscall(SYS_pidfd_send_signal, launched->pidfd, signal_number, NULL, 0)
               == 0;
    return kill(launched->pid, signal_number) == 0;
}

/* NULL if pid is the program itself, or is not listed. */
static const struct process_entry *
find_other(const struct app *app, pid_t pid)
{
    const struct process_list *process_list = session_processes(app->session);

    for (size_t i = 0;
         process_list != NULL && pid != session_process(app->session)->pid
         && i < process_list_count(process_list);
         i++)
        if (process_list_at(process_list, i)->pid == pid)
            return process_list_at(process_list, i);
    return NULL;
}

bool
target_send(struct app *app, pid_t pid, int signal_number)
{
    const struct process_entry *other = find_other(app, pid);

    if (other != NULL) {
        errno = -send_signal(other, signal_number);
        return errno == 0;
    }
    if (pid == session_process(app->session)->pid)
        return target_signal(app, signal_number);
    errno = ESRCH;
    return false;
}

bool
target_lives(const struct app *app, pid_t pid)
{
    const struct process_entry *other = find_other(app, pid);

    return other != NULL ? !other->ended
                         : pid == session_process(app->session)->pid && app_running(app);
}

bool
target_stopped(const struct app *app, pid_t pid)
{
    const struct process_entry *other = find_other(app, pid);

    return other != NULL ? send_is_stopped(other)
                         : session_process(app->session)->state == STATE_STOPPED;
}

const char *
target_ended_text(const struct app *app, pid_t pid)
{
    return pid == session_process(app->session)->pid ? _("The program has ended")
                                                     : _("That process has ended");
}

bool
target_interrupt(struct app *app)
{
    pid_t group;

    if (app->capture != NULL && app->launched != NULL
        && !session_process(app->session)->ended) {
        group = tcgetpgrp(capture_fd(app->capture));
        if (group > 1 && kill(-group, SIGINT) == 0)
            return true;
    }
    return target_signal(app, SIGINT);
}

void
target_end(struct app *app)
{
    target_signal(app, SIGTERM);
    target_signal(app, SIGCONT);   /* a stopped program could not handle SIGTERM */
    app->kill_at_ns = app_now() + GRACE_NS;
    app->leave_at_end = true;
    app_ack(app, "%s", _("Ending the program..."));
}

int
target_signal_number(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);

    if (end != text)
        return *end == '\0' && number > 0 && number < NSIG ? (int)number : -1;
    if (strncasecmp(text, "SIG", 3) == 0)
        text += 3;
    for (int i = 1; i < NSIG; i++) {
        const char *name = sigabbrev_np(i);

        if (name != NULL && strcasecmp(name, text) == 0)
            return i;
    }
    return -1;
}
