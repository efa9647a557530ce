/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables: which columns fit a window, how wide they are, headings, the cursor, scrolling
   and sorting. */
#include "config.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tui/table.h"

struct item {
    const char *name;
    unsigned count;
};

static const struct item items[] = {{"one", 1}, {"three", 3}, {"two", 2}};
static struct canvas canvas;
static int shares_seen;

static const void *
item_row(const struct table_rows *rows, size_t index)
{
    return (const struct item *)rows->data + index;
}

static void
name_cell(struct table_cell *cell, const struct table_at *at)
{
    cell->text = ((const struct item *)at->row)->name;
}

static uint64_t
count_key(const struct table_at *at)
{
    return ((const struct item *)at->row)->count;
}

static void
count_cell(struct table_cell *cell, const struct table_at *at)
{
    snprintf(cell->room, sizeof cell->room, "%u", (unsigned)count_key(at));
    if (count_key(at) == 3)
        cell->role = ROLE_BAD;
}

static void
draw_bar(struct canvas *to, const struct rect *field, const struct table_at *at)
{
    for (int i = 0; i < field->cols; i++)
        canvas_char(to, field->row, field->col + i, at->column->role, L'#');
}

static bool
is_hidden(const struct table_at *at)
{
    assert_ptr_equal(at->data, items);
    return false;
}

static int
wide_content(const struct table_at *at)
{
    shares_seen = at->cols;
    return 6;
}

static void
interval_heading(struct table_cell *cell, const struct table_at *at)
{
    snprintf(cell->room, sizeof cell->room, "w%d", at->cols);
}

/* `count` rows, shown from `first` on. */
static struct table_rows
rows_of(size_t count, size_t first)
{
    return (struct table_rows){.data = items,
                               .count = count,
                               .row = item_row,
                               .first = first,
                               .selected = TABLE_NO_ROW};
}

/* Draws the table in a window of that size and compares its lines from the top, without
   blanks at their ends. */
static void
expect(const struct table *table, const struct table_rows *rows, int height, int cols,
       const char *const *lines, size_t count)
{
    const struct rect rect = {0, 0, height, cols};
    char line[4096];

    assert_true(canvas_resize(&canvas, height, cols));
    canvas_clear(&canvas);
    table_draw(&canvas, &rect, table, rows);
    for (size_t i = 0; i < (size_t)height; i++) {
        canvas_row_text(&canvas, (int)i, line);
        assert_string_equal(line, i < count ? lines[i] : "");
    }
}

