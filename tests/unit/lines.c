/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Terminal output to lines; every case also byte by byte. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "system/lines.h"

static void
check(const char *input, const char *expected)
{
    for (size_t step = 1; step <= strlen(input); step++) {
        struct line_ring *lines = lines_new(100);
        char joined[4096] = "";

        for (size_t at = 0; at < strlen(input); at += step)
            lines_feed(lines, input + at, strnlen(input + at, step));
        for (size_t i = 0; i < lines_count(lines); i++) {
            size_t length;
            const char *bytes = lines_get(lines, i, &length);

            if (i > 0)
                strcat(joined, "|");
            strncat(joined, bytes, length);
        }
        assert_string_equal(joined, expected);
        lines_free(lines);
    }
}

static void
test_text(void **state)
{
    (void)state;
    check("one\r\ntwo\r\n", "one|two");
    check("one\ntwo", "one|two");
    check("\n\n", "|");
    check("a\tb\001\002\177c\n", "a\tbc");
    check("\xD1\x8F\xE2\x82\xAC\n", "\xD1\x8F\xE2\x82\xAC");
}

static void
test_returns_and_backspaces(void **state)
{
    (void)state;
    check("10%\r20%\r30%\r\n", "30%");
    check("10%\r20%\r", "20%");
    check("ab\b\bc\n", "c");
    check("\b\bx\n", "x");
    check("a\xE2\x82\xAC\bz\n", "az");
    check("|\b/\b-\b \b", "");
}

static void
test_escapes(void **state)
{
    (void)state;
    check("\033[1;31mred\033[0m\n", "red");
    check("\033]0;a title\007text\n", "text");
    check("\033]8;;http://x\033\\link\033]8;;\033\\\n", "link");
    check("\033Pq#0\033\\dcs\n", "dcs");
    check("\033(Bplain\0337\033>\n", "plain");
    check("\033[2K\033[33;44Hx\033[?25l\n", "x");
    check("\033]unfinished\nnext\n", "next");
    check("\033\033[mx\n", "x");
    check("\033[1\nx\n", "|x");
}

static void
test_full_screen(void **state)
{
    static const char *const yes[] = {"\033[?1049h", "\033[?47h", "x\033[?1047hy"};
    static const char *const no[] = {"\033[?1049l", "\033[?25h", "[?1049h", "\033[1049h",
                                     "\033[?10490000000000000000h"};

    (void)state;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        struct line_ring *lines = lines_new(2);

        lines_feed(lines, yes[i], strlen(yes[i]));
        assert_true(lines_full_screen(lines));
        lines_free(lines);
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        struct line_ring *lines = lines_new(2);

        lines_feed(lines, no[i], strlen(no[i]));
        assert_false(lines_full_screen(lines));
        lines_free(lines);
    }
}

static void
test_only_the_latest_are_kept(void **state)
{
    struct line_ring *lines = lines_new(4);
    size_t length;

    (void)state;
    for (int i = 0; i < 103; i++) {
        char text[16];

        snprintf(text, sizeof text, "%d\n", i);
        lines_feed(lines, text, strlen(text));
    }
    assert_int_equal(lines_count(lines), 4);
    assert_int_equal(lines_dropped(lines), 99);
    assert_memory_equal(lines_get(lines, 0, &length), "99", 2);
    assert_memory_equal(lines_get(lines, 3, &length), "102", 3);
    lines_feed(lines, "open", 4);
    assert_int_equal(lines_count(lines), 5);
    assert_memory_equal(lines_get(lines, 4, &length), "open", 4);
    assert_int_equal(length, 4);
    lines_get(lines, 5, &length);
    assert_int_equal(length, 0);
    lines_free(lines);
    lines_free(NULL);
}

/* A line without end is split between characters, and nothing of it is lost. */
static void
test_long_line(void **state)
{
    struct line_ring *lines = lines_new(100);
    size_t total = 0, length;

    (void)state;
    for (int i = 0; i < 5000; i++)
        lines_feed(lines, "\xE2\x82\xAC", 3);
    for (size_t i = 0; i < lines_count(lines); i++) {
        const char *bytes = lines_get(lines, i, &length);

        assert_true(length <= LINE_BYTES);
        assert_int_equal(length % 3, 0);
        assert_memory_equal(bytes, "\xE2\x82\xAC", 3);
        total += length;
    }
    assert_int_equal(total, 15000);
    /* Endless continuation bytes do not exceed the line either. */
    for (int i = 0; i < 5000; i++)
        lines_feed(lines, "\x80", 1);
    lines_get(lines, lines_count(lines) - 1, &length);
    assert_true(length <= LINE_BYTES);
    lines_free(lines);
}

/* Whatever the input, only text is kept, and no line is too long. */
static void
test_noise(void **state)
{
    static const char interesting[] = "\033[?1049h]P\\\a\b\r\n\t\xE2\x82\xAC m(0;";
    struct line_ring *lines = lines_new(50);
    unsigned seed = 12345;

    (void)state;
    for (int i = 0; i < 2000000; i++) {
        char byte;

        seed = seed * 1103515245 + 12345;
        byte = seed & 0x10000 ? (char)(seed >> 20)
                              : interesting[(seed >> 20) % (sizeof interesting - 1)];
        lines_feed(lines, &byte, 1);
    }
    for (size_t i = 0; i < lines_count(lines); i++) {
        size_t length;
        const char *bytes = lines_get(lines, i, &length);

        assert_true(length <= LINE_BYTES);
        for (size_t j = 0; j < length; j++)
            assert_true((unsigned char)bytes[j] >= ' ' || bytes[j] == '\t');
    }
    lines_free(lines);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_returns_and_backspaces),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_full_screen),
        cmocka_unit_test(test_only_the_latest_are_kept),
        cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_noise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
