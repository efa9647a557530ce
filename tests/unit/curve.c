/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A run's values in bounded memory: no peak is lost, nothing is made up. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/curve.h"
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
    struct curve *curve = curve_new();
    uint64_t value, x;

    (void)state;
    assert_false(curve_peak(curve, CURVE_HEAP, &value, &x));
    curve_columns(curve, CURVE_HEAP, 10, columns, 10);
    check(0, false, 0, 0);
    curve_add(curve, 0, 100, 9);
    curve_add(curve, 1, 300, 1);
    curve_add(curve, 2, 50, 5);
    assert_int_equal(3, curve_count(curve));
    assert_true(curve_peak(curve, CURVE_TOTAL, &value, &x));
    assert_int_equal(301, value);
    assert_int_equal(1, x);
    curve_columns(curve, CURVE_HEAP, 3, columns, 12); /* steps of four columns */
    check(0, true, 100, 100);
    check(3, true, 100, 100);
    check(4, true, 300, 300);
    check(11, true, 50, 50);
    curve_columns(curve, CURVE_STACK, 3, columns, 2); /* two calls in a column */
    check(0, true, 9, 1);
    check(1, true, 5, 5);
    curve_free(curve);
}

static void
test_time(void **state)
{
    struct curve *curve = curve_new();

    (void)state;
    curve_add(curve, 50, 7, 0);
    curve_add(curve, 50, 3, 0); /* at the same time */
    curve_add(curve, 100, 9, 0); /* at the end */
    curve_columns(curve, CURVE_HEAP, 100, columns, 10);
    check(4, false, 0, 0);
    check(5, true, 7, 3);
    check(6, true, 3, 3);
    check(9, true, 9, 9);
    curve_free(curve);
}

/* Ten million calls, one of them a peak; then a jump to the end of time. */
static void
test_long(void **state)
{
    const uint64_t calls = 10000000;
    struct curve *curve = curve_new();
    uint64_t value, x;

    (void)state;
    for (uint64_t i = 0; i < calls; i++)
        curve_add(curve, i, i == 7654321 ? 1000 : i % 10, 0);
    curve_columns(curve, CURVE_HEAP, calls, columns, 1000);
    for (size_t i = 0; i < 1000; i++)
        check(i, true, i == 765 ? 1000 : 9, columns[i].last);
    curve_add(curve, UINT64_MAX, UINT64_MAX, UINT64_MAX);
    assert_true(curve_peak(curve, CURVE_TOTAL, &value, &x));
    assert_int_equal(UINT64_MAX, value); /* saturated */
    assert_int_equal(UINT64_MAX, x);
    curve_columns(curve, CURVE_HEAP, UINT64_MAX, columns, 10);
    check(0, true, 1000, columns[0].last);
    check(9, true, UINT64_MAX, UINT64_MAX);
    curve_free(curve);
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
    struct curve *curve = curve_new();
    const struct plot_record record = {
        .curve = curve, .axis = axis, .end = end, .total = total};
    const struct plot_options options = {.title = "t", .record = &record};
    const struct plot_ruler measure = {ruler, NULL};

    curve_add(curve, 0, 1000, 3000);
    curve_add(curve, end / 2, 5000, 4000);
    *plot = plot_new_record("s", &options);
    assert_non_null(*plot);
    plot_layout_new(*plot, &measure, layout);
    curve_free(curve);
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
