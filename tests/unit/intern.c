/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts that are kept once. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/intern.h"

static void
test_numbers(void **state)
{
    struct intern_table table = {0};
    const struct interned *first = intern_bytes(&table, "a\0b", 3);
    char text[16];

    (void)state;
    assert_int_equal(first->number, 0);
    assert_int_equal(intern_bytes(&table, "a", 1)->number, 1);
    assert_int_equal(intern_bytes(&table, "", 0)->number, 2);
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "text %u", i);
        assert_int_equal(intern_bytes(&table, text, strlen(text))->number, 3 + i);
    }
    assert_ptr_equal(intern_bytes(&table, "a\0b", 3), first);
    assert_memory_equal(first->text, "a\0b", 4);
    assert_int_equal(table.count, 1003);
    assert_string_equal(table.all[1002]->text, "text 999");
    intern_free(&table);
    assert_int_equal(table.count, 0);
}

static void
test_texts(void **state)
{
    static char endless[3 * INTERN_TEXT_MAX];
    struct intern_table table = {0};
    const char *name = intern_text(&table, "name");

    (void)state;
    assert_null(intern_text(&table, NULL));
    assert_ptr_equal(intern_text(&table, "name"), name);
    memset(endless, 'x', sizeof endless - 1);
    assert_int_equal(strlen(intern_text(&table, endless)), INTERN_TEXT_MAX);
    intern_free(&table);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
