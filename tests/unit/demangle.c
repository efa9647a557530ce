/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names made by compilers, as people write them. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "symbols/demangle.h"

static void
check(const char *symbol, const char *expected)
{
    char *name = demangle(symbol);

    assert_non_null(name);
    assert_string_equal(expected, name);
    free(name);
}

static void
test_plain(void **state)
{
    (void)state;
    check("main", "main");
    check("", "");
    check("_PyObject_Malloc", "_PyObject_Malloc");
    check("_Z", "_Z");
    check("_ZN", "_ZN");
    check(".cold", ".cold");
}

static void
test_parts_and_copies(void **state)
{
    (void)state;
    check("parse.cold", "parse");
    check("parse.constprop.0.isra.0", "parse");
    check("visit.part.12", "visit");
}

static void
test_mangled(void **state)
{
    (void)state;
#ifdef HAVE_LIBIBERTY
    check("_ZN4shop5ShelfINS_5ClerkEE3putES1_i", "shop::Shelf<shop::Clerk>::put");
    check("_ZNSt6vectorIiSaIiEE9push_backERKi",
          "std::vector<int, std::allocator<int> >::push_back");
    check("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()");
    check("_Z5parsePKc.cold", "parse");
    check("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
          "core::fmt::Write::write_fmt");
    check("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
          "3bar17h930b740aa94f1d3aE",
          "<Test + 'static as foo::Bar<Test>>::bar");
    check("_RNvC6_123foo3bar", "123foo::bar");
    check("_RNvMs0_NtCs5l0EXMQXRMU_21rustc_data_structures8fifo_setINtB5_"
          "7FifoSetNtNtC4core3fmt5ErrorE6insertB7_",
          "<rustc_data_structures::fifo_set::FifoSet<core::fmt::Error>>::insert");
#else
    check("_ZNSt6vectorIiSaIiEE9push_backERKi", "_ZNSt6vectorIiSaIiEE9push_backERKi");
#endif
}

/* A very long name is left as it is. */
static void
test_endless(void **state)
{
    char *symbol = malloc(100001);

    (void)state;
    memset(symbol, 'P', 100000);
    memcpy(symbol, "_Z1f", 4);
    symbol[100000] = '\0';
    check(symbol, symbol);
    free(symbol);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_parts_and_copies),
        cmocka_unit_test(test_mangled),
        cmocka_unit_test(test_endless),
    };
    return cmocka_run_group_tests_name("demangle", tests, NULL, NULL);
}
