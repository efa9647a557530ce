/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Only we wait for our child; if anything else did, its status is lost.  For other
 * processes only the fact that they ended can be known.
 */
#include "config.h"

#include "monitor/ending.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/i18n.h"
#include "segment/names.h"

static bool
note_end(struct process *process, enum process_state state, int status)
{
    process->state = state;
    process->wait_status = status;
    process->ended = true;
    process->children = 0;
    return true;
}

bool
ending_notice_child(struct process *process)
{
    int status = 0;
    pid_t pid = waitpid(process->pid, &status, WNOHANG);

    if (pid == process->pid)
        return note_end(process, WIFSIGNALED(status) ? STATE_KILLED : STATE_EXITED,
                        status);
    if (pid == 0 || errno == EINTR)
        return false;
    if (kill(process->pid, 0) < 0 && errno == ESRCH)
        return note_end(process, STATE_GONE, 0);
    return false;
}

bool
ending_notice(struct process *process, int pidfd, uint64_t created_boottime_ns)
{
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    bool gone = pidfd >= 0 ? poll(&ended, 1, 0) == 1
                           : !segment_process_lives(process->pid, created_boottime_ns);

    return gone && note_end(process, STATE_GONE, 0);
}

void
ending_say(struct session *session, const struct process *process, const char *name)
{
    const int status = process->wait_status;

    if (process->state == STATE_EXITED && !WIFEXITED(status))
        session_say(session, SEVERITY_STATE,
                    _("process %ld has exited; its status is unknown"),
                    (long)process->pid);
    else if (process->state == STATE_GONE)
        session_say(session, SEVERITY_STATE,
                    _("process %ld is gone; its exit status is unknown"),
                    (long)process->pid);
    else if (process->state == STATE_EXITED)
        session_say(session, SEVERITY_STATE, _("%s exited with status %d"), name,
                    WEXITSTATUS(status));
    else
        session_say(session, SEVERITY_ERROR,
                    WCOREDUMP(status) ? _("%s was killed by %s (core dumped)")
                                      /* TRANSLATORS: a program; a signal's name. */
                                      : _("%s was killed by %s"),
                    name, process_signal_name(WTERMSIG(status)));
}
