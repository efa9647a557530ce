/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Graphs as exact text. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tui/graph.h"

#define MAX_CELLS 256

/* One value per column; UNKNOWN is a gap. */
#define UNKNOWN UINT64_MAX

static void
expect(const uint64_t *values, size_t count, const struct graph_scale *scale,
       enum graph_style style, int rows, const wchar_t *expected)
{
    struct column columns[64];
    wchar_t cells[MAX_CELLS];
    int cols = (int)wcslen(expected) / rows;

    assert_int_equal(graph_columns(style, cols), count);
    for (size_t i = 0; i < count; i++)
        columns[i] = (struct column){ values[i], values[i], values[i] != UNKNOWN };
    graph_plot(columns, count, scale, style, rows, cols, cells);
    for (int i = 0; i < rows * cols; i++)
        assert_int_equal(cells[i], expected[i]);
}
#define EXPECT(values, scale, style, rows, expected) \
    expect(values, sizeof(values) / sizeof *(values), scale, style, rows, expected)

static const struct graph_scale hundred = { 100, false, true };

static void
blocks_have_eight_levels(void **state)
{
    const uint64_t values[] = { 0, 13, 25, 38, 50, 63, 75, 88, 100 };

    (void)state;
    EXPECT(values, &hundred, GRAPH_BLOCK, 1, L" ▁▂▃▄▅▆▇█");
}

static void
blocks_stack_over_rows(void **state)
{
    const uint64_t values[] = { 25, 50, 75, 100 };

    (void)state;
    EXPECT(values, &hundred, GRAPH_BLOCK, 2,
           L"  ▄█"
           L"▄███");
}

static void
braille_has_two_columns_a_cell(void **state)
{
    const uint64_t values[] = { 0, 25, 50, 75, 100, 100, 100, 0 };

    (void)state;
    EXPECT(values, &hundred, GRAPH_BRAILLE, 1, L"⢀⣴⣿⡇");
    EXPECT(values, &hundred, GRAPH_BRAILLE, 2,
           L" ⢠⣿⡇"
           L"⢠⣿⣿⡇");
}

static void
ascii_has_two_levels(void **state)
{
    const uint64_t values[] = { 0, 25, 50, 75, 100 };

    (void)state;
    EXPECT(values, &hundred, GRAPH_ASCII, 2,
           L"   .:"
           L" .:::");
}

static void
anything_above_zero_shows(void **state)
{
    const struct graph_scale scale = { UINT64_C(1) << 40, false, false };
    const uint64_t values[] = { 0, 1, 0, 1 };

    (void)state;
    EXPECT(values, &scale, GRAPH_BLOCK, 2,
           L"    "
           L" ▁ ▁");
    EXPECT(values, &scale, GRAPH_BRAILLE, 1, L"⢀⢀");
    EXPECT(values, &scale, GRAPH_ASCII, 1, L" . .");
}

static void
gap_differs_from_zero(void **state)
{
    const uint64_t values[] = { UNKNOWN, UNKNOWN, 100, 0, UNKNOWN, 100 };
    const uint64_t pairs[] = { UNKNOWN, UNKNOWN, 100, UNKNOWN, UNKNOWN, UNKNOWN, 0, 0 };

    (void)state;
    EXPECT(values, &hundred, GRAPH_BLOCK, 2,
           L"  █  █"
           L"  █ ?█");
    EXPECT(pairs, &hundred, GRAPH_BRAILLE, 1, L" ⡇? ");
}

static void
values_beyond_the_top_are_clipped(void **state)
{
    const uint64_t values[] = { 1000000, UINT64_MAX - 1 };

    (void)state;
    EXPECT(values, &hundred, GRAPH_BLOCK, 1, L"██");
}

static void
logarithmic_scale_halves_per_thousand(void **state)
{
    /* 2^20 below the top is the base line; 2^10 below it half way up. */
    const struct graph_scale scale = { UINT64_C(1) << 30, true, false };
    const uint64_t values[] = { 0, 1, 1 << 10, 1 << 20, 1 << 30 };

    (void)state;
    EXPECT(values, &scale, GRAPH_BLOCK, 2,
           L"    █"
           L" ▁▁██");
}

static void
tops_are_round(void **state)
{
    (void)state;
    assert_int_equal(graph_top(0, 0, false, false), 4);
    assert_int_equal(graph_top(0, 3, false, false), 4);
    assert_int_equal(graph_top(0, 6, false, false), 8);
    assert_int_equal(graph_top(0, 801, false, false), 1024);
    assert_int_equal(graph_top(0, 1025, false, false), 2048);
    assert_int_equal(graph_top(0, 300 << 20, false, false), 400 << 20);
    assert_int_equal(graph_top(0, 5500, true, false), 8000);
    assert_int_equal(graph_top(0, 801, true, false), 1000);
    assert_int_equal(graph_top(0, 300 << 20, false, true), 512 << 20);
    assert_true(graph_top(0, UINT64_MAX - 1, false, false) == UINT64_MAX);
    assert_true(graph_top(0, UINT64_MAX - 1, true, true) == UINT64_MAX);
}

