/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Uses a signalfd, because handlers may do very little and must never run inside curses.
 * Signals and dispositions belong to the whole process, so this module keeps its state in
 * one static.
 *
 * The rule: without a pty of its own the program is in our terminal's process group and
 * gets ^C directly.  Sent a second time it would end programs that take two for "at
 * once".  A signal sent by kill(2) reached only memtop.
 */
#include "config.h"

#include "system/signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* An echo comes while the sender is still scheduled; a person needs longer between two
   ^C. */
#define ECHO_NS 200000000

static const int watched[] = {
    SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD, SIGWINCH,
};
#define WATCHED (sizeof watched / sizeof *watched)

/* Signals whose disposition memtop changes for itself. */
static const int changed[] = {SIGCHLD, SIGPIPE, SIGXFSZ};
#define CHANGED (sizeof changed / sizeof *changed)

static struct {
    bool open;
    int fd;
    sigset_t inherited_mask;
    struct sigaction inherited[CHANGED];
    int claimed; /* a signal of memtop's own, or 0 */
    struct signal_state state;
} signals = {.fd = -1};

static bool
is_ignored(int signal_number)
{
    struct sigaction action;

    return sigaction(signal_number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int
signals_open(void)
{
    /* An ignored SIGCHLD would discard the program's status.  memtop learns from EPIPE
       that its output has no reader, and from EFBIG that a file may not grow. */
    const struct sigaction ours[CHANGED] = {
        {.sa_handler = SIG_DFL}, {.sa_handler = SIG_IGN}, {.sa_handler = SIG_IGN}};
    sigset_t set;
    int fd;

    sigemptyset(&set);
    for (size_t i = 0; i < WATCHED; i++)
        if (watched[i] == SIGCHLD || !is_ignored(watched[i]))
            sigaddset(&set, watched[i]);
    fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        return -errno;
    for (size_t i = 0; i < CHANGED; i++)
        sigaction(changed[i], &ours[i], &signals.inherited[i]);
    sigprocmask(SIG_BLOCK, &set, &signals.inherited_mask);
    signals.fd = fd;
    signals.open = true;
    signals.state = (struct signal_state){0};
    return 0;
}

void
signals_claim(int signal)
{
    signals.claimed = signal;
}

void
signals_restore_in_child(void)
{
    if (!signals.open)
        return;
    for (size_t i = 0; i < CHANGED; i++)
        sigaction(changed[i], &signals.inherited[i], NULL);
    sigprocmask(SIG_SETMASK, &signals.inherited_mask, NULL);
}

void
signals_close(void)
{
    if (!signals.open)
        return;
    signals_restore_in_child();
    close(signals.fd);
    signals.fd = -1;
    signals.claimed = 0;
    signals.open = false;
}

int
signals_fd(void)
{
    return signals.fd;
}

/* Judges a signal that asks for the end: the first is for the program, the second for
   memtop. */
static enum signal_action
judge_ending(struct signal_state *state, bool reached, int64_t now_ns)
{
    if (!state->ending) {
        state->ending = true;
        state->ending_ns = now_ns;
        return reached ? SIGNAL_REACHED : SIGNAL_FORWARD;
    }
    return now_ns - state->ending_ns < ECHO_NS ? SIGNAL_NOTHING : SIGNAL_QUIT;
}

enum signal_action
signals_judge(struct signal_state *state, int signal, bool from_terminal,
              bool own_terminal, int64_t now_ns)
{
    switch (signal) {
    case SIGINT:
    case SIGQUIT:
    case SIGTERM:
        return judge_ending(state, from_terminal && !own_terminal, now_ns);
    case SIGUSR1:
    case SIGUSR2:
        return SIGNAL_FORWARD;
    case SIGHUP:
        return SIGNAL_DETACH;
    case SIGCHLD:
        return SIGNAL_CHILD;
    case SIGWINCH:
        return SIGNAL_RESIZED;
    default:
        return SIGNAL_NOTHING;
    }
}

bool
signals_next(bool own_terminal, int64_t now_ns, struct signal_event *event)
{
    struct signalfd_siginfo info;
    ssize_t got;

    if (!signals.open)
        return false;
    do
        got = read(signals.fd, &info, sizeof info);
    while (got < 0 && errno == EINTR);
    if (got != sizeof info)
        return false;
    event->signal = (int)info.ssi_signo;
    event->action = signals_judge(&signals.state, event->signal,
                                  info.ssi_code == SI_KERNEL, own_terminal, now_ns);
    if (event->signal == signals.claimed)
        event->action = SIGNAL_CLAIMED;
    return true;
}
