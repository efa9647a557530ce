/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The history, compared with a plain list of everything that was pushed.  It has four
   slots per level, so that merging and halving happen all the time. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "monitor/history.h"

#define SLOTS 4
#define LENGTH 3000

static uint64_t random_state = 88172645463325252u;

static uint64_t
random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static struct sample
sample_of(int64_t time_ns, uint64_t max, uint64_t last)
{
    struct sample sample = {.time_ns = time_ns};

    for (int i = 0; i < SERIES_COUNT; i++) {
        sample.max[i] = max;
        sample.last[i] = last;
    }
    return sample;
}

/* Pushes a random series and keeps it in list. */
static struct history *
filled(struct sample list[LENGTH], size_t length)
{
    struct history *history = history_new(SLOTS);
    int64_t time_ns = 0;

    assert_non_null(history);
    for (size_t i = 0; i < length; i++) {
        uint64_t last = random_next() % 1000;

        time_ns += 1 + (int64_t)(random_next() % 50);
        list[i] = sample_of(time_ns, last + random_next() % 500, last);
        history_push(history, &list[i]);
    }
    return history;
}

static uint64_t
true_max(const struct sample *list, size_t length, int64_t from, int64_t to)
{
    uint64_t max = 0;

    for (size_t i = 0; i < length; i++)
        if (list[i].time_ns >= from && list[i].time_ns <= to
            && list[i].max[SERIES_HEAP] > max)
            max = list[i].max[SERIES_HEAP];
    return max;
}

static void
test_empty(void **state)
{
    struct history *history = history_new(SLOTS);
    struct column columns[3];
    uint64_t value;
    int64_t first, last;

    (void)state;
    assert_false(history_span(history, &first, &last));
    assert_false(history_peak(history, SERIES_HEAP, 0, 100, &value, &first));
    assert_false(history_first_above(history, SERIES_HEAP, 0, &first));
    history_columns(history, SERIES_HEAP, 0, 100, columns, 3);
    for (int i = 0; i < 3; i++)
        assert_false(columns[i].known);
    history_free(history);
    history_free(NULL);
}

static void
test_keeps_maxima_and_span(void **state)
{
    static struct sample list[LENGTH];

    (void)state;
    for (size_t length = 1; length < LENGTH; length += 1 + length / 3) {
        struct history *history = filled(list, length);
        int64_t first = 0, last = 0, when;
        uint64_t peak;

        assert_true(history_span(history, &first, &last));
        assert_int_equal(first, list[0].time_ns);
        assert_int_equal(last, list[length - 1].time_ns);
        assert_true(history_peak(history, SERIES_HEAP, first, last, &peak, &when));
        assert_int_equal(peak, true_max(list, length, first, last));
        assert_in_range(when, first, last);
        for (int i = 0; i < 200; i++) {
            int64_t from =
                first + (int64_t)(random_next() % (uint64_t)(last - first + 1));
            int64_t to = from + (int64_t)(random_next() % (uint64_t)(last - from + 1));

            assert_true(history_peak(history, SERIES_HEAP, from, to, &peak, &when));
            assert_true(peak >= true_max(list, length, from, to));
        }
        history_free(history);
    }
}

static int64_t
true_first_above(const struct sample *list, size_t length, uint64_t limit)
{
    for (size_t i = 0; i < length; i++)
        if (list[i].max[SERIES_HEAP] > limit)
            return list[i].time_ns;
    return -1;
}

/* Merged samples may show a later time, but never an earlier one, and miss nothing. */
static void
test_first_above(void **state)
{
    static struct sample list[LENGTH];

    (void)state;
    for (size_t length = 1; length < LENGTH; length += 1 + length / 3) {
        struct history *history = filled(list, length);

        for (size_t i = 0; i < length; i += 1 + length / 50) {
            uint64_t limit = list[i].max[SERIES_HEAP];
            int64_t truth = true_first_above(list, length, limit), when = 0;

            assert_int_equal(history_first_above(history, SERIES_HEAP, limit, &when),
                             truth >= 0);
            assert_true(truth < 0 || when >= truth);
            if (length <= SLOTS)
                assert_true(truth < 0 || when == truth);
        }
        history_free(history);
    }
}

/* The columns together contain the maximum, each at least its own values; no column
   inside the span is empty. */
static void
test_columns(void **state)
{
    static struct sample list[LENGTH];
    struct history *history = filled(list, LENGTH);
    int64_t first = list[0].time_ns, last = list[LENGTH - 1].time_ns;

    (void)state;
    for (size_t count = 1; count <= 250; count++) {
        struct column columns[250];
        uint64_t highest = 0;

        history_columns(history, SERIES_HEAP, first, last, columns, count);
        for (size_t i = 0; i < count; i++) {
            int64_t begin = first + (last - first) * (int64_t)i / (int64_t)count;
            int64_t end = first + (last - first) * (int64_t)(i + 1) / (int64_t)count;

            assert_true(columns[i].known);
            assert_true(columns[i].max >= true_max(list, LENGTH, begin, end - 1));
            assert_true(columns[i].last <= columns[i].max);
            if (columns[i].max > highest)
                highest = columns[i].max;
        }
        assert_int_equal(highest, true_max(list, LENGTH, first, last));
        assert_int_equal(columns[count - 1].last, list[LENGTH - 1].last[SERIES_HEAP]);
    }
    history_free(history);
}