static void
tops_grow_at_once_and_shrink_late(void **state)
{
    (void)state;
    assert_int_equal(graph_top(100, 101, true, false), 200);
    assert_int_equal(graph_top(100, 100, true, false), 100);
    assert_int_equal(graph_top(100, 40, true, false), 100);
    assert_int_equal(graph_top(100, 39, true, false), 40);
}

static void
a_value_ends_in_its_row(void **state)
{
    (void)state;
    assert_int_equal(graph_row(0, &hundred, GRAPH_BLOCK, 4), 4);
    assert_int_equal(graph_row(1, &hundred, GRAPH_BLOCK, 4), 3);
    assert_int_equal(graph_row(26, &hundred, GRAPH_BRAILLE, 4), 3);
    assert_int_equal(graph_row(35, &hundred, GRAPH_BRAILLE, 4), 2);
    assert_int_equal(graph_row(100, &hundred, GRAPH_ASCII, 4), 0);
}

static void
labels_stand_at_even_distances(void **state)
{
    struct graph_label labels[GRAPH_LABELS];
    const struct graph_scale scale = { 512 << 20, true, false };

    (void)state;
    assert_int_equal(graph_labels(&hundred, 0, labels), 0);
    assert_int_equal(graph_labels(&hundred, 1, labels), 1);
    assert_int_equal(labels[0].value, 100);
    assert_int_equal(graph_labels(&hundred, 2, labels), 2);
    assert_int_equal(graph_labels(&hundred, 7, labels), 3);
    assert_int_equal(labels[1].row, 3);
    assert_int_equal(labels[1].value, 50);
    assert_int_equal(graph_labels(&hundred, 13, labels), 5);
    assert_int_equal(labels[1].row, 3);
    assert_int_equal(labels[1].value, 75);
    assert_int_equal(labels[4].row, 12);
    assert_int_equal(labels[4].value, 0);
    assert_int_equal(graph_labels(&scale, 7, labels), 3);
    assert_int_equal(labels[1].value, 512 << 10);
    assert_int_equal(labels[2].value, 512);
}

static void
ticks_are_round_and_apart(void **state)
{
    struct graph_tick ticks[GRAPH_TICKS];
    int count = graph_ticks(INT64_C(120000000000), 60, 12, ticks);

    (void)state;
    assert_int_equal(count, 5);
    assert_int_equal(ticks[0].ago_ns, INT64_C(120000000000));
    assert_int_equal(ticks[1].ago_ns, INT64_C(90000000000));
    assert_int_equal(ticks[1].col, 14);
    assert_int_equal(ticks[4].ago_ns, 0);
    assert_int_equal(ticks[4].col, 59);
    for (int64_t window = 1; window < INT64_C(1) << 60; window = window * 3 + 1)
        for (int cols = 0; cols < 300; cols++) {
            count = graph_ticks(window, cols, 10, ticks);
            assert_true(count >= (cols > 0) && count <= GRAPH_TICKS);
            for (int i = 1; i < count; i++)
                assert_true(ticks[i].col - ticks[i - 1].col >= 9);
            for (int i = 0; i < count; i++)
                assert_true(ticks[i].col >= 0 && ticks[i].col < cols);
        }
}

static void
windows_are_round(void **state)
{
    const int64_t second = 1000000000;

    (void)state;
    assert_int_equal(graph_window(0), 10000000);
    assert_int_equal(graph_window(9 * second), 10 * second);
    assert_int_equal(graph_window(61 * second), 120 * second);
    assert_int_equal(graph_window_step(60 * second, 1), 120 * second);
    assert_int_equal(graph_window_step(60 * second, -1), 30 * second);
    assert_int_equal(graph_window_step(10000000, -1), 10000000);
    assert_true(graph_window(INT64_MAX) > 0);
    assert_int_equal(graph_window_step(INT64_MAX, 1), graph_window(INT64_MAX));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_have_eight_levels),
        cmocka_unit_test(blocks_stack_over_rows),
        cmocka_unit_test(braille_has_two_columns_a_cell),
        cmocka_unit_test(ascii_has_two_levels),
        cmocka_unit_test(anything_above_zero_shows),
        cmocka_unit_test(gap_differs_from_zero),
        cmocka_unit_test(values_beyond_the_top_are_clipped),
        cmocka_unit_test(logarithmic_scale_halves_per_thousand),
        cmocka_unit_test(tops_are_round),
        cmocka_unit_test(tops_grow_at_once_and_shrink_late),
        cmocka_unit_test(a_value_ends_in_its_row),
        cmocka_unit_test(labels_stand_at_even_distances),
        cmocka_unit_test(ticks_are_round_and_apart),
        cmocka_unit_test(windows_are_round),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
