/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rates, idleness and samples from made-up readings. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "monitor/meter.h"

#define SECOND INT64_C(1000000000)

static struct process process;
static struct meter meter;

static int
set_up(void **state)
{
    (void)state;
    process = (struct process){ .measured = true };
    meter = (struct meter){ 0 };
    return 0;
}

/* A reading run_s seconds after the start, which was at 100 s. */
static void
read_at(double run_s)
{
    process.run_ns = (int64_t)(run_s * 1e9);
    meter_read(&meter, &process, 100 * SECOND + process.run_ns);
}

static void
test_rates(void **state)
{
    (void)state;
    process.now.calls[FN_MALLOC] = 100;
    process.now.total_bytes = 4000;
    process.now.live_bytes = 1000;
    read_at(2);
    /* The first: since the program's start. */
    assert_true(process.rates.calls[FN_MALLOC] == 50);
    assert_true(process.rates.bytes_allocated == 2000);
    assert_true(process.rates.bytes_freed == 1500);
    process.now.calls[FN_MALLOC] = 130;
    process.now.calls[FN_FREE] = 7;
    process.now.total_bytes = 5000;
    process.now.live_bytes = 0;
    read_at(2.5);
    assert_true(process.rates.calls[FN_MALLOC] == 60);
    assert_true(process.rates.calls[FN_FREE] == 14);
    assert_true(process.rates.bytes_allocated == 2000);
    assert_true(process.rates.bytes_freed == 4000);
    /* Another look at once changes nothing, but loses nothing either. */
    process.now.calls[FN_MALLOC] = 135;
    read_at(2.51);
    assert_true(process.rates.calls[FN_MALLOC] == 60);
    process.now.calls[FN_MALLOC] = 140;
    read_at(3.5);
    assert_true(process.rates.calls[FN_MALLOC] == 10);
    read_at(4.5);
    assert_true(process.rates.calls[FN_MALLOC] == 0);
}

/* Counters of a hostile segment: never negative, never a crash. */
static void
test_counters_going_back(void **state)
{
    (void)state;
    for (int i = 0; i < FN_COUNT; i++)
        process.now.calls[i] = UINT64_MAX;
    process.now.total_bytes = 10;
    process.now.live_bytes = UINT64_MAX;
    read_at(1);
    process.now = (struct snapshot){ .total_bytes = UINT64_MAX };
    read_at(2);
    for (int i = 0; i < FN_COUNT; i++)
        assert_true(process.rates.calls[i] == 0);
    assert_true(process.rates.bytes_freed >= 0);
}

static void
test_restart(void **state)
{
    (void)state;
    process.now.calls[FN_MALLOC] = 1000;
    read_at(1);
    meter_restart(&meter, meter.at_ns);
    process.now.calls[FN_MALLOC] = 20;
    read_at(2);
    assert_true(process.rates.calls[FN_MALLOC] == 20);
}

static void
test_idle(void **state)
{
    (void)state;
    assert_false(meter_idle(&meter, 100 * SECOND));
    process.now.calls[FN_CALLOC] = 1;
    read_at(1);
    read_at(5.9);
    assert_false(meter_idle(&meter, 100 * SECOND + 5900000000));
    assert_true(meter_idle(&meter, 106 * SECOND));
    process.now.calls[FN_FREE] = 1;
    read_at(6.5);
    assert_false(meter_idle(&meter, 107 * SECOND));
}

/* A peak between two samples shows in the later one, and only there. */
static void
test_peaks_in_samples(void **state)
{
    struct sample sample;

    (void)state;
    process.now.live_bytes = 10;
    process.now.peak_bytes = 50;
    process.now.stack_now = 3;
    process.now.stack_peak = 9;
    read_at(1);
    sample = meter_sample(&meter, &process);
    assert_int_equal(sample.time_ns, SECOND);
    assert_int_equal(sample.last[SERIES_HEAP], 10);
    assert_int_equal(sample.max[SERIES_HEAP], 50);
    assert_int_equal(sample.max[SERIES_STACK], 9);
    assert_true(sample.max[SERIES_RSS] == HISTORY_UNKNOWN);
    process.now.live_bytes = 5;
    process.os_known = true;
    process.os.rss = 70;
    process.os.rss_peak = 90;
    read_at(2);
    sample = meter_sample(&meter, &process);
    assert_int_equal(sample.max[SERIES_HEAP], 10);
    assert_int_equal(sample.last[SERIES_HEAP], 5);
    assert_int_equal(sample.max[SERIES_STACK], 3);
    assert_int_equal(sample.max[SERIES_RSS], 90);
    sample = meter_sample(&meter, &process);
    assert_int_equal(sample.max[SERIES_HEAP], 5);
    assert_int_equal(sample.max[SERIES_RSS], 70);
}

static void
test_not_measured(void **state)
{
    struct sample sample;

    (void)state;
    process.measured = false;
    process.os_known = true;
    process.os.rss = 70;
    sample = meter_sample(&meter, &process);
    assert_true(sample.max[SERIES_HEAP] == HISTORY_UNKNOWN);
    assert_true(sample.last[SERIES_CALLS] == HISTORY_UNKNOWN);
    assert_int_equal(sample.last[SERIES_RSS], 70);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_rates, set_up),
        cmocka_unit_test_setup(test_counters_going_back, set_up),
        cmocka_unit_test_setup(test_restart, set_up),
        cmocka_unit_test_setup(test_idle, set_up),
        cmocka_unit_test_setup(test_peaks_in_samples, set_up),
        cmocka_unit_test_setup(test_not_measured, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
