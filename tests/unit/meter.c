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
    process = (struct process){.measured = true};
    meter = (struct meter){0};
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
    /* The first rates are those since the program's start. */
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
    /* A second look at the same time changes nothing and loses nothing. */
    process.now.calls[FN_MALLOC] = 135;
    read_at(2.51);
    assert_true(process.rates.calls[FN_MALLOC] == 60);
    process.now.calls[FN_MALLOC] = 140;
    read_at(3.5);
    assert_true(process.rates.calls[FN_MALLOC] == 10);
    read_at(4.5);
    assert_true(process.rates.calls[FN_MALLOC] == 0);
}

/* Counters of a hostile segment: rates are never negative, and nothing crashes. */
static void
test_counters_going_back(void **state)
{
    (void)state;
    for (int i = 0; i < FN_COUNT; i++)
        process.now.calls[i] = UINT64_MAX;
    process.now.total_bytes = 10;
    process.now.live_bytes = UINT64_MAX;
    read_at(1);
    process.now = (struct snapshot){.total_bytes = UINT64_MAX};
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

/* A peak between two samples is in the later one only. */
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

/* Slots of the recorder fill the time between two readings.  Slots that are late, in the
   future or impossible are left out; a peak is shown where it was. */
static void
test_recorded(void **state)
{
    static const struct recorded slots[] = {
        {.begin_ns = 0, .end_ns = UINT64_MAX, .heap_max = 9999},
        {.begin_ns = 300, .end_ns = 400, .heap_last = 1, .heap_max = 8888},
        {.begin_ns = 1100, .end_ns = 1000, .heap_max = 6666},
        {.begin_ns = 1000,
         .end_ns = 1100,
         .calls = 5,
         .heap_last = 10,
         .heap_max = 70,
         .stack_max = 4},
        {.begin_ns = 1100, .end_ns = 1200, .heap_last = 20, .heap_max = 30},
        {.begin_ns = 8000, .end_ns = 9000, .heap_max = 7777},
    };
    struct history *history = history_new(4);
    struct sample sample;
    struct column columns[3];
    int64_t when;
    uint64_t peak;

    (void)state;
    process.run_ns = 500;
    process.now.live_bytes = 5;
    process.now.peak_bytes = 5;
    sample = meter_sample(&meter, &process);
    history_push(history, &sample);
    process.run_ns = 2000;
    process.now.live_bytes = 25;
    process.now.peak_bytes = 70;
    process.os_known = true;
    process.os.rss = 60;
    meter_push_recorded(&meter, &process, slots, 6, 50, history);
    sample = meter_sample(&meter, &process);
    history_push(history, &sample);
    assert_true(history_peak(history, SERIES_HEAP, 0, 3000, &peak, &when));
    assert_int_equal(peak, 70);
    assert_int_equal(when, 1150);
    history_columns(history, SERIES_HEAP, 1150, 2001, columns, 3);
    assert_int_equal(columns[1].max, 25);
    assert_int_equal(columns[2].last, 25);
    history_columns(history, SERIES_CALLS, 1150, 1150, columns, 1);
    assert_int_equal(columns[0].max, 50000000);
    history_columns(history, SERIES_RSS, 1150, 1150, columns, 1);
    assert_int_equal(columns[0].max, 60);
    history_free(history);
}

/* The calls of a reading are those that are not in the recorder yet. */
static void
test_calls_are_shown_once(void **state)
{
    static const struct recorded slots[] = {
        {.begin_ns = 800000000, .end_ns = 1200000000, .calls = 400},
        {.begin_ns = 1200000000, .end_ns = 1600000000, .calls = 4000},
    };
    struct history *history = history_new(4);
    struct sample sample;

    (void)state;
    process.now.calls[FN_MALLOC] = 1000;
    process.run_ns = SECOND;
    sample = meter_sample(&meter, &process);
    assert_int_equal(sample.last[SERIES_CALLS], 1000);
    history_push(history, &sample);
    /* 200 of the first slot are new, then 4000, then 800 in 400 ms. */
    process.now.calls[FN_MALLOC] = 6000;
    process.run_ns = 2 * SECOND;
    meter_push_recorded(&meter, &process, slots, 2, 0, history);
    sample = meter_sample(&meter, &process);
    assert_in_range(sample.last[SERIES_CALLS], 1999, 2001);
    process.run_ns = 3 * SECOND;
    sample = meter_sample(&meter, &process);
    assert_int_equal(sample.last[SERIES_CALLS], 0);
    history_free(history);
}

/* A dormant process, asleep and awake: values are not known for the time asleep, but are
   zero if it did nothing awake. */
static void
test_asleep(void **state)
{
    static const struct recorded slots[] = {
        {.begin_ns = 0, .end_ns = 1000, .calls = 4, .heap_last = 7, .heap_max = 9},
        {.begin_ns = 1000, .end_ns = 5000, .asleep = true},
        {.begin_ns = 5000, .end_ns = 6000, .calls = 4, .heap_last = 5, .heap_max = 5},
    };
    struct history *history = history_new(8);
    struct column columns[1];
    struct sample sample;

    (void)state;
    process.measured = true;
    process.run_ns = 7000;
    meter_push_recorded(&meter, &process, slots, 3, 0, history);
    history_columns(history, SERIES_HEAP, 1000, 1000, columns, 1);
    assert_true(columns[0].known);
    history_columns(history, SERIES_HEAP, 3000, 3000, columns, 1);
    assert_false(columns[0].known);
    history_columns(history, SERIES_CALLS, 5000, 5000, columns, 1);
    assert_false(columns[0].known);
    history_columns(history, SERIES_HEAP, 6000, 6000, columns, 1);
    assert_true(columns[0].known);
    assert_int_equal(5, columns[0].last);
    process.now.asleep = true;
    process.now.live_bytes = 5;
    sample = meter_sample(&meter, &process);
    assert_true(sample.last[SERIES_HEAP] == HISTORY_UNKNOWN);
    assert_true(sample.last[SERIES_CALLS] == HISTORY_UNKNOWN);
    process.now.asleep = false;
    history_free(history);
}

/* Bytes freed while it slept, or forgotten when it woke, give no rate. */
static void
test_woken(void **state)
{
    (void)state;
    process.measured = true;
    process.run_ns = 100 * SECOND;
    process.now = (struct snapshot){.wakes = 1, .total_bytes = 1000, .live_bytes = 1000};
    meter_read(&meter, &process, SECOND);
    assert_true(process.rates.bytes_allocated == 0);
    process.now.total_bytes = 1500;
    process.now.live_bytes = 1300;
    meter_read(&meter, &process, 2 * SECOND);
    assert_true(process.rates.bytes_allocated == 500 && process.rates.bytes_freed == 200);
    process.now.wakes = 2;
    process.now.live_bytes = 0;
    meter_read(&meter, &process, 10 * SECOND);
    assert_true(process.rates.bytes_allocated == 0 && process.rates.bytes_freed == 0);
    process.now.total_bytes = 1700;
    process.now.live_bytes = 200;
    meter_read(&meter, &process, 11 * SECOND);
    assert_true(process.rates.bytes_allocated == 200 && process.rates.bytes_freed == 0);
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
        cmocka_unit_test_setup(test_recorded, set_up),
        cmocka_unit_test_setup(test_calls_are_shown_once, set_up),
        cmocka_unit_test_setup(test_asleep, set_up),
        cmocka_unit_test_setup(test_woken, set_up),
        cmocka_unit_test_setup(test_not_measured, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
