/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Columns, clipping, padding and sanitising, in UTF-8 and in the C locale. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <locale.h>

#include "base/textwidth.h"

#define ELLIPSIS "\xe2\x80\xa6"
#define WIDE     "\xe6\xbc\xa2" /* one character of two columns */
#define ACUTE    "\xcc\x81"     /* combining: no column of its own */

static int
use_utf8(void **state)
{
    (void)state;
    return setlocale(LC_ALL, "C.UTF-8") == NULL
           && setlocale(LC_ALL, "en_US.UTF-8") == NULL;
}

static int
use_c(void **state)
{
    (void)state;
    text_ascii_ellipsis(false);
    return setlocale(LC_ALL, "C") == NULL;
}

static void
columns(void **state)
{
    (void)state;
    assert_int_equal(text_columns(""), 0);
    assert_int_equal(text_columns("abc"), 3);
    assert_int_equal(text_columns("жук"), 3);
    assert_int_equal(text_columns(WIDE "x"), 3);
    assert_int_equal(text_columns("e" ACUTE), 1);
    assert_int_equal(text_columns("\x1b[2J"), 4);
    assert_int_equal(text_columns("\xff\xfe"), 2);
    assert_int_equal(text_columns("\xe6\xbc"), 2); /* cut short */
}

static void
sanitised(void **state)
{
    char buf[64];

    (void)state;
    assert_string_equal(text_sanitise(buf, sizeof buf, "a\x1b[31mb\n", 8), "a?[31mb ");
    assert_string_equal(text_sanitise(buf, sizeof buf, "a\0b", 3), "a?b");
    assert_string_equal(text_sanitise(buf, sizeof buf, "\x7f\t\r", 3), "? ?");
    assert_string_equal(text_sanitise(buf, sizeof buf, "\xc2\x9b" "1m", 4), "?1m");
    assert_string_equal(text_sanitise(buf, sizeof buf, "\xe2\x80\xae" "x", 4), "?x");
    assert_string_equal(text_sanitise(buf, sizeof buf, "\xc0\x80", 2), "??");
    assert_string_equal(text_sanitise(buf, sizeof buf, "жук", 6), "жук");
    assert_string_equal(text_sanitise(buf, sizeof buf, "жук", 5), "жу?");
    assert_string_equal(text_sanitise(buf, 4, "жук", 6), "ж");
}

static void
clipped(void **state)
{
    char buf[64];

    (void)state;
    assert_string_equal(text_clip(buf, sizeof buf, "abcdef", 6), "abcdef");
    assert_string_equal(text_clip(buf, sizeof buf, "abcdef", 5), "abcd" ELLIPSIS);
    assert_string_equal(text_clip(buf, sizeof buf, "abcdef", 1), ELLIPSIS);
    assert_string_equal(text_clip(buf, sizeof buf, "abcdef", 0), "");
    assert_string_equal(text_clip(buf, sizeof buf, WIDE WIDE WIDE, 4), WIDE ELLIPSIS);
    assert_string_equal(text_clip(buf, sizeof buf, WIDE WIDE WIDE, 5),
                        WIDE WIDE ELLIPSIS);
    assert_string_equal(text_clip(buf, sizeof buf, "e" ACUTE "e" ACUTE, 2),
                        "e" ACUTE "e" ACUTE);
    assert_string_equal(text_clip(buf, sizeof buf, "a\x1b", 2), "a?");
    text_ascii_ellipsis(true);
    assert_string_equal(text_clip(buf, sizeof buf, "abcdef", 5), "ab...");
    assert_string_equal(text_clip(buf, sizeof buf, "abcdef", 2), "..");
    text_ascii_ellipsis(false);
}

static void
padded(void **state)
{
    char buf[64];

    (void)state;
    assert_string_equal(text_pad(buf, sizeof buf, "жук", 5, TEXT_LEFT), "жук  ");
    assert_string_equal(text_pad(buf, sizeof buf, "жук", 5, TEXT_RIGHT), "  жук");
    assert_string_equal(text_pad(buf, sizeof buf, WIDE WIDE, 2, TEXT_LEFT), ELLIPSIS " ");
    assert_string_equal(text_pad(buf, sizeof buf, "abc", 0, TEXT_RIGHT), "");
}

static void
lines(void **state)
{
    char line[16];

    (void)state;
    assert_int_equal(text_line(line, sizeof line, "two   words", 4), 6);
    assert_string_equal(line, "two");
    assert_int_equal(text_line(NULL, 0, "", 10), 0);
    assert_int_equal(text_line(NULL, 0, "whole", 5), 5);
    assert_int_equal(text_line(NULL, 0, "two words", 9), 9);
    assert_int_equal(text_line(NULL, 0, "two words", 8), 4);
    assert_int_equal(text_line(NULL, 0, "two words", 3), 4);
    assert_int_equal(text_line(NULL, 0, "two words", 2), 2);
    assert_int_equal(text_line(NULL, 0, "two   words", 4), 6);
    assert_int_equal(text_line(NULL, 0, "x", 0), 1);
    assert_int_equal(text_line(NULL, 0, WIDE WIDE WIDE, 5), 6);
    assert_int_equal(text_line(NULL, 0, WIDE, 1), 3);
    assert_int_equal(text_line(NULL, 0, WIDE "json", 5), 3);
    assert_int_equal(text_line(NULL, 0, "json" WIDE, 5), 4);
    assert_int_equal(text_line(NULL, 0, "json " WIDE WIDE, 7), 8);
    assert_int_equal(text_line(NULL, 0, WIDE WIDE "，" WIDE, 5), 3);
    assert_int_equal(text_line(NULL, 0, WIDE "（" WIDE WIDE, 5), 3);
    assert_int_equal(text_line(NULL, 0, "（" WIDE, 3), 3);
    assert_int_equal(text_line(NULL, 0, "e" ACUTE "e" ACUTE, 1), 3);
}

