/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conditions: which texts are valid, and when each comes true. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake-process.h"
#include "programs/condition.h"

#define SECOND INT64_C(1000000000)
#define MINUTE (60 * SECOND)
#define MIB    (UINT64_C(1) << 20)

static struct condition condition;

static void
parse(const char *text)
{
    if (!condition_parse(text, &condition))
        fail_msg("'%s' is refused", text);
}

/* A look at a time with that heap; the peak follows it. */
static bool
look(int64_t time_ns, uint64_t heap)
{
    fake.run_ns = time_ns;
    fake.now.live_bytes = heap;
    if (heap > fake.now.peak_bytes)
        fake.now.peak_bytes = heap;
    return condition_look(&condition, &fake, false);
}

static void
what_is_one(void **state)
{
    static const char *const wrong[] = {
        "",           "heap",        "heap>",       "heap>x",       "heap<2G",
        "heap>=2G",   "heap>2G/min", "heap>2Gx",    "growth>10M",   "growth>10M/",
        "growth>10M/m", "growth>10M/min ", "growth>/s", "peak>1M",  "exit 0",
        "signals",    "rss>1M",      "HEAP>1M",     "heap>-1",
    };

    (void)state;
    parse("heap>2G");
    assert_int_equal(condition.kind, CONDITION_HEAP);
    assert_int_equal(condition.limit, UINT64_C(2) << 30);
    parse(" stack > 1.5K");
    assert_int_equal(condition.kind, CONDITION_STACK);
    assert_int_equal(condition.limit, 1536);
    parse("growth>10M/min");
    assert_int_equal(condition.kind, CONDITION_GROWTH);
    assert_int_equal(condition.limit, 10 * MIB);
    assert_int_equal(condition.window_ns, MINUTE);
    parse("growth>1/s");
    assert_int_equal(condition.window_ns, SECOND);
    parse("growth>1/h");
    assert_int_equal(condition.window_ns, 60 * MINUTE);
    parse("peak");
    parse("exit");
    parse("signal");
    assert_int_equal(condition.kind, CONDITION_SIGNAL);
    assert_string_equal(condition.text, "signal");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (condition_parse(wrong[i], &condition))
            fail_msg("'%s' is taken for one", wrong[i]);
}

static void
heap_once_a_crossing(void **state)
{
    (void)state;
    parse("heap>100M");
    assert_false(look(1 * SECOND, 50 * MIB));
    assert_false(look(2 * SECOND, 100 * MIB));
    assert_true(look(3 * SECOND, 100 * MIB + 1));
    assert_false(look(4 * SECOND, 200 * MIB));
    assert_false(look(5 * SECOND, 95 * MIB)); /* not low enough */
    assert_false(look(6 * SECOND, 101 * MIB));
    assert_false(look(7 * SECOND, 89 * MIB));
    assert_false(look(8 * SECOND, 100 * MIB));
    assert_true(look(9 * SECOND, 120 * MIB));
}

/* The peak shows what no look saw, once. */
static void
heap_between_looks(void **state)
{
    (void)state;
    parse("heap>100M");
    assert_false(look(1 * SECOND, 50 * MIB));
    fake.now.peak_bytes = 300 * MIB;
    assert_true(look(2 * SECOND, 10 * MIB));
    assert_false(look(3 * SECOND, 10 * MIB));
    assert_false(look(4 * SECOND, 90 * MIB));
    assert_true(look(5 * SECOND, 110 * MIB));
}

static void
stack_too(void **state)
{
    (void)state;
    parse("stack>1M");
    fake.now.stack_now = fake.now.stack_peak = MIB;
    assert_false(look(SECOND, 100 * MIB));
    fake.now.stack_peak = 2 * MIB;
    assert_true(look(2 * SECOND, 0));
    assert_false(look(3 * SECOND, 0));
}

static void
growth_within_its_window(void **state)
{
    int64_t time_ns;
    uint64_t heap = 0;

    (void)state;
    parse("growth>10M/min");
    /* 9 MiB a minute for an hour, looked at each second: never too fast. */
    for (time_ns = SECOND; time_ns <= 60 * MINUTE; time_ns += SECOND) {
        heap += 9 * MIB / 60;
        assert_false(look(time_ns, heap));
    }
    /* 12 MiB a minute: true once within the next minute. */
    int times = 0;
    for (int64_t end = time_ns + 3 * MINUTE; time_ns <= end; time_ns += SECOND) {
        heap += 12 * MIB / 60;
        times += look(time_ns, heap);
    }
    assert_int_equal(times, 1);
    /* Quiet for two minutes, then again. */
    for (int64_t end = time_ns + 2 * MINUTE; time_ns <= end; time_ns += SECOND)
        assert_false(look(time_ns, heap));
    assert_true(look(time_ns, heap + 11 * MIB));
}

