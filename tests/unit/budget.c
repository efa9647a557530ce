/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Budgets: what exceeds them, by how much, when, and the messages. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>

#include "fake-process.h"
#include "programs/budget.h"

#define SECOND INT64_C(1000000000)
#define MIB    (UINT64_C(1) << 20)

static struct history *history;
static struct budget budget;
static struct budget_excess excess;

static int
setup(void **state)
{
    setlocale(LC_ALL, "C");
    history = history_new(64);
    budget = (struct budget){0};
    return fake_reset(state) || history == NULL;
}

static int
teardown(void **state)
{
    (void)state;
    history_free(history);
    return 0;
}

static void
push(int64_t time_ns, uint64_t heap, uint64_t stack)
{
    const struct sample sample = {
        .time_ns = time_ns,
        .max = {[SERIES_HEAP] = heap, [SERIES_STACK] = stack},
        .last = {0},
    };

    history_push(history, &sample);
}

static void
limit(enum usage_kind limit, uint64_t most)
{
    budget.given[limit] = true;
    budget.most[limit] = most;
}

static bool
exceeds(enum usage_kind limit)
{
    return budget_exceeded(&budget, limit, usage_of(limit, &fake.now), history, &excess);
}

static void
given(void **state)
{
    (void)state;
    assert_false(budget_given(&budget));
    fake.now.peak_bytes = UINT64_MAX;
    for (enum usage_kind i = 0; i < USAGE_KINDS; i++)
        assert_false(exceeds(i));
    limit(USAGE_STACK, 0);
    assert_true(budget_given(&budget));
    assert_string_equal(budget_option(USAGE_STACK), "--max-stack");
}

static void
heap(void **state)
{
    (void)state;
    limit(USAGE_HEAP, 64 * MIB);
    push(SECOND, 60 * MIB, 0);
    push(2 * SECOND, 64 * MIB, 0);
    push(3 * SECOND, 70 * MIB, 0);
    push(4 * SECOND, 80 * MIB, 0);
    push(5 * SECOND, 1 * MIB, 0);
    fake.now.live_bytes = MIB;
    fake.now.peak_bytes = 64 * MIB;
    assert_false(exceeds(USAGE_HEAP)); /* the limit itself is allowed */
    fake.now.peak_bytes++;
    assert_true(exceeds(USAGE_HEAP));
    assert_int_equal(excess.above, 1);
    fake.now.peak_bytes = 80 * MIB;
    assert_true(exceeds(USAGE_HEAP));
    assert_int_equal(excess.used, 80 * MIB);
    assert_int_equal(excess.above, 16 * MIB);
    assert_int_equal(excess.passed_ns, 3 * SECOND);
    limit(USAGE_HEAP, 0);
    assert_true(exceeds(USAGE_HEAP));
    assert_int_equal(excess.passed_ns, SECOND);
}

/* The final counters include a peak that no sample saw. */
static void
between_samples(void **state)
{
    (void)state;
    limit(USAGE_HEAP, 64 * MIB);
    push(SECOND, 60 * MIB, 0);
    fake.now.peak_bytes = 65 * MIB;
    assert_true(exceeds(USAGE_HEAP));
    assert_int_equal(excess.passed_ns, -1);
}

static void
live_at_exit(void **state)
{
    (void)state;
    limit(USAGE_LIVE_AT_EXIT, 0);
    push(SECOND, 60 * MIB, 0);
    fake.now.peak_bytes = 60 * MIB;
    assert_false(exceeds(USAGE_LIVE_AT_EXIT));
    fake.now.live_bytes = 24;
    assert_true(exceeds(USAGE_LIVE_AT_EXIT));
    assert_int_equal(excess.used, 24);
    assert_int_equal(excess.passed_ns, -1);
}

static void
allocations(void **state)
{
    (void)state;
    limit(USAGE_ALLOCS, 9);
    fake_calls(FN_MALLOC, 8, 4);
    fake_calls(FN_CALLOC, 8, 2);
    fake_calls(FN_REALLOC, 8, 3);
    fake_calls(FN_FREE, 8, 100);
    assert_false(exceeds(USAGE_ALLOCS));
    fake_failures(FN_MALLOC, 1, 5); /* failed calls give no block */
    assert_false(exceeds(USAGE_ALLOCS));
    fake_calls(FN_POSIX_MEMALIGN, 64, 2);
    assert_true(exceeds(USAGE_ALLOCS));
    assert_int_equal(excess.used, 11);
    fake.now.realloc_freed = 2;
    assert_false(exceeds(USAGE_ALLOCS));
    fake.now.realloc_freed = 50; /* an impossible value */
    assert_false(exceeds(USAGE_ALLOCS));
    fake.now.calls[FN_MALLOC] = UINT64_MAX;
    assert_true(exceeds(USAGE_ALLOCS));
}

static void
stack(void **state)
{
    (void)state;
    limit(USAGE_STACK, 8192);
    push(SECOND, MIB, 4096);
    push(2 * SECOND, MIB, 9000);
    fake.now.stack_peak = 8192;
    assert_false(exceeds(USAGE_STACK));
    fake.now.stack_peak = 9000;
    assert_true(exceeds(USAGE_STACK));
    assert_int_equal(excess.above, 808);
    assert_int_equal(excess.passed_ns, 2 * SECOND);
}

static void
words(void **state)
{
    const struct budget_excess known = {80 * MIB, 16 * MIB, SECOND * 12 / 10};
    const struct budget_excess unknown = {1200, 200, -1};
    char text[256];

    (void)state;
    budget_text(USAGE_HEAP, "./a (process 7)", &known, UNIT_AUTO, text, sizeof text);
    assert_string_equal(
        text,
        "--max-heap: ./a (process 7): 80.00 MiB, 16.00 MiB above the limit, which was"
        " exceeded 1.2s after the start");
    budget_text(USAGE_LIVE_AT_EXIT, "./a (process 7)", &unknown, UNIT_AUTO, text,
                sizeof text);
    assert_string_equal(
        text, "--max-live-at-exit: ./a (process 7): 1.172 KiB, 200 B above the limit");
    budget_text(USAGE_ALLOCS, "./a (process 7)", &unknown, UNIT_AUTO, text, sizeof text);
    assert_string_equal(text, "--max-allocs: ./a (process 7): 1200, 200 above the limit");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(given, setup, teardown),
        cmocka_unit_test_setup_teardown(heap, setup, teardown),
        cmocka_unit_test_setup_teardown(between_samples, setup, teardown),
        cmocka_unit_test_setup_teardown(live_at_exit, setup, teardown),
        cmocka_unit_test_setup_teardown(allocations, setup, teardown),
        cmocka_unit_test_setup_teardown(stack, setup, teardown),
        cmocka_unit_test_setup_teardown(words, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
