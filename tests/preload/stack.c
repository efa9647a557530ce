/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stack depths: the measured depth is the depth at which the program called, plus at
   most the frames of the call itself. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <cmocka.h>

#include "watch.h"

#define OWN_FRAMES 288

static void
check(char *name, uint64_t at_least, void (*prepare)(void))
{
    struct preload_watch how = {.argv = WATCH_ARGV("stack.run", name),
                                .prepare = prepare};
    struct watched what;
    uint64_t deepest;

    watch_run(&how, &what);
    watch_assert_success(&what);
    deepest = watch_number(&what, "deepest");
    assert_true(deepest >= at_least);
    assert_in_range(watch_last(&what)->snapshot.stack_peak, deepest,
                    deepest + OWN_FRAMES);
    watch_free(&what);
}

static void
test_recursion(void **state)
{
    struct watched what;
    uint64_t shallow;

    (void)state;
    check("recursion", 1 << 20, NULL);
    watch_case("stack.run", "recursion", "", &what);
    shallow = watch_number(&what, "shallow");
    assert_in_range(watch_last(&what)->snapshot.stack_now, shallow, shallow + OWN_FRAMES);
    watch_free(&what);
}

static void
test_in_thread(void **state)
{
    (void)state;
    check("in_thread", 1 << 20, NULL);
}

static void
test_other_stacks(void **state)
{
    (void)state;
    check("other_stacks", 100, NULL);
}

static void
one_megabyte(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_STACK, &limit);
}

static void
test_raised(void **state)
{
    (void)state;
    check("raised", 4 << 20, one_megabyte);
}

static void
unlimited(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_STACK, &limit);
}

/* The legacy memory layout, in which mappings are above the stack's limit. */
static void
test_unlimited(void **state)
{
    (void)state;
    check("recursion", 1 << 20, unlimited);
    check("other_stacks", 100, unlimited);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recursion),    cmocka_unit_test(test_in_thread),
        cmocka_unit_test(test_other_stacks), cmocka_unit_test(test_raised),
        cmocka_unit_test(test_unlimited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
