/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walks by known steps, compared with libgcc's alone: random chains of functions with
 * and without frame pointers, with frames of varying length, aligned frames, signal
 * handlers, another stack.
 */
#include "config.h"

#include <alloca.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <cmocka.h>

#include "preload/lookup.h"
#include "preload/real.h"
#include "preload/sites/steps.h"

#define FRAMES 64
#define NOINLINE __attribute__((noinline, noclone))

__thread struct mt_thread mt_thread;

/* ---- on the host ---- */

bool
mt_object_of(const void *address, struct mt_object *found)
{
    static int (*find)(const void *, struct mt_object *);

    if (find == NULL)
        *(void **)&find = dlsym(RTLD_DEFAULT, "_dl_find_object");
    return find != NULL && find(address, found) == 0;
}

static int (*asked)(mt_unwind_visit visit, void *argument);
static unsigned asked_times;

static int
ask(mt_unwind_visit visit, void *argument)
{
    asked_times++;
    return asked(visit, argument);
}

static int
set_up(void **state)
{
    (void)state;
    backtrace((void *[]){NULL}, 1); /* loads libgcc */
    mt_lookup_start();
    if (!mt_libgcc_find())
        return -1;
    asked = mt_libgcc.backtrace;
    mt_libgcc.backtrace = ask;
    mt_thread.stack_base = (uintptr_t)environ; /* the environment is near the top of the
                                                  stack */
    mt_thread.stack_limit = UINT32_MAX;
    return 0;
}

#ifdef MT_STEPS

/* ---- chains ---- */

static uint64_t random_state = 1;

static unsigned
random_below(unsigned limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(random_state >> 33) % limit;
}

struct walked {
    void *frames[FRAMES];
    int count;
};

static int
collect(struct _Unwind_Context *context, void *argument)
{
    struct walked *walked = argument;
    void *pc = (void *)mt_libgcc.ip(context);

    if (pc == NULL || walked->count == FRAMES)
        return VISIT_STOP;
    walked->frames[walked->count++] = pc;
    return VISIT_GO_ON;
}

/* Compares the frames above this function, whose own frame differs between the two
   calls.  (Frames of backtrace() are left out, because AddressSanitizer replaces it.) */
static NOINLINE void
compare(void)
{
    struct walked walked = {0};
    void *ours[FRAMES];
    int count, above;

    asked(collect, &walked);
    above = walked.count - 1;
    count = mt_steps_walk(ours, FRAMES);
    assert_in_range(count, above + 1, above + 2);
    assert_memory_equal(walked.frames + 1, ours + count - above,
                        (size_t)above * sizeof *ours);
}

typedef void (*chain_link)(unsigned depth, bool plain_only);
static void go_on(unsigned depth, bool plain_only);

/* Keeps a call from becoming a jump, and a buffer from being removed. */
#define KEEP(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

static NOINLINE void
plain(unsigned depth, bool plain_only)
{
    go_on(depth, plain_only);
    KEEP(&depth);
}

static NOINLINE void
large(unsigned depth, bool plain_only)
{
    char room[3000];

    KEEP(room);
    go_on(depth, plain_only);
    KEEP(room);
}

static NOINLINE void
changing(unsigned depth, bool plain_only)
{
    char *room = alloca(16 + random_below(4) * 16);

    KEEP(room);
    go_on(depth, plain_only);
    KEEP(room);
}

static NOINLINE void
aligned(unsigned depth, bool plain_only)
{
    _Alignas(256) char room[256];

    KEEP(room);
    go_on(depth, plain_only);
    KEEP(room);
}

static NOINLINE __attribute__((optimize("no-omit-frame-pointer"))) void
framed(unsigned depth, bool plain_only)
{
    go_on(depth, plain_only);
    KEEP(&depth);
}

static void
on_signal(int number)
{
    (void)number;
    compare();
}

static NOINLINE void
interrupted(unsigned depth, bool plain_only)
{
    raise(SIGUSR1);
    go_on(depth, plain_only);
    KEEP(&depth);
}

static NOINLINE void
go_on(unsigned depth, bool plain_only)
{
    static const chain_link links[] = {plain,   large,  changing,
                                       aligned, framed, interrupted};

    if (depth == 0)
        compare();
    else
        links[random_below(plain_only ? 2 : 6)](depth - 1, plain_only);
    KEEP(&depth);
}

static void
test_chains(void **state)
{
    struct sigaction action = {.sa_handler = on_signal};

    (void)state;
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 5000; i++)
        go_on(random_below(12), false);
}

/* After a while all steps are known, and libgcc is not asked. */
static void
test_known(void **state)
{
    struct mt_object object;

    (void)state;
    if (!mt_object_of((void *)(uintptr_t)test_known, &object))
        skip(); /* glibc is older than 2.35, so no steps are kept */
    for (volatile int pass = 0; pass < 2; pass++) {
        asked_times = 0;
        for (int i = 0; i < 1000; i++)
            go_on(1 + random_below(8), true);
    }
#if !defined __SANITIZE_ADDRESS__ && defined __OPTIMIZE__
    assert_int_equal(0, asked_times);
#endif
}

/* ---- another stack ---- */

static ucontext_t main_context, other_context;

static void
on_other_stack(void)
{
    mt_thread.stack_base = (uintptr_t)&main_context; /* that of another stack */
    mt_thread.stack_limit = 4096;
    asked_times = 0;
    for (int i = 0; i < 100; i++)
        go_on(3, true);
    assert_int_equal(100, asked_times);
}

static void
test_other_stack(void **state)
{
    static _Alignas(16) char stack[1 << 18];
    const uintptr_t base = mt_thread.stack_base;

    (void)state;
    getcontext(&other_context);
    other_context.uc_stack.ss_sp = stack;
    other_context.uc_stack.ss_size = sizeof stack;
    other_context.uc_link = &main_context;
    makecontext(&other_context, on_other_stack, 0);
    swapcontext(&main_context, &other_context);
    mt_thread.stack_base = base;
    mt_thread.stack_limit = UINT32_MAX;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_other_stack),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}

#else

int
main(void)
{
    return 77; /* steps are kept on x86-64 only */
}

#endif
