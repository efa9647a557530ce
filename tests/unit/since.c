/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Differences keep their sign and stay exact at the ends of the range. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tui/since.h"

static const char *
bytes(uint64_t now, uint64_t then, bool since)
{
    static char text[UNITS_MAX];
    const struct amount amount = { now, then, since };

    return amount_bytes(text, sizeof text, &amount, UNIT_AUTO);
}

static const char *
count(uint64_t now, uint64_t then)
{
    static char text[UNITS_MAX];
    const struct amount amount = { now, then, true };

    return amount_count(text, sizeof text, &amount);
}

static void
without_a_mark_numbers_are_as_they_are(void **state)
{
    (void)state;
    assert_string_equal(bytes(2048, 1024, false), "2.000 KiB");
    assert_string_equal(bytes(0, 1024, false), "0 B");
}

static void
differences_have_a_sign(void **state)
{
    const struct amount many = { 1000, 25500, true };
    char text[UNITS_MAX];

    (void)state;
    assert_string_equal(bytes(2048, 1024, true), "+1.000 KiB");
    assert_string_equal(bytes(1024, 2048, true), "-1.000 KiB");
    assert_string_equal(bytes(1024, 1024, true), "0 B");
    assert_string_equal(count(7, 4), "+3");
    assert_string_equal(count(4, 7), "-3");
    assert_string_equal(count(4, 4), "0");
    assert_string_equal(amount_count_compact(text, sizeof text, &many), "-24.5k");
}

static void
the_largest_numbers_do_not_overflow(void **state)
{
    const struct amount down = { 0, UINT64_MAX - 1, true };

    (void)state;
    assert_true(amount_size(&down) == UINT64_MAX - 1);
    assert_string_equal(count(0, UINT64_MAX - 1), "-18446744073709551614");
    assert_string_equal(count(UINT64_MAX, UINT64_MAX - 2), "+2");
}

static void
a_small_buffer_is_kept(void **state)
{
    const struct amount amount = { 7, 4, true };
    char text[4] = "xxx";

    (void)state;
    amount_count(text, 2, &amount);
    assert_string_equal(text, "+");
    assert_int_equal(text[2], 'x');
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_mark_numbers_are_as_they_are),
        cmocka_unit_test(differences_have_a_sign),
        cmocka_unit_test(the_largest_numbers_do_not_overflow),
        cmocka_unit_test(a_small_buffer_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
