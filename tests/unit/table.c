/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables by address: what is entered is found until it is taken, however much there is
   and however many threads enter. */
#include "config.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "preload/state.h"
#include "preload/memprof/table.h"

bool mt_sandboxed;

static struct mt_table table;

static int
set_up(void **state)
{
    (void)state;
    table = (struct mt_table){0};
    table.value_size = 2 * sizeof(uint64_t);
    assert_true(mt_table_start(&table));
    assert_true(mt_table_start(&table));
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    mt_sandboxed = false;
    mt_table_clear(&table);
    return 0;
}

static bool
enter(uintptr_t address, uint64_t value)
{
    struct mt_place place = mt_table_claim(&table, address);

    if (place.key == NULL)
        return false;
    ((uint64_t *)place.value)[0] = value;
    ((uint64_t *)place.value)[1] = ~value;
    mt_table_show(place, address);
    return true;
}

/* Takes the entry; returns its value, or 0 if there is none. */
static uint64_t
strike(uintptr_t address)
{
    struct mt_place place = mt_table_take(&table, address);
    uint64_t value;

    if (place.key == NULL)
        return 0;
    value = ((uint64_t *)place.value)[0];
    if (((uint64_t *)place.value)[1] != ~value)
        value = UINT64_MAX;
    mt_table_release(place);
    return value;
}

static void
test_one(void **state)
{
    struct mt_place place;

    (void)state;
    assert_int_equal(strike(4096), 0);
    assert_true(enter(4096, 7));
    place = mt_table_take(&table, 4096);
    assert_non_null(place.key);
    assert_null(mt_table_take(&table, 4096).key); /* it belongs to whoever has taken it */
    mt_table_show(place, 4096);
    assert_int_equal(strike(4096), 7);
    assert_int_equal(strike(4096), 0);
    for (uintptr_t low = 0; low < 3; low++) { /* every number is a valid key */
        assert_true(enter(low, low + 1));
        assert_int_equal(strike(low), low + 1);
    }
}

/* Through several levels. */
static void
test_many(void **state)
{
    enum { COUNT = 200000 };

    (void)state;
    for (uintptr_t i = 1; i <= COUNT; i++)
        assert_true(enter(i * 16, i));
    assert_true(table.used > 2);
    for (uintptr_t i = 1; i <= COUNT; i += 2)
        assert_int_equal(strike(i * 16), i);
    for (uintptr_t i = 1; i <= COUNT; i++)
        assert_int_equal(strike(i * 16), i % 2 == 0 ? i : 0);
}

static void
test_clear(void **state)
{
    struct mt_place claimed;

    (void)state;
    for (uintptr_t i = 1; i <= 10000; i++)
        assert_true(enter(i * 16, i));
    claimed = mt_table_claim(&table, 8);
    mt_table_clear(&table);
    for (uintptr_t i = 1; i <= 10000; i++)
        assert_int_equal(strike(i * 16), 0);
    mt_table_show(claimed, 8); /* it was not visible before */
    assert_non_null(mt_table_take(&table, 8).key);
}

/* Without memory nothing is lost except new entries. */
static void
test_full(void **state)
{
    uintptr_t entered = 0;

    (void)state;
    mt_sandboxed = true;
    while (enter((entered + 1) * 16, entered + 1))
        entered++;
    assert_true(entered > 1000);
    assert_int_equal(table.used, 1);
    for (uintptr_t i = 1; i <= entered; i++)
        assert_int_equal(strike(i * 16), i);
}

#define THREADS 4
#define ROUNDS  60
#define OWN     400

/* Each thread has its own addresses, next to those of others. */
static void *
churn(void *argument)
{
    uintptr_t number = (uintptr_t)argument;
    uintptr_t wrong = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        for (uintptr_t i = 1; i <= OWN; i++)
            wrong += !enter((i * THREADS + number) * 16, i + round);
        for (uintptr_t i = 1; i <= OWN; i++)
            wrong += strike((i * THREADS + number) * 16) != i + round;
    }
    return (void *)wrong;
}

static void
test_threads(void **state)
{
    pthread_t threads[THREADS];
    void *wrong;

    (void)state;
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_one),  TEST(test_many),    TEST(test_clear),
        TEST(test_full), TEST(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
