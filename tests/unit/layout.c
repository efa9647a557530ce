/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The layout's properties at every size, and what the usual sizes show. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tui/layout.h"

#define MAX_ROWS 80
#define MAX_COLS 250

static void
check_block(const struct rect *rect, int rows, int cols,
            unsigned char taken[MAX_ROWS][MAX_COLS])
{
    if (rect->rows == 0) {
        assert_int_equal(rect->cols, 0);
        return;
    }
    assert_true(rect->rows > 0 && rect->cols > 0);
    assert_true(rect->row >= 0 && rect->col >= 0);
    assert_true(rect->row + rect->rows <= rows);
    assert_true(rect->col + rect->cols <= cols);
    for (int row = rect->row; row < rect->row + rect->rows; row++)
        for (int col = rect->col; col < rect->col + rect->cols; col++) {
            assert_int_equal(taken[row][col], 0);
            taken[row][col] = 1;
        }
}

static void
check_size(int rows, int cols, const struct content *content)
{
    static unsigned char taken[MAX_ROWS][MAX_COLS];
    struct layout layout;

    for (int page = 0; page < 2; page++) {
        memset(taken, 0, sizeof taken);
        if (page)
            layout_page(rows, cols, content, &layout);
        else
            layout_overview(rows, cols, content, &layout);
        for (int i = 0; i < BLOCK_COUNT; i++)
            check_block(&layout.block[i], rows, cols, taken);
        assert_int_equal(taken[rows - 1][cols - 1], 0);
        if (content->prompt && cols > 1)
            assert_int_equal(layout.block[BLOCK_MESSAGE].rows, 1);
        if (cols > 1 && !content->prompt)
            assert_true(layout.block[BLOCK_HEADER].rows > 0
                        || layout.block[BLOCK_BRIEF].rows > 0
                        || layout.block[BLOCK_BODY].rows > 0);
    }
}

static void
every_size_is_laid_out(void **state)
{
    static const struct content contents[] = {
        { 4, 14, true, true, false },  { 9, 14, true, false, true },
        { 14, 14, true, true, true },  { 4, 14, false, true, false },
        { 4, 14, false, false, true }, { 0, 0, true, false, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++)
        for (int rows = 1; rows <= MAX_ROWS; rows++)
            for (int cols = 1; cols <= MAX_COLS; cols++)
                check_size(rows, cols, &contents[i]);
}

static void
nothing_fits_into_nothing(void **state)
{
    const struct content content = { 4, 14, true, true, true };
    struct layout layout;

    (void)state;
    for (int i = -1; i < 1; i++) {
        layout_overview(i, 80, &content, &layout);
        for (int block = 0; block < BLOCK_COUNT; block++)
            assert_int_equal(layout.block[block].rows, 0);
        layout_page(24, i, &content, &layout);
        for (int block = 0; block < BLOCK_COUNT; block++)
            assert_int_equal(layout.block[block].rows, 0);
    }
}

static struct layout
overview(int rows, int cols)
{
    const struct content content = { 4, 15, true, true, false };
    struct layout layout;

    layout_overview(rows, cols, &content, &layout);
    return layout;
}

static void
reference_size_shows_everything_but_output(void **state)
{
    struct layout layout = overview(24, 80);

    (void)state;
    assert_int_equal(layout.block[BLOCK_STACK].rows, 1);
    assert_int_equal(layout.block[BLOCK_CALLS].rows, 6);
    assert_int_equal(layout.block[BLOCK_SIZES].rows, 4);
    assert_int_equal(layout.block[BLOCK_OUTPUT].rows, 0);
    assert_int_equal(layout.block[BLOCK_HEAP].rows, 8);
    assert_int_equal(layout.block[BLOCK_FOOTER].row, 23);
    assert_int_equal(layout.block[BLOCK_FOOTER].cols, 79);
    assert_false(layout.dropped_sizes);
}

static void
wide_size_has_two_graphs_and_output(void **state)
{
    struct layout layout = overview(40, 120);

    (void)state;
    assert_true(layout.side_by_side);
    assert_true(layout.block[BLOCK_STACK].rows >= 6);
    assert_int_equal(layout.block[BLOCK_RATE].rows, 0);
    assert_true(layout.block[BLOCK_OUTPUT].rows >= 3);
    assert_true(layout.block[BLOCK_SIZES].col > layout.block[BLOCK_CALLS].col);
    layout = overview(60, 200);
    assert_true(layout.block[BLOCK_RATE].rows >= 6);
    assert_true(layout.block[BLOCK_RATE].col > layout.block[BLOCK_STACK].col);
}

static void
small_sizes_drop_blocks_in_order(void **state)
{
    struct layout layout = overview(10, 40);

    (void)state;
    assert_int_equal(layout.block[BLOCK_CALLS].rows, 0);
    assert_true(layout.block[BLOCK_HEAP].rows >= 5);
    assert_int_equal(layout.block[BLOCK_MESSAGE].rows, 1);
    assert_true(layout.dropped_sizes);
    layout = overview(3, 20);
    assert_int_equal(layout.block[BLOCK_BRIEF].rows, 3);
    assert_int_equal(layout.block[BLOCK_HEAP].rows, 0);
}

static void
unusual_rows_of_the_table_go_first(void **state)
{
    const struct content content = { 9, 15, true, false, false };
    struct layout layout;

    (void)state;
    layout_overview(24, 80, &content, &layout);
    assert_true(layout.block[BLOCK_SIZES].rows > 0);
    assert_true(layout.block[BLOCK_CALLS].rows >= 6);
    assert_true(layout.block[BLOCK_CALLS].rows < 11);
}

static void
unmeasured_program_has_no_tables(void **state)
{
    const struct content content = { 4, 15, false, true, false };
    struct layout layout;

    (void)state;
    layout_overview(24, 80, &content, &layout);
    assert_int_equal(layout.block[BLOCK_CALLS].rows, 0);
    assert_int_equal(layout.block[BLOCK_SIZES].rows, 0);
    assert_int_equal(layout.block[BLOCK_STACK].rows, 0);
    assert_true(layout.block[BLOCK_OUTPUT].rows > 0);
    assert_false(layout.dropped_sizes);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_is_laid_out),
        cmocka_unit_test(nothing_fits_into_nothing),
        cmocka_unit_test(reference_size_shows_everything_but_output),
        cmocka_unit_test(wide_size_has_two_graphs_and_output),
        cmocka_unit_test(small_sizes_drop_blocks_in_order),
        cmocka_unit_test(unusual_rows_of_the_table_go_first),
        cmocka_unit_test(unmeasured_program_has_no_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