/* The first window begins at the start; looks may be rare. */
static void
growth_at_the_start_and_seldom(void **state)
{
    (void)state;
    parse("growth>10M/min");
    assert_false(look(SECOND, 10 * MIB));
    assert_true(look(2 * SECOND, 11 * MIB));
    parse("growth>10M/s");
    assert_false(look(MINUTE, 9 * MIB));
    assert_false(look(2 * MINUTE, 18 * MIB));
    assert_true(look(3 * MINUTE, 29 * MIB));
    assert_false(look(4 * MINUTE, 29 * MIB));
    assert_true(look(5 * MINUTE, 49 * MIB));
}

/* Ten looks a second for three hours: there is room for all past values that are
   needed. */
static void
growth_over_an_hour(void **state)
{
    int times = 0;

    (void)state;
    parse("growth>70M/h");
    for (int64_t i = 1; i <= 3 * 36000; i++)
        times += look(i * SECOND / 10, (uint64_t)i * MIB / 600);
    assert_int_equal(times, 0); /* 60 MiB an hour */
    parse("growth>55M/h");
    for (int64_t i = 1; i <= 3 * 36000; i++)
        times += look(i * SECOND / 10, (uint64_t)i * MIB / 600);
    assert_int_equal(times, 1);
}

static void
new_peaks(void **state)
{
    (void)state;
    parse("peak");
    assert_false(look(0, 0));
    assert_false(look(SECOND - 1, 100 * MIB)); /* programs usually have many peaks at
                                                  their start */
    assert_true(look(1 * SECOND, 100 * MIB));
    assert_false(look(2 * SECOND, 500 * MIB)); /* too soon */
    assert_false(look(60 * SECOND, 1 * MIB));
    assert_true(look(61 * SECOND, 1 * MIB)); /* it comes true later */
    assert_false(look(130 * SECOND, 550 * MIB)); /* only a tenth higher, not more */
    assert_true(look(131 * SECOND, 551 * MIB));
    assert_false(look(1000 * SECOND, 551 * MIB));
}

static void
exit_and_signal(void **state)
{
    (void)state;
    parse("exit");
    assert_false(look(SECOND, 0));
    fake.ended = true;
    assert_true(look(2 * SECOND, 0));
    assert_false(look(2 * SECOND, 0));
    parse("signal");
    assert_false(condition_look(&condition, &fake, false));
    assert_true(condition_look(&condition, &fake, true));
    assert_true(condition_look(&condition, &fake, true));
    parse("heap>1M");
    assert_false(condition_look(&condition, &fake, true));
}

static void
another_image(void **state)
{
    (void)state;
    parse("heap>100M");
    assert_true(look(SECOND, 200 * MIB));
    fake.generations = 2;
    fake.now.peak_bytes = 0;
    assert_true(look(2 * SECOND, 150 * MIB));
    parse("growth>10M/min");
    fake.generations = 1;
    assert_false(look(0, 0));
    assert_true(look(SECOND, 100 * MIB));
    fake.generations = 2;
    assert_false(look(2 * SECOND, 5 * MIB));
    assert_true(look(3 * SECOND, 11 * MIB));
    parse("peak");
    assert_true(look(4 * SECOND, 11 * MIB));
    fake.generations = 3;
    assert_false(look(5 * SECOND, 500 * MIB));
    assert_true(look(64 * SECOND, 1 * MIB));
}

static void
unmeasured(void **state)
{
    (void)state;
    fake.measured = false;
    parse("heap>1");
    assert_false(look(SECOND, MIB));
    parse("exit");
    fake.ended = true;
    assert_true(look(SECOND, 0));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_is_one, fake_reset),
        cmocka_unit_test_setup(heap_once_a_crossing, fake_reset),
        cmocka_unit_test_setup(heap_between_looks, fake_reset),
        cmocka_unit_test_setup(stack_too, fake_reset),
        cmocka_unit_test_setup(growth_within_its_window, fake_reset),
        cmocka_unit_test_setup(growth_at_the_start_and_seldom, fake_reset),
        cmocka_unit_test_setup(growth_over_an_hour, fake_reset),
        cmocka_unit_test_setup(new_peaks, fake_reset),
        cmocka_unit_test_setup(exit_and_signal, fake_reset),
        cmocka_unit_test_setup(another_image, fake_reset),
        cmocka_unit_test_setup(unmeasured, fake_reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
