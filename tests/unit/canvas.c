/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text in cells: clipping, wide and combining characters, hostile bytes. */
#include "config.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tui/canvas.h"

static struct canvas canvas;

static int
set_up(void **state)
{
    (void)state;
    canvas.unicode = true;
    return canvas_resize(&canvas, 2, 10) ? 0 : -1;
}

static int
tear_down(void **state)
{
    (void)state;
    canvas_free(&canvas);
    return 0;
}

static void
expect(const char *row0)
{
    char buffer[4096];

    assert_true(canvas_row_bytes(&canvas) <= sizeof buffer);
    canvas_row_text(&canvas, 0, buffer);
    assert_string_equal(buffer, row0);
    canvas_row_text(&canvas, 1, buffer);
    assert_string_equal(buffer, "");
}

static void
text_is_clipped_at_its_columns(void **state)
{
    (void)state;
    assert_int_equal(canvas_put(&canvas, 0, 1, 4, ROLE_NORMAL, "heap"), 4);
    expect(" heap");
    assert_int_equal(canvas_put(&canvas, 0, 1, 4, ROLE_NORMAL, "heaps"), 4);
    expect(" hea…");
    assert_int_equal(canvas_put(&canvas, 0, 7, 99, ROLE_NORMAL, "abc"), 3);
    expect(" hea…  abc");
}

static void
nothing_is_written_outside(void **state)
{
    (void)state;
    canvas_put(&canvas, -1, 0, 9, ROLE_NORMAL, "above");
    canvas_put(&canvas, 2, 0, 9, ROLE_NORMAL, "below");
    canvas_put(&canvas, 0, 10, 9, ROLE_NORMAL, "right");
    canvas_put(&canvas, 0, -3, 9, ROLE_NORMAL, "left");
    canvas_put(&canvas, 0, 0, -5, ROLE_NORMAL, "none");
    canvas_char(&canvas, 0, 10, ROLE_NORMAL, L'x');
    canvas_paint(&canvas, 0, -5, 100, ROLE_BAD);
    canvas_bar(&canvas, 5, 5, 100, ROLE_BAD, 1);
    expect("");
}

static void
fields_are_padded(void **state)
{
    (void)state;
    canvas_field(&canvas, 0, 0, 10, TEXT_LEFT, ROLE_NORMAL, "xxxxxxxxxx");
    canvas_field(&canvas, 0, 2, 6, TEXT_RIGHT, ROLE_NORMAL, "42");
    expect("xx    42xx");
}

static void
wide_characters_are_whole_or_absent(void **state)
{
    (void)state;
    canvas_put(&canvas, 0, 8, 2, ROLE_NORMAL, "漢");
    expect("        漢");
    canvas_char(&canvas, 0, 9, ROLE_NORMAL, L'x');
    expect("         x");
    canvas_put(&canvas, 0, 0, 10, ROLE_NORMAL, "漢字");
    canvas_char(&canvas, 0, 0, ROLE_NORMAL, L'y');
    expect("y 字     x");
}

static void
combining_characters_join_their_base(void **state)
{
    (void)state;
    assert_int_equal(canvas_put(&canvas, 0, 0, 10, ROLE_NORMAL, "e\u0301t"), 2);
    expect("e\u0301t");
    assert_int_equal(canvas.cells[1].text[0], L't');
}

static void
hostile_bytes_become_question_marks(void **state)
{
    (void)state;
    canvas_put(&canvas, 0, 0, 10, ROLE_NORMAL, "\033[2J\xff\nx");
    expect("?[2J? x");
}

static void
bars_show_eighths(void **state)
{
    (void)state;
    canvas_bar(&canvas, 0, 0, 4, ROLE_GAUGE, 0.5 + 1.0 / 32);
    expect("██▏");
    canvas_clear(&canvas);
    canvas_bar(&canvas, 0, 0, 4, ROLE_GAUGE, 0.0001);
    expect("▏");
    canvas_bar(&canvas, 0, 0, 4, ROLE_GAUGE, 7);
    expect("████");
    canvas_clear(&canvas);
    canvas_bar(&canvas, 0, 0, 4, ROLE_GAUGE, 0);
    expect("");
}

static void
ascii_uses_no_drawing_characters(void **state)
{
    (void)state;
    canvas.unicode = false;
    canvas_rule(&canvas, 0, 0, 10, "ab", "");
    expect("- ab -----");
    canvas_bar(&canvas, 0, 0, 10, ROLE_GAUGE, 0.4);
    expect("|||| -----");
    for (int glyph = 0; glyph < GLYPH_COUNT; glyph++) {
        canvas_glyph(&canvas, 0, 0, ROLE_NORMAL, (enum glyph)glyph);
        assert_true(canvas.cells[0].text[0] < 0x80);
    }
}

static void
rules_carry_titles(void **state)
{
    (void)state;
    assert_true(canvas_resize(&canvas, 2, 24));
    canvas_rule(&canvas, 0, 0, 24, "Heap", "peak 4");
    expect("─ Heap ──────── peak 4 ─");
    canvas_rule(&canvas, 0, 0, 12, "A long title", "x");
    expect("─ A long … ──── peak 4 ─");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(text_is_clipped_at_its_columns, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_written_outside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fields_are_padded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wide_characters_are_whole_or_absent, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(combining_characters_join_their_base, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(hostile_bytes_become_question_marks, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(bars_show_eighths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ascii_uses_no_drawing_characters, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(rules_carry_titles, set_up, tear_down),
    };

    if (setlocale(LC_ALL, "C.UTF-8") == NULL)
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