static void
tails(void **state)
{
    (void)state;
    assert_string_equal(text_tail("two words", 9), "two words");
    assert_string_equal(text_tail("two words", 8), "words");
    assert_string_equal(text_tail("two words", 5), "words");
    assert_string_equal(text_tail("two words", 4), "ords");
    assert_string_equal(text_tail("two words", 0), "");
    assert_string_equal(text_tail("", 5), "");
    assert_string_equal(text_tail("жук", 2), "ук");
    assert_string_equal(text_tail(WIDE WIDE WIDE, 5), WIDE WIDE);
    assert_string_equal(text_tail("e" ACUTE "e" ACUTE, 1), "e" ACUTE);
}

static void
c_locale(void **state)
{
    char buf[64];

    (void)state;
    assert_int_equal(text_columns("жук"), 6);
    assert_string_equal(text_clip(buf, sizeof buf, "abcdef", 5), "ab...");
    assert_string_equal(text_sanitise(buf, sizeof buf, "ж\x1b", 3), "???");
    assert_string_equal(text_utf8(buf, sizeof buf, "жук\x1b\xff"), "жук??");
}

static void
utf8_for_files(void **state)
{
    char buf[64];

    (void)state;
    assert_string_equal(text_utf8(buf, sizeof buf, "жук " WIDE " \xf0\x9f\x98\x80"),
                        "жук " WIDE " \xf0\x9f\x98\x80");
    /* surrogate */
    assert_string_equal(text_utf8(buf, sizeof buf, "\xed\xa0\x80"), "???");
    assert_string_equal(text_utf8(buf, sizeof buf, "\xc0\xaf"), "??");      /* overlong */
    assert_string_equal(text_utf8(buf, sizeof buf, "\xf4\x90\x80\x80"), "????");
    assert_string_equal(text_utf8(buf, sizeof buf, "\xe6\xbc"), "??");
    assert_string_equal(text_utf8(buf, sizeof buf, "\xc2\x85"), "?");
    assert_string_equal(text_utf8(buf, sizeof buf, "for x\ndo\ty\r\n"), "for x do y? ");
    assert_string_equal(text_utf8(buf, 4, "жук"), "ж");
}

static void
utf8_from_another_charset(void **state)
{
    char buf[64];

    (void)state;
    if (setlocale(LC_CTYPE, "ru_RU.KOI8-R") == NULL)
        skip();
    text_utf8(buf, sizeof buf, "\xd6\xd5\xcb");
    setlocale(LC_CTYPE, "C");
    assert_string_equal(buf, "жук");
}

/* Any bytes and any sizes: the output is bounded, terminated, at most as wide as asked
   for, and clean. */
static void
anything_is_bounded(void **state)
{
    uint32_t seed = 1;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        char text[24], out[24], again[64];
        size_t size = round % 20 + 1;
        size_t limit = round / 7 % 12;

        for (size_t i = 0; i < sizeof text - 1; i++) {
            seed = seed * 1103515245 + 12345;
            text[i] = (char)(seed >> 16 & 0x100 ? 'a' : seed >> 17);
            if (text[i] == '\0')
                text[i] = (char)0xe2;
        }
        text[sizeof text - 1] = '\0';
        memset(out, 'x', sizeof out);
        text_pad(out, size, text, limit, round % 2 ? TEXT_LEFT : TEXT_RIGHT);
        assert_non_null(memchr(out, '\0', size));
        assert_int_equal(out[size], 'x');
        assert_true(text_columns(out) <= limit);
        assert_string_equal(text_sanitise(again, sizeof again, out, strlen(out)), out);
        text_utf8(out, size, text);
        assert_non_null(memchr(out, '\0', size));
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(columns, use_utf8),
        cmocka_unit_test_setup(sanitised, use_utf8),
        cmocka_unit_test_setup(clipped, use_utf8),
        cmocka_unit_test_setup(padded, use_utf8),
        cmocka_unit_test_setup(lines, use_utf8),
        cmocka_unit_test_setup(tails, use_utf8),
        cmocka_unit_test_setup(c_locale, use_c),
        cmocka_unit_test_setup(utf8_for_files, use_utf8),
        cmocka_unit_test_setup(utf8_from_another_charset, use_c),
        cmocka_unit_test_setup(anything_is_bounded, use_utf8),
        cmocka_unit_test_setup(anything_is_bounded, use_c),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
