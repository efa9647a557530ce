/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes and counts as users write them. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/quantity.h"

#define UNTOUCHED 77

static void
test_sizes(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } cases[] = {
        {"0", 0},
        {"1", 1},
        {"4096", 4096},
        {"12B", 12},
        {"100K", 102400},
        {"100k", 102400},
        {"100KiB", 102400},
        {"100kB", 100000},
        {"64M", UINT64_C(64) << 20},
        {"64MB", 64000000},
        {"1.5G", UINT64_C(3) << 29},
        {"1,5G", UINT64_C(3) << 29},
        {".5K", 512},
        {"2.K", 2048},
        {"0.0001K", 0},
        {"0.999999999E", UINT64_C(1152921503453925471)},
        {"1.000000001G", (UINT64_C(1) << 30) + 1},
        {"15E", UINT64_C(15) << 60},
        {"15.999999999E",
         UINT64_C(15) * (UINT64_C(1) << 60) + UINT64_C(1152921503453925471)},
        {"18446744073709551615", UINT64_MAX},
        {"3T", UINT64_C(3) << 40},
        {"2p", UINT64_C(2) << 50},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = UNTOUCHED;

        if (!quantity_size(cases[i].text, &bytes))
            fail_msg("%s is refused", cases[i].text);
        if (bytes != cases[i].bytes)
            fail_msg("%s is %ju", cases[i].text, (uintmax_t)bytes);
    }
}

static void
test_no_sizes(void **state)
{
    static const char *const cases[] = {
        "",     "K",    ".",    ",K",   "-1",   "+1",   " 1",    "1 ",  "1 K",
        "1KK",  "1Ki",  "1iB",  "1KiBs", "1.2.3", "0x10", "1e3", "ten", "nan",
        "1KIB", "1.0000000001G", "16E", "18446744073709551616",
        "99999999999999999999999K",
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = UNTOUCHED;

        if (quantity_size(cases[i], &bytes))
            fail_msg("'%s' is taken for %ju", cases[i], (uintmax_t)bytes);
        assert_int_equal(bytes, UNTOUCHED);
    }
}

static void
test_prefix(void **state)
{
    uint64_t bytes;
    const char *end;

    (void)state;
    assert_true(quantity_size_prefix("10M/min", &bytes, &end));
    assert_int_equal(bytes, 10 << 20);
    assert_string_equal(end, "/min");
    assert_true(quantity_size_prefix("10", &bytes, &end));
    assert_string_equal(end, "");
    assert_false(quantity_size_prefix("/min", &bytes, &end));
}

static void
test_counts(void **state)
{
    uint64_t count = UNTOUCHED;

    (void)state;
    assert_true(quantity_count("0", &count));
    assert_int_equal(count, 0);
    assert_true(quantity_count("250000", &count));
    assert_int_equal(count, 250000);
    assert_true(quantity_count("1.5M", &count));
    assert_int_equal(count, 1500000);
    assert_true(quantity_count("2k", &count));
    assert_int_equal(count, 2000);
    count = UNTOUCHED;
    assert_false(quantity_count("", &count));
    assert_false(quantity_count("2KiB", &count));
    assert_false(quantity_count("2B", &count));
    assert_false(quantity_count("-2", &count));
    assert_false(quantity_count("19E", &count));
    assert_int_equal(count, UNTOUCHED);
}

static void
test_seconds(void **state)
{
    int64_t ns = 7;

    (void)state;
    assert_true(quantity_seconds("0.5", &ns));
    assert_int_equal(ns, 500000000);
    assert_true(quantity_seconds("2,25", &ns));
    assert_int_equal(ns, INT64_C(2250000000));
    assert_true(quantity_seconds("1000", &ns));
    assert_int_equal(ns, INT64_C(1000000000000));
    ns = 7;
    assert_false(quantity_seconds("1001", &ns));
    assert_false(quantity_seconds("", &ns));
    assert_false(quantity_seconds(".", &ns));
    assert_false(quantity_seconds("2s", &ns));
    assert_false(quantity_seconds("-1", &ns));
    assert_false(quantity_seconds("99999999999999999999", &ns));
    assert_int_equal(ns, 7);
}

static void
test_digits(void **state)
{
    uint64_t number = 7;

    (void)state;
    assert_true(quantity_digits("250x", 3, 10, &number));
    assert_int_equal(number, 250);
    assert_true(quantity_digits("fFfFfFfFfFfFfFfF", 16, 16, &number));
    assert_true(number == UINT64_MAX);
    assert_true(quantity_digits("18446744073709551615", 20, 10, &number));
    assert_true(number == UINT64_MAX);
    number = 7;
    assert_false(quantity_digits("18446744073709551616", 20, 10, &number));
    assert_false(quantity_digits("10000000000000000", 17, 16, &number));
    assert_false(quantity_digits("", 0, 10, &number));
    assert_false(quantity_digits("1a", 2, 10, &number));
    assert_false(quantity_digits("-1", 2, 10, &number));
    assert_false(quantity_digits("0x1", 3, 16, &number));
    assert_int_equal(number, 7);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_no_sizes),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_seconds),
        cmocka_unit_test(test_digits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
