// SPDX-License-Identifier: LGPL-2.1-or-later
// Stacks of all kinds, each with calls of malloc at its end: compare.plugin walks them.
// Compiled with -O2 -fomit-frame-pointer.
#include <csignal>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <alloca.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

#include "cases.h"

#define NOINLINE __attribute__((noinline, noclone))

// Keeps a call from becoming a jump, and memory from being removed.
#define KEEP(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

static NOINLINE void
allocate()
{
    void *block = malloc(100);

    KEEP(block);
    free(block);
}

static unsigned
random_below(unsigned limit)
{
    static thread_local uint64_t state = 1;

    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(state >> 33) % limit;
}

// ---- functions of all kinds ----

typedef void (*chain_link)(unsigned depth);
static void go_on(unsigned depth);

static NOINLINE void
plain(unsigned depth)
{
    go_on(depth);
    KEEP(&depth);
}

static NOINLINE void
large(unsigned depth)
{
    char room[3000];

    KEEP(room);
    go_on(depth);
    KEEP(room);
}

static NOINLINE void
changing(unsigned depth)
{
    void *room = alloca(16 + random_below(4) * 16);

    KEEP(room);
    go_on(depth);
    KEEP(room);
}

static NOINLINE void
aligned(unsigned depth)
{
    alignas(256) char room[256];

    KEEP(room);
    go_on(depth);
    KEEP(room);
}

static NOINLINE __attribute__((optimize("no-omit-frame-pointer"))) void
framed(unsigned depth)
{
    go_on(depth);
    KEEP(&depth);
}

// More arguments than registers.
static NOINLINE void
pushed(unsigned depth, int, int, int, int, int, int, int, int, int)
{
    go_on(depth);
    KEEP(&depth);
}

static NOINLINE void
pushing(unsigned depth)
{
    pushed(depth, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    KEEP(&depth);
}

static NOINLINE void
interrupted(unsigned depth)
{
    raise(SIGUSR1);
    go_on(depth);
    KEEP(&depth);
}

static int
compare_depths(const void *left, const void *)
{
    go_on(*(const unsigned *)left);
    return 0;
}

static NOINLINE void
sorting(unsigned depth)
{
    unsigned depths[2] = {depth, depth};

    if (depth < 6)
        qsort(depths, 2, sizeof depths[0], compare_depths);
    else
        go_on(depth);
    KEEP(depths);
}

static NOINLINE void
go_on(unsigned depth)
{
    static const chain_link links[] = {plain,   large,       changing, aligned, framed,
                                       pushing, interrupted, sorting};

    if (depth == 0)
        allocate();
    else
        links[random_below(8)](depth - 1);
    KEEP(&depth);
}

static void
on_signal(int)
{
    allocate();
}

static void
kinds()
{
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 3000; i++)
        go_on(random_below(12));
}

static NOINLINE void
recurse(unsigned depth)
{
    if (depth == 0)
        allocate();
    else
        recurse(depth - 1);
    KEEP(&depth);
}

static void
deep()
{
    for (unsigned depth = 1; depth < 5000; depth += 50)
        recurse(depth);
}

// ---- exceptions ----

static NOINLINE int
throw_at(unsigned depth)
{
    std::string text(depth * 10, 'x');
    int sum = 0;

    if (depth == 0)
        throw std::runtime_error("a text that is too long for a string's own space");
    try {
        sum = throw_at(depth - 1);
    } catch (std::runtime_error &error) {
        std::vector<std::string> texts(2, error.what());
        if (depth % 3 != 0)
            throw;
        sum += (int)texts.size();
    }
    return sum + (int)text.size();
}

struct unwound {
    ~unwound() { allocate(); } // while an exception passes
};

static NOINLINE void
pass(unsigned depth)
{
    unwound one;

    if (depth == 0)
        throw 1;
    pass(depth - 1);
}

static void
throws()
{
    std::map<int, std::string> results;

    for (unsigned i = 1; i < 300; i++) {
        results[(int)i] = std::to_string(throw_at(i % 30 / 3 * 3 + 3));
        try {
            pass(i % 10);
        } catch (int) {
            allocate();
        }
    }
}

// ---- threads ----

static void
threads()
{
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 4; i++)
        std::thread([] {
            for (int k = 0; k < 300; k++)
                go_on(random_below(7) + 1);
        }).join();
}

// ---- other stacks ----

static char other_stack[1 << 18];

static void
alternate()
{
    stack_t stack = {};
    struct sigaction action = {};

    stack.ss_sp = other_stack;
    stack.ss_size = sizeof other_stack;
    REQUIRE(sigaltstack(&stack, NULL) == 0);
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 1000; i++)
        go_on(random_below(12));
}

static ucontext_t main_context, other_context;

static void
coroutine()
{
    for (int i = 0; i < 50; i++) {
        go_on(random_below(8));
        swapcontext(&other_context, &main_context);
    }
}

static void
coroutines()
{
    signal(SIGUSR1, on_signal);
    getcontext(&other_context);
    other_context.uc_stack.ss_sp = other_stack;
    other_context.uc_stack.ss_size = sizeof other_stack;
    other_context.uc_link = &main_context;
    makecontext(&other_context, coroutine, 0);
    for (int i = 0; i < 50; i++) {
        swapcontext(&main_context, &other_context);
        go_on(random_below(8));
    }
}

// ---- signals that come anywhere ----

static volatile unsigned in_vdso, handled;

static void
on_timer(int, siginfo_t *, void *context)
{
    const ucontext_t *interrupted_context = (const ucontext_t *)context;
    uintptr_t pc = (uintptr_t)interrupted_context->uc_mcontext.gregs[REG_RIP];

    handled++;
    in_vdso += pc - getauxval(AT_SYSINFO_EHDR) < 8192;
    allocate();
}

static void
start_timer()
{
    struct sigaction action = {};
    const struct itimerval often = {{0, 100}, {0, 100}};

    action.sa_sigaction = on_timer;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static void
vdso()
{
    struct timespec now;

    start_timer();
    while (in_vdso < 50 && handled < 5000) // a clock may be read elsewhere
        clock_gettime(CLOCK_MONOTONIC, &now);
    tell("in_vdso", in_vdso);
}

// In prologues, epilogues and stubs of all kinds; not in malloc, which cannot be entered
// twice.
static void
anywhere()
{
    volatile size_t length = 0;
    char text[64];

    start_timer();
    while (handled < 500)
        for (unsigned i = 0; i < 1000; i++) {
            snprintf(text, sizeof text, "%u %s %d", i, "some", -5);
            length += strlen(text) + (size_t)strtol(text, NULL, 10);
            qsort(text, 10, 1, [](const void *a, const void *b) {
                return *(const char *)a - *(const char *)b;
            });
        }
}

CASES
    CASE(kinds)
    CASE(deep)
    CASE(throws)
    CASE(threads)
    CASE(alternate)
    CASE(coroutines)
    CASE(vdso)
    CASE(anywhere)
END_CASES
