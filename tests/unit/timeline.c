/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A run's values in bounded memory: no peak is lost, nothing is made up. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "monitor/timeline.h"
#include "report/plot-layout.h"

static struct column columns[1000];

static void
check(size_t at, bool known, uint64_t max, uint64_t last)
{
    assert_int_equal(known, columns[at].known);
    if (known) {
        assert_int_equal(max, columns[at].max);
        assert_int_equal(last, columns[at].last);
    }
}

static void
test_few(void **state)
{
    struct timeline *timeline = timeline_new(TIMELINE_SLOTS, 1);
    uint64_t value, x;

    (void)state;
    assert_false(timeline_peak(timeline, TIMELINE_HEAP, &value, &x));
    timeline_columns(timeline, TIMELINE_HEAP, 10, columns, 10);
    check(0, false, 0, 0);
    timeline_add(timeline, 0, 100, 9, true);
    timeline_add(timeline, 1, 300, 1, true);
    timeline_add(timeline, 2, 50, 5, true);
    assert_int_equal(3, timeline->calls);
    assert_true(timeline_peak(timeline, TIMELINE_TOTAL, &value, &x));
    assert_int_equal(301, value);
    assert_int_equal(1, x);
    timeline_columns(timeline, TIMELINE_HEAP, 3, columns, 12); /* steps of four columns */
    check(0, true, 100, 100);
    check(3, true, 100, 100);
    check(4, true, 300, 300);
    check(11, true, 50, 50);
    timeline_columns(timeline, TIMELINE_STACK, 3, columns, 2); /* two calls in a column */
    check(0, true, 9, 1);
    check(1, true, 5, 5);
    timeline_free(timeline);
}

static void
test_time(void **state)
{
    struct timeline *timeline = timeline_new(TIMELINE_SLOTS, 1);

    (void)state;
    timeline_add(timeline, 50, 7, 0, true);
    timeline_add(timeline, 50, 3, 0, true);  /* at the same time */
    timeline_add(timeline, 100, 9, 0, true); /* at the end */
    timeline_columns(timeline, TIMELINE_HEAP, 100, columns, 10);
    check(4, false, 0, 0);
    check(5, true, 7, 3);
    check(6, true, 3, 3);
    check(9, true, 9, 9);
    timeline_free(timeline);
}

/* Ten million calls, one of them a peak; then a jump to the end of time. */
static void
test_long(void **state)
{
    const uint64_t calls = 10000000;
    struct timeline *timeline = timeline_new(TIMELINE_SLOTS, 1);
    uint64_t value, x;

    (void)state;
    for (uint64_t i = 0; i < calls; i++)
        timeline_add(timeline, i, i == 7654321 ? 1000 : i % 10, 0, true);
    timeline_columns(timeline, TIMELINE_HEAP, calls, columns, 1000);
    for (size_t i = 0; i < 1000; i++)
        check(i, true, i == 765 ? 1000 : 9, columns[i].last);
    timeline_add(timeline, UINT64_MAX, UINT64_MAX, UINT64_MAX, true);
    assert_true(timeline_peak(timeline, TIMELINE_TOTAL, &value, &x));
    assert_int_equal(UINT64_MAX, value); /* saturated */
    assert_int_equal(UINT64_MAX, x);
    timeline_columns(timeline, TIMELINE_HEAP, UINT64_MAX, columns, 10);
    check(0, true, 1000, columns[0].last);
    check(9, true, UINT64_MAX, UINT64_MAX);
    timeline_free(timeline);
}

/* ---- the picture ---- */

static int
ruler(void *context, const char *text, int height)
{
    (void)context;
    return (int)strlen(text) * height / 2;
}

static void
plotted(enum plot_axis axis, uint64_t end, bool total, struct plot_layout *layout,
        struct plot **plot)
{
    struct timeline *timeline = timeline_new(TIMELINE_SLOTS, 1);
    const struct plot_record record = {
        .timeline = timeline, .axis = axis, .end = end, .total = total};
    const struct plot_options options = {.title = "t", .record = &record};
    const struct plot_ruler measure = {ruler, NULL};

    timeline_add(timeline, 0, 1000, 3000, true);
    timeline_add(timeline, end / 2, 5000, 4000, true);
    *plot = plot_new_record("s", &options);
    assert_non_null(*plot);
    plot_layout_new(*plot, &measure, layout);
    timeline_free(timeline);
}

static void
test_axes(void **state)
{
    struct plot_layout layout;
    struct plot *plot;

    (void)state;
    plotted(PLOT_AXIS_CALLS, 100000, false, &layout, &plot);
    assert_string_equal("0 calls", layout.x[0].label);
    assert_string_equal("20.0k", layout.x[1].label);
    assert_true(layout.left.step * layout.left.intervals >= 5000);
    assert_false(plot->series[PLOT_TOTAL].drawn || plot->series[PLOT_RSS].drawn);
    assert_int_equal(50000, plot->peak_at);
    plot_free(plot);
    plotted(PLOT_AXIS_TIME, 2000000000, false, &layout, &plot);
    assert_string_equal("0s", layout.x[0].label);
    plot_free(plot);
    plotted(PLOT_AXIS_SHARE, 2000000007, true, &layout, &plot);
    assert_string_equal("0% of the time", layout.x[0].label);
    assert_string_equal("10%", layout.x[1].label);
    /* With the sum both axes have the same scale. */
    assert_int_equal(9000, plot->series[PLOT_TOTAL].highest);
    assert_true(layout.left.step * layout.left.intervals >= 9000);
    assert_true(layout.left.step == layout.right.step);
    plot_free(plot);
    plotted(PLOT_AXIS_SHARE, 0, false, &layout, &plot); /* start equals end */
    assert_true(plot->from < plot->to);
    plot_free(plot);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_axes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
