/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text is found by characters and counted in columns; tables are sorted. */
#include "config.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tui/search.h"
#include "tui/sort.h"

/* Expects the first match from column "from" on at column `at`; < 0: none. */
static void
expect(const char *text, const char *pattern, int from, int at, int cols)
{
    int col = from, found = 0;

    if (at < 0) {
        assert_false(search_text(text, pattern, &col, &found));
        return;
    }
    assert_true(search_text(text, pattern, &col, &found));
    assert_int_equal(col, at);
    assert_int_equal(found, cols);
}

static void
matches_are_counted_in_columns(void **state)
{
    (void)state;
    expect("a warning", "warn", 0, 2, 4);
    expect("warn warn", "warn", 1, 5, 4);
    expect("warn", "warn", 1, -1, 0);
    expect("漢字 и слово", "слово", 0, 7, 5);
    expect("漢字", "字", 0, 2, 2);
    expect("e\u0301 x", "x", 0, 2, 1);   /* an accent takes no column */
    expect("", "x", 0, -1, 0);
    expect("text", "", 0, -1, 0);
    expect("tex", "text", 0, -1, 0);
}

static void
small_letters_find_capitals_too(void **state)
{
    (void)state;
    expect("WARNING: Слово", "warn", 0, 0, 4);
    expect("WARNING: Слово", "слово", 0, 9, 5);
    expect("warning", "Warn", 0, -1, 0);
    expect("Warning", "Warn", 0, 0, 4);
}

static void
long_lines_do_no_harm(void **state)
{
    char *line = malloc(20001), pattern[SEARCH_MAX];
    int col = 0, cols;

    (void)state;
    assert_non_null(line);
    memset(line, 'x', 20000);
    line[20000] = '\0';
    memset(pattern, 'x', sizeof pattern - 1);
    pattern[sizeof pattern - 1] = '\0';
    assert_true(search_text(line, pattern, &col, &cols));
    assert_int_equal(cols, SEARCH_MAX - 1);
    col = 0;
    assert_false(search_text(line, "xy", &col, &cols));
    free(line);
}

static void
expect_order(const uint64_t *keys, size_t count, struct sort sort, const char *expected)
{
    uint16_t order[8];
    char text[9];

    sort_rows(order, count, &sort, keys);
    for (size_t i = 0; i < count; i++)
        text[i] = (char)('a' + order[i]);
    text[count] = '\0';
    assert_string_equal(text, expected);
}

static void
rows_are_put_in_order(void **state)
{
    const uint64_t keys[] = { 5, 9, 5, 0, UINT64_MAX };

    (void)state;
    expect_order(keys, 5, (struct sort){ 0, false }, "abcde");
    expect_order(keys, 5, (struct sort){ 0, true }, "edcba");
    expect_order(keys, 5, (struct sort){ 2, false }, "ebacd");
    expect_order(keys, 5, (struct sort){ 2, true }, "dacbe");
    expect_order(NULL, 3, (struct sort){ 1, false }, "abc");
    expect_order(keys, 0, (struct sort){ 1, false }, "");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_are_counted_in_columns),
        cmocka_unit_test(small_letters_find_capitals_too),
        cmocka_unit_test(long_lines_do_no_harm),
        cmocka_unit_test(rows_are_put_in_order),
    };

    if (setlocale(LC_ALL, "C.UTF-8") == NULL)
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