#define EXPECT(table, rows, height, cols, ...)                                           \
    expect(table, rows, height, cols, (const char *const[]){__VA_ARGS__},                \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static enum role
role_at(int row, int col)
{
    return (enum role)canvas.cells[row * canvas.cols + col].role;
}

static const struct table_column narrow_columns[] = {
    {.title = "name", .grow = true, .cell = name_cell},
};
static const struct table narrow = {TABLE_COLUMNS(narrow_columns)};

static const struct table_column ranked_columns[] = {
    {.title = "name", .fit = true, .cell = name_cell},
    {TABLE_FIGURE, .title = "a", .least = 3, .rank = 2, .cell = count_cell},
    {TABLE_SIGNED, .title = "count", .cell = count_cell, .sort = 1, .key = count_key},
    {TABLE_FIGURE, .title = "bb", .least = 6, .rank = 1, .cell = count_cell},
    {TABLE_FIGURE, .title = "hidden", .rank = 1, .shown = is_hidden, .cell = count_cell},
    {TABLE_FIGURE, .title = "c", .rank = 3, .loose = true, .cell = count_cell},
};
static const struct table ranked = {TABLE_COLUMNS(ranked_columns), .narrow = &narrow};

/* The name has 4 columns, the count 7; the others 7, 4 and 2. */
static void
columns_leave_by_rank(void **state)
{
    const struct table_rows rows = rows_of(1, 0);

    (void)state;
    EXPECT(&ranked, &rows, 3, 24, "name   a  count     bb c", "one    1      1      1 1");
    EXPECT(&ranked, &rows, 3, 23, "name   a  count     bb", "one    1      1      1");
    EXPECT(&ranked, &rows, 3, 22, "name   a  count     bb", "one    1      1      1");
    /* The loose column fits where a more important one does not, ... */
    EXPECT(&ranked, &rows, 3, 21, "name  count     bb c", "one       1      1 1");
    /* ... and after a column that does not fit, those that are not loose are left out. */
    EXPECT(&ranked, &rows, 3, 17, "name  count c", "one       1 1");
    EXPECT(&ranked, &rows, 3, 12, "name  count", "one       1");
    EXPECT(&ranked, &rows, 3, 11, "name  count", "one       1");
    EXPECT(&ranked, &rows, 3, 10, "name", "one");
}

static const struct table_column growing_columns[] = {
    {.title = "a title that does not count",
     .fit = true,
     .cell = name_cell,
     .grow = true},
    {TABLE_FIGURE, .content = wide_content, .heading = interval_heading,
     .cell = count_cell},
    {.gap = 1, .least = 1, .grow = true, .rank = 1, .role = ROLE_HEAP, .draw = draw_bar},
};
static const struct table growing = {TABLE_COLUMNS(growing_columns), .margin = 1};

static void
columns_share_what_is_left(void **state)
{
    const struct table_rows rows = rows_of(3, 1);

    (void)state;
    EXPECT(&growing, &rows, 4, 20, "a titl\u2026     w7", "three        3 ###",
           "two          2 ###");
    assert_int_equal(shares_seen, 20 - 1 - 5);
    assert_int_equal(role_at(1, 17), ROLE_HEAP);
    /* Without room for the bar; then without room for the name. */
    EXPECT(&growing, &rows, 4, 14, "a tit\u2026     w7", "three       3",
           "two         2");
    EXPECT(&growing, &rows, 4, 8, "     w7", "      3", "      2");
    EXPECT(&growing, &rows, 4, 7, "     w7", "      3", "      2");
}

static void
narrow_windows_have_columns_of_their_own(void **state)
{
    static const struct table_column columns[] = {
        {.title = "name", .grow = true, .part = {1, 2}, .cell = name_cell},
        {TABLE_FIGURE, .title = "n", .rank = 1, .cell = count_cell},
        {TABLE_FIGURE, .title = "count", .rank = 2, .cell = count_cell},
    };
    const struct table table = {TABLE_COLUMNS(columns), .narrow_below = 10,
                                .narrow = &narrow};
    const struct table_rows rows = rows_of(1, 0);

    (void)state;
    EXPECT(&table, &rows, 3, 16, "name     n count", "one      1     1");
    /* The name gets half of it. */
    EXPECT(&table, &rows, 3, 11, "name      n", "one       1");
    EXPECT(&table, &rows, 3, 9, "name", "one");
}

static void
wide_titles_have_their_columns(void **state)
{
    static const struct table_column columns[] = {
        {.title = "\u540d\u524d\u540d", .fit = true, .cell = name_cell},
        {TABLE_FIGURE, .title = "\u6570\u6570", .cell = count_cell},
    };
    const struct table table = {TABLE_COLUMNS(columns)};
    const struct table_rows rows = rows_of(1, 0);

    (void)state;
    EXPECT(&table, &rows, 3, 20, "\u540d\u524d\u540d \u6570\u6570", "one       1");
}

static void
low_windows_have_no_headings(void **state)
{
    const struct table_rows rows = rows_of(3, 0), scrolled = rows_of(3, 2);
    const struct table bare = {TABLE_COLUMNS(narrow_columns), .bare = true};

    (void)state;
    EXPECT(&narrow, &rows, 2, 20, "one", "three");
    EXPECT(&narrow, &scrolled, 3, 20, "name", "two");
    EXPECT(&bare, &rows, 3, 20, "one", "three", "two");
    assert_false(table_has_headings(2));
    assert_true(table_has_headings(3));
    assert_int_equal(table_room(3), 2);
    assert_int_equal(table_room(2), 2);
}

static void
the_cursor_stands_in_its_row(void **state)
{
    struct table_rows rows = rows_of(3, 0);

    (void)state;
    rows.selected = 1;
    EXPECT(&ranked, &rows, 4, 13, "name   count", "one        1", ">hree      3",
           "two        2");
    for (int col = 0; col < 13; col++) {
        assert_int_equal(role_at(2, col), ROLE_PROMPT);
        assert_int_not_equal(role_at(1, col), ROLE_PROMPT);
    }
}

/* The role applies only to the figure's text: reversed text must not fill the field. */
static void
a_figure_has_its_role(void **state)
{
    const struct table_rows rows = rows_of(3, 0);

    (void)state;
    EXPECT(&ranked, &rows, 4, 12, "name   count", "one        1", "three      3",
           "two        2");
    assert_int_equal(role_at(2, 11), ROLE_BAD);
    assert_int_equal(role_at(2, 10), ROLE_NORMAL);
    assert_int_equal(role_at(1, 11), ROLE_NORMAL);
}

static void
rows_are_sorted(void **state)
{
    struct sort sort = {1, false};
    struct table_rows rows = rows_of(3, 0);
    uint64_t keys[3];
    uint16_t order[3];

    (void)state;
    rows.sort = &sort;
    assert_string_equal(table_sort_title(&ranked, 1), "count");
    assert_null(table_sort_title(&ranked, 0));
    assert_null(table_sort_title(&ranked, 2));
    table_sort(&ranked, &rows, keys, order);
    EXPECT(&ranked, &rows, 4, 13, "name  \u25bccount", "three      3", "two        2",
           "one        1");
    assert_ptr_equal(table_row(&rows, 0), &items[1]);
    assert_int_equal(role_at(0, 6), ROLE_TITLE);
    assert_int_equal(role_at(0, 0), ROLE_DIM);
    sort.reverse = true;
    table_sort(&ranked, &rows, keys, order);
    EXPECT(&ranked, &rows, 4, 13, "name  \u25b2count", "one        1", "two        2",
           "three      3");
    /* Column 0 is the page's own order. */
    sort = (struct sort){0, false};
    table_sort(&ranked, &rows, keys, order);
    EXPECT(&ranked, &rows, 4, 13, "name   count", "one        1", "three      3",
           "two        2");
}

static int
tear_down(void **state)
{
    (void)state;
    canvas_free(&canvas);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_leave_by_rank),
        cmocka_unit_test(columns_share_what_is_left),
        cmocka_unit_test(narrow_windows_have_columns_of_their_own),
        cmocka_unit_test(wide_titles_have_their_columns),
        cmocka_unit_test(low_windows_have_no_headings),
        cmocka_unit_test(the_cursor_stands_in_its_row),
        cmocka_unit_test(a_figure_has_its_role),
        cmocka_unit_test(rows_are_sorted),
    };

    if (setlocale(LC_ALL, "C.UTF-8") == NULL)
        return 77;
    canvas.unicode = true;
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
