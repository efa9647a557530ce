/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finding the function at an address. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "symbols/functions.h"

static struct functions
fill(const struct function *all, size_t count)
{
    struct functions functions = {0};

    for (size_t i = 0; i < count; i++)
        functions_add(&functions, &all[i]);
    functions_sort(&functions);
    return functions;
}

static void
check(const struct functions *functions, uint64_t address, const char *name)
{
    const struct function *found = functions_find(functions, address);

    if (name == NULL) {
        assert_null(found);
        return;
    }
    assert_non_null(found);
    assert_string_equal(name, found->name);
}

static void
test_addresses(void **state)
{
    static const struct function all[] = {
        {0x2000, 0, "assembler", true}, {0x1000, 0x10, "first", true},
        {0x3000, 0x100, "outer", true}, {0x3010, 0x10, "inner", true},
    };
    struct functions functions = fill(all, 4), none = {0};

    (void)state;
    check(&functions, 0xfff, NULL);
    check(&functions, 0x1000, "first");
    check(&functions, 0x100f, "first");
    check(&functions, 0x1010, NULL);
    check(&functions, 0x2fff, "assembler");
    check(&functions, 0x3010, "inner");
    check(&functions, 0x3020, "outer");
    check(&functions, 0x3100, NULL);
    check(&functions, UINT64_MAX, NULL);
    functions_sort(&none);
    check(&none, 0x1000, NULL);
    free(functions.all);
}

/* Of several names for an address, the best known is used. */
static void
test_names(void **state)
{
    static const struct function all[] = {
        {0x1000, 0x10, "malloc", true}, {0x1000, 0x10, "__libc_malloc", true},
        {0x1000, 0x10, "local", false}, {0x1000, 0, "label", true},
        {0x2000, 8, "short", true},     {0x2000, 16, "long", true},
    };
    struct functions functions = fill(all, 6);

    (void)state;
    check(&functions, 0x1004, "malloc");
    check(&functions, 0x2004, "long");
    free(functions.all);
}

static void
test_many(void **state)
{
    struct functions functions = {0};

    (void)state;
    for (uint64_t i = 5000; i > 0; i--)
        functions_add(&functions, &(struct function){i * 16, 8, "f", true});
    functions_sort(&functions);
    for (uint64_t i = 1; i <= 5000; i++) {
        assert_int_equal(i * 16, functions_find(&functions, i * 16 + 7)->address);
        assert_null(functions_find(&functions, i * 16 + 8));
    }
    free(functions.all);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests_name("functions", tests, NULL, NULL);
}
