/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What memtop does with each signal, as a table, and the descriptor with real signals. */
#include "config.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "system/signals.h"

#define SECOND INT64_C(1000000000)

static void
test_rule(void **unused)
{
    struct signal_state state = {0};

    (void)unused;
    /* A ^C in the shared terminal has reached the program, too. */
    assert_int_equal(SIGNAL_REACHED, signals_judge(&state, SIGINT, true, false, SECOND));
    assert_int_equal(SIGNAL_QUIT, signals_judge(&state, SIGINT, true, false, 3 * SECOND));
    state = (struct signal_state){0};
    assert_int_equal(SIGNAL_REACHED, signals_judge(&state, SIGQUIT, true, false, SECOND));
    /* With its own pty the program has not got it. */
    state = (struct signal_state){0};
    assert_int_equal(SIGNAL_FORWARD, signals_judge(&state, SIGINT, true, true, SECOND));
    /* kill(2) reaches memtop alone; its echo is ignored. */
    state = (struct signal_state){0};
    assert_int_equal(SIGNAL_FORWARD,
                     signals_judge(&state, SIGTERM, false, false, SECOND));
    assert_int_equal(SIGNAL_NOTHING,
                     signals_judge(&state, SIGTERM, false, false, SECOND + 1000));
    assert_int_equal(SIGNAL_QUIT,
                     signals_judge(&state, SIGINT, false, false, 2 * SECOND));
    /* These signals never end memtop. */
    for (int i = 0; i < 3; i++)
        assert_int_equal(SIGNAL_FORWARD,
                         signals_judge(&state, SIGUSR1, false, false, i * SECOND));
    assert_int_equal(SIGNAL_DETACH, signals_judge(&state, SIGHUP, false, false, 0));
    assert_int_equal(SIGNAL_CHILD, signals_judge(&state, SIGCHLD, false, false, 0));
    assert_int_equal(SIGNAL_RESIZED, signals_judge(&state, SIGWINCH, false, false, 0));
}

static void
test_descriptor(void **unused)
{
    struct signal_event event;
    struct pollfd poller;

    (void)unused;
    assert_int_equal(-1, signals_fd());
    assert_false(signals_next(false, 0, &event));
    assert_int_equal(0, signals_open());
    poller = (struct pollfd){.fd = signals_fd(), .events = POLLIN};
    assert_int_equal(0, poll(&poller, 1, 0));
    assert_false(signals_next(false, 0, &event));
    kill(getpid(), SIGTERM);
    assert_int_equal(1, poll(&poller, 1, 5000));
    assert_true(signals_next(false, SECOND, &event));
    assert_int_equal(SIGTERM, event.signal);
    assert_int_equal(SIGNAL_FORWARD, event.action);
    kill(getpid(), SIGWINCH);
    assert_true(signals_next(false, SECOND, &event));
    assert_int_equal(SIGNAL_RESIZED, event.action);
    kill(getpid(), SIGUSR1);
    assert_true(signals_next(false, SECOND, &event));
    assert_int_equal(SIGNAL_FORWARD, event.action);
    signals_claim(SIGUSR1);
    kill(getpid(), SIGUSR1);
    assert_true(signals_next(false, SECOND, &event));
    assert_int_equal(SIGNAL_CLAIMED, event.action);
    kill(getpid(), SIGUSR2);
    assert_true(signals_next(false, SECOND, &event));
    assert_int_equal(SIGNAL_FORWARD, event.action);
    signals_close();
    assert_int_equal(-1, signals_fd());
}

/* Signals that were ignored stay ignored in memtop and in the program; memtop's own
   SIGPIPE and SIGCHLD settings do not reach the program. */
static void
test_inheritance(void **unused)
{
    struct signal_event event;
    int status;
    pid_t pid;

    (void)unused;
    signal(SIGINT, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    assert_int_equal(0, signals_open());
    kill(getpid(), SIGINT);
    assert_false(signals_next(false, 0, &event));
    pid = fork();
    if (pid == 0) {
        struct sigaction child, pipe, interrupt;
        sigset_t mask;

        signals_restore_in_child();
        sigaction(SIGCHLD, NULL, &child);
        sigaction(SIGPIPE, NULL, &pipe);
        sigaction(SIGINT, NULL, &interrupt);
        sigprocmask(SIG_SETMASK, NULL, &mask);
        _exit((child.sa_handler == SIG_IGN) + 2 * (pipe.sa_handler == SIG_DFL)
              + 4 * (interrupt.sa_handler == SIG_IGN) + 8 * !sigismember(&mask, SIGTERM));
    }
    assert_int_equal(pid, waitpid(pid, &status, 0));
    assert_true(WIFEXITED(status));
    assert_int_equal(15, WEXITSTATUS(status));
    signals_close();
    signal(SIGINT, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rule),
        cmocka_unit_test(test_descriptor),
        cmocka_unit_test(test_inheritance),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
