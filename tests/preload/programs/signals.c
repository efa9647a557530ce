/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signal handlers that allocate at any moment.  Only with bump.plugin: no other
   allocator can be interrupted by itself. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/time.h>

#include "cases.h"

static volatile sig_atomic_t handled;
static sigjmp_buf escape;

static void
on_alarm(int number)
{
    int saved = errno;

    (void)number;
    free(malloc(40));
    handled++;
    errno = saved;
}

static void
on_alarm_leave(int number)
{
    (void)number;
    free(malloc(40));
    handled++;
    siglongjmp(escape, 1);
}

static void
arm(suseconds_t again)
{
    struct itimerval timer = {{0, again}, {0, 40}};

    REQUIRE(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static void
begin(void (*handler)(int))
{
    static char stack[8192];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = handler,
                               .sa_flags = SA_ONSTACK | SA_RESTART};

    REQUIRE(sigaltstack(&alternate, NULL) == 0);
    REQUIRE(sigaction(SIGALRM, &action, NULL) == 0);
}

static void
end(unsigned long long pairs)
{
    signal(SIGALRM, SIG_IGN);
    tell("pairs", pairs);
    tell("handled", (unsigned long long)handled);
}

static void
storm(void)
{
    unsigned long long pairs = 0;

    begin(on_alarm);
    arm(40);
    for (; handled < 2000; pairs++)
        free(malloc(60));
    end(pairs);
}

/* The handler does not return; it jumps. */
static void
leave(void)
{
    static volatile unsigned long long pairs;

    sigsetjmp(escape, 1);
    if (handled == 0)
        begin(on_alarm_leave);
    if (handled < 1000)
        arm(0);
    while (handled < 1000) {
        free(malloc(60));
        pairs++;
    }
    end(pairs);
}

CASES
    CASE(storm) CASE(leave)
END_CASES
