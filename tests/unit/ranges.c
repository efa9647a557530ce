/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ranges of block sizes: every cell in exactly one, borders exact. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/ranges.h"

static struct histogram histogram;

static unsigned
range_with_one(const struct range *ranges)
{
    unsigned found = RANGE_COUNT;

    for (unsigned i = 0; i < RANGE_COUNT; i++)
        if (ranges[i].allocated != 0 || ranges[i].live != 0) {
            assert_int_equal(found, RANGE_COUNT);
            assert_int_equal(ranges[i].allocated, 1);
            assert_int_equal(ranges[i].live, 1);
            found = i;
        }
    return found;
}

static void
sizes_fall_where_the_label_says(void **state)
{
    static const struct {
        uint64_t size;
        const char *label;
    } cases[] = {
        {0, "0-15"},          {15, "0-15"},         {16, "16-31"},
        {31, "16-31"},        {32, "32-63"},        {63, "32-63"},
        {64, "64-127"},       {255, "128-255"},     {512, "512-1023"},
        {1023, "512-1023"},   {1024, "1K-2K"},      {2047, "1K-2K"},
        {2048, "2K-4K"},      {32767, "16K-32K"},   {65535, "32K-64K"},
        {65536, "64K+"},      {1 << 30, "64K+"},    {UINT64_MAX, "64K+"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct range ranges[RANGE_COUNT];

        memset(&histogram, 0, sizeof histogram);
        histogram.allocated[histogram_cell(cases[i].size)] = 1;
        histogram.live[histogram_coarse(cases[i].size)] = 1;
        ranges_sum(&histogram, ranges);
        assert_string_equal(ranges_label(range_with_one(ranges)), cases[i].label);
    }
}

static void
nothing_is_lost(void **state)
{
    struct range ranges[RANGE_COUNT];
    uint64_t allocated = 0, live = 0;

    (void)state;
    for (unsigned i = 0; i < HISTOGRAM_CELLS; i++)
        histogram.allocated[i] = 1;
    for (unsigned i = 0; i < HISTOGRAM_COARSE; i++)
        histogram.live[i] = 1;
    ranges_sum(&histogram, ranges);
    for (unsigned i = 0; i < RANGE_COUNT; i++) {
        allocated += ranges[i].allocated;
        live += ranges[i].live;
    }
    assert_int_equal(allocated, HISTOGRAM_CELLS);
    assert_int_equal(live, HISTOGRAM_COARSE);
}

static void
sums_saturate(void **state)
{
    struct range ranges[RANGE_COUNT];

    (void)state;
    memset(&histogram, 0xff, sizeof histogram);
    ranges_sum(&histogram, ranges);
    assert_true(ranges[2].allocated == UINT64_MAX);
    assert_string_equal(ranges_label(RANGE_COUNT), "?");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_fall_where_the_label_says),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(sums_saturate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
