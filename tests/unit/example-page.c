/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The example page of doc/HACKING, built from that text: it is in the list of pages like
   the others, can be sorted, and is drawn at every size. */
#include "config.h"

#include <locale.h>

#include "pages.h"

static char *
row_text(int row)
{
    static char line[16384];

    canvas_row_text(&screen.canvas, row, line);
    return line;
}

/* The words are in this order in a row. */
static void
expect_words(int row, const char *const *words, size_t count)
{
    const char *rest = row_text(row);

    for (size_t i = 0; i < count; i++) {
        rest = strstr(rest, words[i]);
        assert_non_null(rest);
        rest += strlen(words[i]);
    }
}

#define EXPECT_WORDS(row, ...)                                                           \
    expect_words(row, (const char *const[]){__VA_ARGS__},                                \
                 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static struct session *
begin(void)
{
    struct session *session = play_text(running, 7 * SECOND);

    view.page = PAGE_TOTALS;
    return session;
}

static void
it_is_one_of_the_pages(void **state)
{
    (void)state;
    assert_int_equal(pages_count(), PAGE_TOTALS + 1);
    assert_int_equal(pages_next(PAGE_BLOCKS, 1), PAGE_TOTALS);
    assert_int_equal(pages_next(PAGE_TOTALS, 1), PAGE_OVERVIEW);
    assert_int_equal(pages_next(PAGE_OVERVIEW, -1), PAGE_TOTALS);
    assert_string_equal(pages_title(PAGE_TOTALS), "Totals");
    /* It has no digit key. */
    for (int digit = 0; digit < 10; digit++)
        assert_int_not_equal(view_page_of_digit(digit), PAGE_TOTALS);
    assert_int_equal(pages_of_key(0), pages_count());
}

static void
it_is_drawn(void **state)
{
    struct session *session = begin();

    (void)state;
    draw(24, 80);
    expect_golden("totals-80x24-utf8");
    EXPECT_WORDS(2, "now", "peak");
    EXPECT_WORDS(3, " Heap ", "62.00 MiB", "100.0 MiB");
    /* A narrow window has no room for the peaks, a low one not for headings. */
    draw(24, 20);
    EXPECT_WORDS(3, " Heap ", "62.00 MiB");
    assert_null(strstr(row_text(2), "peak"));
    draw(4, 80);
    EXPECT_WORDS(1, " Heap ", "62.00 MiB", "100.0 MiB");
    session_free(session);
}

static void
it_is_sorted(void **state)
{
    struct session *session = begin();

    (void)state;
    assert_string_equal(view_sort_column(PAGE_TOTALS, 1), "now");
    assert_string_equal(view_sort_column(PAGE_TOTALS, 2), "peak");
    assert_null(view_sort_column(PAGE_TOTALS, 3));
    view.sort[PAGE_TOTALS] = (struct sort){2, true};
    draw(24, 80);
    EXPECT_WORDS(3, " Stack ");
    EXPECT_WORDS(4, " Heap ");
    session_free(session);
}

static void
it_fits_every_size(void **state)
{
    struct session *session = begin();

    (void)state;
    for (int rows = 1; rows <= 40; rows++)
        for (int cols = 1; cols <= 130; cols++) {
            draw(rows, cols);
            assert_int_equal(view_scroll_limit(&screen, &view, &scene), 0);
        }
    session_free(session);
    session = play_text(unmeasured, 7 * SECOND);
    view.page = PAGE_TOTALS;
    draw(24, 80);
    assert_non_null(strstr(row_text(2), "not measured"));
    session_free(session);
}

static int
tear_down(void **state)
{
    (void)state;
    picture_free(&screen);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_one_of_the_pages),
        cmocka_unit_test(it_is_drawn),
        cmocka_unit_test(it_is_sorted),
        cmocka_unit_test(it_fits_every_size),
    };

    if (setlocale(LC_ALL, "C.UTF-8") == NULL)
        return 77;
    screen.canvas.unicode = true;
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
