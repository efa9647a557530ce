/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values are aligned, and no name is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "report/facts.h"

static void
expect(struct fact_list *facts, size_t cols, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    facts_write(out, facts, cols);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, expected);
    free(text);
}

static void
names_are_as_wide_as_wanted_or_needed(void **state)
{
    struct fact_list facts = {0};

    (void)state;
    expect(&facts, 4, "");
    facts_add(&facts, "one", "1");
    facts_add(&facts, "more", "2");
    expect(&facts, 6, "  one     1\n  more    2\n");
    facts_add(&facts, "b\xc3\xb6se", "3");
    facts_add(&facts, "\xe5\x8f\x97\xe5\x8f\x97\xe5\x8f\x97", "4");
    expect(&facts, 0,
           "  b\xc3\xb6se    3\n  \xe5\x8f\x97\xe5\x8f\x97\xe5\x8f\x97  4\n");
}

static void
values_are_bounded(void **state)
{
    struct fact_list facts = {0};
    char value[2 * FACTS_VALUE_MAX];

    (void)state;
    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    for (unsigned i = 0; i < 2 * FACTS_MAX; i++)
        facts_add(&facts, "name", value);
    assert_int_equal(facts.count, FACTS_MAX);
    assert_int_equal(strlen(facts.list[0].value), FACTS_VALUE_MAX - 1);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_as_wide_as_wanted_or_needed),
        cmocka_unit_test(values_are_bounded),
    };

    if (setlocale(LC_ALL, "C.UTF-8") == NULL)
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
