/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The page of exact block sizes: sorted, filtered, not recorded, at every size. */
#include "config.h"

#include <locale.h>

#include "pages.h"

static struct session *
begin(void)
{
    struct session *session = play_text(running, 2 * SECOND);

    view.page = PAGE_BLOCKS;
    return session;
}

static void
table_is_as_drawn(void **state)
{
    static const int sizes[][2] = {{3, 20}, {10, 40}, {24, 80}, {40, 120}};
    char name[64];

    (void)state;
    for (int unicode = 0; unicode < 2; unicode++) {
        screen.canvas.unicode = unicode;
        text_ascii_ellipsis(!unicode);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct session *session = begin();

            count_blocks();
            draw(sizes[i][0], sizes[i][1]);
            snprintf(name, sizeof name, "blocks-table-%dx%d-%s", sizes[i][1], sizes[i][0],
                     unicode ? "utf8" : "ascii");
            expect_golden(name);
            session_free(session);
        }
    }
}

static void
not_recorded_is_as_drawn(void **state)
{
    struct session *session = begin();

    (void)state;
    draw(10, 40);
    expect_golden("blocks-none-40x10-utf8");
    draw(3, 20);
    expect_golden("blocks-none-20x3-utf8");
    scene.saved = true;
    draw(10, 40);
    expect_golden("blocks-saved-40x10-utf8");
    view.history = true;
    count_blocks();
    draw(10, 40);
    expect_golden("blocks-past-40x10-utf8");
    session_free(session);
}

/* The sizes shown, in order. */
static void
expect_sizes(const uint64_t *sizes, size_t count)
{
    assert_int_equal(block_table.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(block_table.rows[i].size, sizes[i]);
}

static void
sorted_and_filtered(void **state)
{
    struct session *session = begin();
    struct sort *sort = &view.sort[PAGE_BLOCKS];

    (void)state;
    count_blocks();
    expect_sizes((const uint64_t[]){24, 500, 1000, 123456789}, 4);
    *sort = (struct sort){0, true};
    count_blocks();
    expect_sizes((const uint64_t[]){123456789, 1000, 500, 24}, 4);
    *sort = (struct sort){BLOCK_PEAK, false};
    count_blocks();
    expect_sizes((const uint64_t[]){1000, 24, 500, 123456789}, 4);
    *sort = (struct sort){BLOCK_ALLOCATIONS, true};
    count_blocks();
    expect_sizes((const uint64_t[]){500, 123456789, 1000, 24}, 4);
    snprintf(view.sizes_shown, sizeof view.sizes_shown, "24-1K");
    count_blocks();
    expect_sizes((const uint64_t[]){500, 1000, 24}, 3);
    draw(10, 40);
    expect_golden("blocks-filtered-40x10-utf8");
    snprintf(view.sizes_shown, sizeof view.sizes_shown, "25");
    count_blocks();
    expect_sizes(NULL, 0);
    draw(10, 40);
    expect_golden("blocks-filtered-away-40x10-utf8");
    session_free(session);
}

static void
filters_are_understood(void **state)
{
    uint64_t from, to;

    (void)state;
    assert_true(blocks_filter("", &from, &to));
    assert_true(from == 0 && to == UINT64_MAX);
    assert_true(blocks_filter("64", &from, &to));
    assert_true(from == 64 && to == 64);
    assert_true(blocks_filter("16-4K", &from, &to));
    assert_true(from == 16 && to == 4096);
    assert_true(blocks_filter("1M-", &from, &to));
    assert_true(from == 1 << 20 && to == UINT64_MAX);
    assert_true(blocks_filter("-100", &from, &to));
    assert_true(from == 0 && to == 100);
    assert_false(blocks_filter("-", &from, &to));
    assert_false(blocks_filter("5-4", &from, &to));
    assert_false(blocks_filter("big", &from, &to));
    assert_false(blocks_filter("5x", &from, &to));
}

static void
fits_every_size(void **state)
{
    struct session *session = begin();

    (void)state;
    count_blocks();
    for (int rows = 1; rows <= 60; rows += rows < 30 ? 1 : 7)
        for (int cols = 1; cols <= 250; cols += cols < 50 ? 1 : 9) {
            view.scroll = 0;
            draw(rows, cols);
            assert_true(view_scroll_limit(&screen, &view, &scene) >= 0);
            view.scroll = view_scroll_limit(&screen, &view, &scene);
            draw(rows, cols);
        }
    session_free(session);
}

/* Shares of the time change even if nothing is called. */
static void
shares_are_until_now(void **state)
{
    struct block_call call = {.kind = FN_MALLOC, .address = 16, .size = 100};
    struct blocksizes *blocks;
    struct counts counts;

    (void)state;
    counts_default(&counts);
    blocks = blocksizes_new(&counts, 1);
    assert_non_null(blocks);
    call.time_ns = 1000;
    assert_true(blocksizes_call(blocks, &call));
    assert_true(blocks_take(&block_table, blocks, 0));
    assert_int_equal(block_table.shares, 0);
    assert_true(blocks_take(&block_table, blocks, 4000));
    assert_int_equal(block_table.shares, 1);
    assert_float_equal(block_table.rows[0].share[0], 75, 0.001);
    assert_int_equal(block_table.sum.end, 1000);
    blocksizes_free(blocks);
}

static int
tear_down(void **state)
{
    (void)state;
    blocks_free(&block_table);
    picture_free(&screen);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_as_drawn),
        cmocka_unit_test(not_recorded_is_as_drawn),
        cmocka_unit_test(sorted_and_filtered),
        cmocka_unit_test(filters_are_understood),
        cmocka_unit_test(shares_are_until_now),
        cmocka_unit_test(fits_every_size),
    };

    if (setlocale(LC_ALL, "C.UTF-8") == NULL)
        return 77;
    screen.canvas.unicode = true;
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
