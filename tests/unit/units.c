/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exact texts of sizes, counts, rates and times, and their limits. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <locale.h>

#include "base/units.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)
#define GIB (KIB * MIB)
#define SECOND INT64_C(1000000000)

struct bytes_case {
    uint64_t bytes;
    enum unit unit;
    const char *text;
};

static void
bytes_have_four_digits(void **state)
{
    static const struct bytes_case cases[] = {
        {0, UNIT_AUTO, "0 B"},
        {1023, UNIT_AUTO, "1023 B"},
        {1024, UNIT_AUTO, "1.000 KiB"},
        {1025, UNIT_AUTO, "1.001 KiB"},
        {10239, UNIT_AUTO, "9.999 KiB"},
        {10240, UNIT_AUTO, "10.00 KiB"},
        {102399, UNIT_AUTO, "100.0 KiB"},
        {1023 * KIB, UNIT_AUTO, "1023 KiB"},
        {MIB - 1, UNIT_AUTO, "1.000 MiB"},
        {MIB - 513, UNIT_AUTO, "1023 KiB"},
        {260358144, UNIT_AUTO, "248.3 MiB"},
        {GIB, UNIT_AUTO, "1.000 GiB"},
        {KIB * GIB, UNIT_AUTO, "1.000 TiB"},
        {MIB * GIB, UNIT_AUTO, "1.000 PiB"},
        {UINT64_MAX - 1, UNIT_AUTO, "16.00 EiB"},
        {260358144, UNIT_KIB, "254256.0 KiB"},
        {260358144, UNIT_MIB, "248.3 MiB"},
        {260358144, UNIT_BYTES, "260358144 B"},
        {UINT64_MAX - 1, UNIT_BYTES, "18446744073709551614 B"},
        {999, UNIT_AUTO | UNIT_SI, "999 B"},
        {1000, UNIT_AUTO | UNIT_SI, "1.000 kB"},
        {999999, UNIT_AUTO | UNIT_SI, "1.000 MB"},
        {260358144, UNIT_AUTO | UNIT_SI, "260.4 MB"},
        {260358144, UNIT_MIB | UNIT_SI, "260.4 MB"},
        {260358144, UNIT_KIB | UNIT_SI, "260358.1 kB"},
        {UNITS_UNKNOWN, UNIT_AUTO, "-"},
    };
    char buf[UNITS_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(units_bytes(buf, sizeof buf, cases[i].bytes, cases[i].unit),
                            cases[i].text);
}

static void
digits_never_exceed_four(void **state)
{
    char buf[UNITS_MAX];

    (void)state;
    for (unsigned shift = 0; shift < 64; shift++)
        for (int64_t off = -600; off <= 600; off++) {
            uint64_t bytes = (UINT64_C(1) << shift) + (uint64_t)off;
            size_t number;

            units_bytes(buf, sizeof buf, bytes, UNIT_AUTO);
            number = strcspn(buf, " ");
            assert_true(number <= 5);
            assert_true(strchr(buf, '.') != NULL || number <= 4);
        }
}

static void
axes_need_no_zeros(void **state)
{
    static const struct bytes_case cases[] = {
        {0, UNIT_AUTO, "0 B"},           {400 * MIB, UNIT_AUTO, "400 MiB"},
        {5 * MIB / 2, UNIT_AUTO, "2.5 MiB"}, {5 * GIB / 4, UNIT_AUTO, "1.25 GiB"},
        {512, UNIT_AUTO, "512 B"},       {800 * KIB, UNIT_MIB, "0.8 MiB"},
    };
    static const struct bytes_case compact[] = {
        {0, UNIT_AUTO, "0B"},          {260358144, UNIT_AUTO, "248M"},
        {5 * MIB / 2, UNIT_AUTO, "2.5M"}, {2 * GIB, UNIT_AUTO, "2G"},
        {1500, UNIT_AUTO | UNIT_SI, "1.5k"}, {UNITS_UNKNOWN, UNIT_AUTO, "-"},
    };
    char buf[UNITS_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(units_axis(buf, sizeof buf, cases[i].bytes, cases[i].unit),
                            cases[i].text);
    for (size_t i = 0; i < sizeof compact / sizeof compact[0]; i++)
        assert_string_equal(
            units_axis_compact(buf, sizeof buf, compact[i].bytes, compact[i].unit),
            compact[i].text);
}

static void
ticks_stay_in_their_unit(void **state)
{
    char buf[UNITS_MAX];

    (void)state;
    assert_string_equal(units_tick(buf, sizeof buf, 0, 2, 1, UNIT_AUTO), "0");
    assert_string_equal(units_tick(buf, sizeof buf, 0.4, 2, 1, UNIT_AUTO), "0.4 MiB");
    assert_string_equal(units_tick(buf, sizeof buf, 1200, 1, 0, UNIT_AUTO), "1200 KiB");
    assert_string_equal(units_tick(buf, sizeof buf, 2, 9, 0, UNIT_SI), "2 EB");
}

static void
rates_have_three_digits(void **state)
{
    char buf[UNITS_MAX];

    (void)state;
    assert_string_equal(units_rate(buf, sizeof buf, 46.1 * 1024 * 1024, UNIT_AUTO),
                        "46.1 MiB/s");
    assert_string_equal(units_rate(buf, sizeof buf, 0, UNIT_AUTO), "0 B/s");
    assert_string_equal(units_rate(buf, sizeof buf, 0.4, UNIT_AUTO), "0 B/s");
    assert_string_equal(units_rate(buf, sizeof buf, 1023.7, UNIT_AUTO), "1.00 KiB/s");
    assert_string_equal(units_rate(buf, sizeof buf, -1, UNIT_AUTO), "-");
    assert_string_equal(units_rate(buf, sizeof buf, 0.0 / 0.0, UNIT_AUTO), "-");
    assert_string_equal(units_rate(buf, sizeof buf, 1e300, UNIT_AUTO), "-");
}

static void
counts(void **state)
{
    char buf[UNITS_MAX];

    (void)state;
    assert_string_equal(units_count(buf, sizeof buf, 24537), "24537");
    assert_string_equal(units_count(buf, sizeof buf, UNITS_UNKNOWN), "-");
    assert_string_equal(units_count_compact(buf, sizeof buf, 0), "0");
    assert_string_equal(units_count_compact(buf, sizeof buf, 999), "999");
    assert_string_equal(units_count_compact(buf, sizeof buf, 1000), "1.00k");
    assert_string_equal(units_count_compact(buf, sizeof buf, 24537), "24.5k");
    assert_string_equal(units_count_compact(buf, sizeof buf, 999499), "999k");
    assert_string_equal(units_count_compact(buf, sizeof buf, 999500), "1.00M");
    assert_string_equal(units_count_compact(buf, sizeof buf, 1204871), "1.20M");
    assert_string_equal(units_count_compact(buf, sizeof buf, UINT64_MAX - 1), "18.4E");
}

static void
counts_group_as_the_locale_does(void **state)
{
    char buf[UNITS_MAX];

    (void)state;
    if (setlocale(LC_NUMERIC, "en_US.UTF-8") == NULL)
        skip();
    units_count(buf, sizeof buf, 1204871);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(buf, "1,204,871");
}

static void
durations(void **state)
{
    char buf[UNITS_MAX];

    (void)state;
    assert_string_equal(units_duration(buf, sizeof buf, 144 * SECOND), "00:02:24");
    assert_string_equal(units_duration(buf, sizeof buf, -5), "00:00:00");
    assert_string_equal(units_duration(buf, sizeof buf, 86399 * SECOND), "23:59:59");
    assert_string_equal(units_duration(buf, sizeof buf, (86400 + 7380) * SECOND),
                        "1d 02:03");
    assert_string_equal(units_duration(buf, sizeof buf, INT64_MAX), "106751d 23:47");
}

static void
offsets(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        {0, "0s"},
        {-1, "0s"},
        {-35 * SECOND, "-35s"},
        {-120 * SECOND, "-2m"},
        {-150 * SECOND, "-2m30s"},
        {-3600 * SECOND, "-1h"},
        {-5400 * SECOND, "-1h30m"},
        {-3661 * SECOND, "-1h1m"},
        {2 * 86400 * SECOND, "2d"},
        {2 * 86400 * SECOND + 7200 * SECOND, "2d2h"},
        {5 * SECOND / 2, "2.5s"},
        {-SECOND / 4, "-250ms"},
        {SECOND / 2, "0.5s"},
        {12000000, "12ms"},
        {SECOND * 25 / 10 + 1234567, "2.5s"},
        {25 * SECOND / 2, "12s"},
        {INT64_MIN, "-106751d23h"},
    };
    char buf[UNITS_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(units_offset(buf, sizeof buf, cases[i].ns), cases[i].text);
}

static void
an_axis_of_time_has_one_unit(void **state)
{
    static const struct {
        int64_t step, end;
        const char *labels[4]; /* from 0 on */
    } axes[] = {
        {50000000, 250000000, {"0ms", "50ms", "100ms", "150ms"}},
        {200000000, 900000000, {"0ms", "200ms", "400ms", "600ms"}},
        {500000, 3000000, {"0ms", "0.5ms", "1.0ms", "1.5ms"}},
        {2000, 9000, {"0ms", "0.002ms", "0.004ms", "0.006ms"}},
        {500000000, SECOND, {"0s", "0.5s", "1.0s", "1.5s"}},
        {50000000, 1200000000, {"0s", "0.05s", "0.10s", "0.15s"}},
        {5 * SECOND, 40 * SECOND, {"0s", "5s", "10s", "15s"}},
        {45 * SECOND, 144 * SECOND, {"0s", "45s", "90s", "135s"}},
        {22 * SECOND / 12, 11 * SECOND / 2, {"0s", "1.8s", "3.7s", "5.5s"}},
        {30 * 60 * SECOND, 7200 * SECOND, {"0s", "30m", "1h", "1h30m"}},
    };
    char buf[UNITS_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++)
        for (int64_t k = 0; k < 4; k++)
            assert_string_equal(units_time_tick(buf, sizeof buf, k * axes[i].step,
                                                axes[i].step, axes[i].end),
                                axes[i].labels[k]);
}

static void
output_is_bounded(void **state)
{
    char buf[UNITS_MAX];

    (void)state;
    for (size_t size = 0; size < 12; size++) {
        memset(buf, 'x', sizeof buf);
        units_bytes(buf, size, UINT64_MAX - 1, UNIT_BYTES);
        units_axis(buf, size, 260358144, UNIT_AUTO);
        units_axis_compact(buf, size, 260358144, UNIT_AUTO);
        units_rate(buf, size, 1e9, UNIT_AUTO);
        units_count(buf, size, UINT64_MAX - 1);
        units_count_compact(buf, size, 123456);
        units_duration(buf, size, INT64_MAX);
        units_offset(buf, size, INT64_MIN);
        units_time_tick(buf, size, 1050000000, 50000000, 1200000000);
        units_bytes(buf, size, UNITS_UNKNOWN, UNIT_AUTO);
        assert_int_equal(buf[size], 'x');
        assert_true(size == 0 || memchr(buf, '\0', size) != NULL);
    }
}

static void
unit_cycles(void **state)
{
    enum unit unit = UNIT_AUTO | UNIT_SI;

    (void)state;
    unit = units_next(unit);
    assert_int_equal(unit, UNIT_KIB | UNIT_SI);
    unit = units_next(units_next(unit));
    assert_int_equal(unit, UNIT_BYTES | UNIT_SI);
    assert_int_equal(units_next(unit), UNIT_AUTO | UNIT_SI);
    assert_int_equal(units_next(UNIT_BYTES), UNIT_AUTO);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_have_four_digits),
        cmocka_unit_test(digits_never_exceed_four),
        cmocka_unit_test(axes_need_no_zeros),
        cmocka_unit_test(ticks_stay_in_their_unit),
        cmocka_unit_test(rates_have_three_digits),
        cmocka_unit_test(counts),
        cmocka_unit_test(counts_group_as_the_locale_does),
        cmocka_unit_test(durations),
        cmocka_unit_test(offsets),
        cmocka_unit_test(an_axis_of_time_has_one_unit),
        cmocka_unit_test(output_is_bounded),
        cmocka_unit_test(unit_cycles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