static void
test_columns_outside_and_narrow(void **state)
{
    struct history *history = history_new(SLOTS);
    struct sample a = sample_of(10, 5, 4), b = sample_of(20, 9, 8);
    struct column columns[40];

    (void)state;
    history_push(history, &a);
    history_push(history, &b);
    history_columns(history, SERIES_HEAP, 0, 40, columns, 40);
    assert_false(columns[9].known);
    assert_int_equal(columns[10].max, 5);
    for (int i = 11; i <= 20; i++)
        assert_int_equal(columns[i].max, 9);
    assert_false(columns[21].known);
    /* More columns than nanoseconds, an empty span, and a negative one. */
    history_columns(history, SERIES_HEAP, 19, 20, columns, 40);
    assert_true(columns[1].known && columns[39].known);
    history_columns(history, SERIES_HEAP, 20, 20, columns, 1);
    assert_int_equal(columns[0].last, 8);
    history_columns(history, SERIES_HEAP, 20, 10, columns, 2);
    assert_false(columns[0].known);
    history_columns(history, SERIES_HEAP, INT64_MIN / 4, INT64_MAX / 4, columns, 7);
    history_free(history);
}

static void
test_not_later_replaces(void **state)
{
    struct history *history = history_new(SLOTS);
    struct sample high = sample_of(10, 100, 90), low = sample_of(10, 5, 4);
    struct sample before = sample_of(3, 7, 6);
    struct column column;
    int64_t first, last;

    (void)state;
    history_push(history, &high);
    history_push(history, &low);
    history_push(history, &before);
    assert_true(history_span(history, &first, &last));
    assert_int_equal(first, 10);
    assert_int_equal(last, 10);
    history_columns(history, SERIES_HEAP, 10, 10, &column, 1);
    assert_int_equal(column.max, 100);
    assert_int_equal(column.last, 6);
    history_free(history);
}

static void
test_unknown_is_no_value(void **state)
{
    struct history *history = history_new(SLOTS);
    struct column columns[10];
    uint64_t value;
    int64_t when;

    (void)state;
    for (int i = 1; i <= 100; i++) {
        struct sample sample = sample_of(i, (uint64_t)i, (uint64_t)i);

        sample.max[SERIES_RSS] = sample.last[SERIES_RSS] = HISTORY_UNKNOWN;
        if (i == 100)
            sample.last[SERIES_STACK] = HISTORY_UNKNOWN;
        history_push(history, &sample);
    }
    assert_false(history_peak(history, SERIES_RSS, 0, 100, &value, &when));
    history_columns(history, SERIES_RSS, 1, 100, columns, 10);
    for (int i = 0; i < 10; i++)
        assert_false(columns[i].known);
    history_columns(history, SERIES_STACK, 1, 100, columns, 10);
    assert_int_equal(columns[9].max, 100);
    assert_int_equal(columns[9].last, 99);
    history_free(history);
}

static struct sample kept[LENGTH];
static size_t kept_count;

static void
keep(void *context, const struct sample *sample)
{
    assert_ptr_equal(context, kept);
    kept[kept_count++] = *sample;
}

/* Samples that were merged already are not merged again. */
static void
test_restored_shows_the_same(void **state)
{
    static struct sample list[LENGTH];
    struct history *history = filled(list, LENGTH), *again;
    struct column columns[100], restored[100];
    int64_t first, last, first_again, last_again;

    (void)state;
    kept_count = 0;
    history_each(history, keep, kept);
    assert_true(kept_count > SLOTS && kept_count < LENGTH);
    assert_true(history_span(history, &first, &last));
    assert_true(first < kept[0].time_ns);
    again = history_restore(first, kept, kept_count);
    assert_true(history_span(again, &first_again, &last_again));
    assert_int_equal(first, first_again);
    assert_int_equal(last, last_again);
    for (size_t count = 1; count <= 100; count += 33) {
        history_columns(history, SERIES_HEAP, first, last, columns, count);
        history_columns(again, SERIES_HEAP, first, last, restored, count);
        for (size_t i = 0; i < count; i++) {
            assert_true(columns[i].known == restored[i].known);
            assert_int_equal(columns[i].max, restored[i].max);
            assert_int_equal(columns[i].last, restored[i].last);
        }
    }
    history_free(history);
    history_free(again);
    again = history_restore(5, NULL, 0);
    assert_false(history_span(again, &first, &last));
    history_free(again);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_keeps_maxima_and_span),
        cmocka_unit_test(test_first_above),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_columns_outside_and_narrow),
        cmocka_unit_test(test_not_later_replaces),
        cmocka_unit_test(test_unknown_is_no_value),
        cmocka_unit_test(test_restored_shows_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
