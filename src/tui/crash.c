/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fatal signals may arrive at any moment, even inside curses or malloc.  So the handler
 * uses neither: it writes bytes that were prepared before, restores the terminal's
 * attributes, writes what happened and dies of the signal.
 */
#include "config.h"

#include "tui/crash.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CRASH_STACK 262144   /* the heir runs on this stack, with its buffers */

static struct {
    int terminal;
    struct termios before;
    char restore[256];
    size_t restore_length;
    char note[256];
    void (*heir)(void);
} crash = { .terminal = -1 };

static const int fatal_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS,
                                     SIGTRAP };
#define FATAL_COUNT (sizeof fatal_signals / sizeof *fatal_signals)
static struct sigaction before[FATAL_COUNT];

/* Errors are ignored, because nothing can be done about them. */
static void
write_all(const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t done = write(crash.terminal, bytes, count);

        if (done <= 0)
            return;
        bytes += done;
        count -= (size_t)done;
    }
}

/* The heir begins as a copy of the crashed process.  If it crashes, too, it just ends. */
static void
fork_heir(void)
{
    if (crash.heir == NULL || _Fork() != 0)
        return;
    for (size_t i = 0; i < FATAL_COUNT; i++)
        signal(fatal_signals[i], SIG_DFL);
    crash.heir();
    _exit(0);
}

static void
die_of(int signal_number)
{
    write_all(crash.restore, crash.restore_length);
    tcsetattr(crash.terminal, TCSANOW, &crash.before);
    write_all(crash.note, strlen(crash.note));
    fork_heir();
    /* SA_RESETHAND has restored the default action; the signal is delivered again when
       the handler returns. */
    raise(signal_number);
}

void
crash_catch(int terminal, const struct termios *attributes)
{
    static char stack[CRASH_STACK];
    const stack_t alternate = { .ss_sp = stack, .ss_size = sizeof stack };
    const struct sigaction action = { .sa_handler = die_of,
                                      .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK) };

    crash.terminal = terminal;
    crash.before = *attributes;
    sigaltstack(&alternate, NULL);
    for (size_t i = 0; i < FATAL_COUNT; i++)
        sigaction(fatal_signals[i], &action, &before[i]);
}

void
crash_set_restore(const char *bytes, size_t count)
{
    if (count > sizeof crash.restore)
        count = sizeof crash.restore;
    memcpy(crash.restore, bytes, count);
    crash.restore_length = count;
}

void
crash_set_note(const char *note)
{
    snprintf(crash.note, sizeof crash.note, "%s\r\n", note);
}

void
crash_set_heir(void (*heir)(void))
{
    crash.heir = heir;
}

void
crash_release(void)
{
    for (size_t i = 0; i < FATAL_COUNT; i++)
        sigaction(fatal_signals[i], &before[i], NULL);
    crash.heir = NULL;
}
