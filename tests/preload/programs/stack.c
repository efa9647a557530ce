/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls deep in a stack, and calls on stacks that are not the thread's own.  Each
   program prints the depth that should be measured, as far as it can know it. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "cases.h"

extern void *__libc_stack_end;

static uintptr_t base;
static uint64_t deepest;

static void
call(void)
{
    uint64_t depth = base - (uintptr_t)__builtin_frame_address(0);

    free(malloc(10));
    if (depth > deepest)
        deepest = depth;
}

static __attribute__((noinline)) void
dive(size_t depth)
{
    volatile char room[1024];

    room[0] = 1;
    if (depth > sizeof room)
        dive(depth - sizeof room);
    else
        call();
    room[1] = 2;
}

static void
from_main(size_t depth)
{
    base = (uintptr_t)__libc_stack_end;
    call();
    tell("shallow", deepest);
    dive(depth);
    call();
    tell("deepest", deepest);
}

static void
recursion(void)
{
    from_main(1 << 20);
}

static void *
in_thread_body(void *argument)
{
    base = (uintptr_t)pthread_self();
    call();
    dive(1 << 20);
    return argument;
}

static void
in_thread(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, in_thread_body, NULL);
    pthread_join(thread, NULL);
    tell("deepest", deepest);
}

static ucontext_t caller, coroutine;

static void
coroutine_body(void)
{
    free(malloc(20));
}

static void
on_signal(int number)
{
    (void)number;
    free(malloc(30));
}

/* Calls on other stacks must not count.  These lie below the real stacks, above them or
   between them. */
static void
other_stacks(void)
{
    static char below[65536];
    static char handlers[8192];
    stack_t alternate = {.ss_sp = handlers, .ss_size = sizeof handlers};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    void *const stacks[] = {below, malloc(1 << 20)};

    base = (uintptr_t)__libc_stack_end;
    call();
    for (int i = 0; i < 2; i++) {
        getcontext(&coroutine);
        coroutine.uc_stack.ss_sp = stacks[i];
        coroutine.uc_stack.ss_size = sizeof below;
        coroutine.uc_link = &caller;
        makecontext(&coroutine, coroutine_body, 0);
        REQUIRE(swapcontext(&caller, &coroutine) == 0);
    }
    REQUIRE(sigaltstack(&alternate, NULL) == 0);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    call();
    tell("deepest", deepest);
}

/* The stack grows beyond the limit that it had at the start. */
static void
raised(void)
{
    struct rlimit limit;

    base = (uintptr_t)__libc_stack_end;
    call();
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = 16 << 20;
    REQUIRE(setrlimit(RLIMIT_STACK, &limit) == 0);
    from_main(4 << 20);
}

CASES
    CASE(recursion) CASE(in_thread) CASE(other_stacks) CASE(raised)
END_CASES
