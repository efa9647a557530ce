/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filters of sites as users write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "report/site-filter.h"

static struct profile_filter filter;
static const char *wrong;
static size_t length;

static bool
parse(const char *text)
{
    return site_filter_parse(text, &filter, &wrong, &length);
}

static void
expect_rule(unsigned index, enum profile_rule_kind kind, bool whole, const char *text)
{
    assert_true(index < filter.rule_count);
    assert_int_equal(filter.rules[index].kind, kind);
    assert_int_equal(filter.rules[index].whole, whole);
    assert_string_equal(filter.rules[index].text, text);
}

static void
words_are_names(void **state)
{
    (void)state;
    assert_true(parse("  push -=main ~\"operator new\" =f -g ~h "));
    assert_int_equal(filter.rule_count, 6);
    expect_rule(0, PROFILE_REQUIRE, false, "push");
    expect_rule(1, PROFILE_FORBID, true, "main");
    expect_rule(2, PROFILE_HIDE, false, "operator new");
    expect_rule(3, PROFILE_REQUIRE, true, "f");
    expect_rule(4, PROFILE_FORBID, false, "g");
    expect_rule(5, PROFILE_HIDE, false, "h");
    assert_true(parse(""));
    assert_int_equal(filter.rule_count, 0);
}

static void
conditions_are_ranges(void **state)
{
    (void)state;
    assert_true(parse("size=1K..64K life=..10ms samples=5"));
    assert_int_equal(filter.size_from, 1024);
    assert_int_equal(filter.size_to, 65536);
    assert_int_equal(filter.life_from_ns, 0);
    assert_int_equal(filter.life_to_ns, 10000000);
    assert_int_equal(filter.blocks_min, 5);
    assert_true(parse("size=4K.. life=1.5m.."));
    assert_int_equal(filter.size_from, 4096);
    assert_int_equal(filter.size_to, 0);
    assert_int_equal(filter.life_from_ns, INT64_C(90000000000));
    assert_true(parse("life=1500ms..7200"));
    assert_int_equal(filter.life_from_ns, INT64_C(1500000000));
    assert_int_equal(filter.life_to_ns, INT64_C(7200000000000));
    assert_true(parse("life=2..1h"));
    assert_int_equal(filter.life_from_ns, INT64_C(2000000000));
    assert_int_equal(filter.life_to_ns, INT64_C(3600000000000));
}

static void
what_is_not_understood_is_named(void **state)
{
    static const char *const bad[] = { "size=5",    "size=..",   "size=9..3", "size=x..",
                                       "size=..0",  "life=1",    "life=1y..", "life=5..2",
                                       "samples=",  "samples=x", "-",         "~=",
                                       "\"\"" };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[64] = "main ";

        strcat(text, bad[i]);
        assert_false(parse(text));
        assert_ptr_equal(wrong, text + 5);
        assert_int_equal(length, strlen(bad[i]));
    }
    assert_false(parse("a b c d e f g h i j k l m n o p q"));
    assert_int_equal(*wrong, 'q'); /* more words than fit */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_names),
        cmocka_unit_test(conditions_are_ranges),
        cmocka_unit_test(what_is_not_understood_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
