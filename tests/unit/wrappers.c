/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which functions allocate for somebody else. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "monitor/wrappers.h"

static void
test_known(void **state)
{
    static const char *const wrappers[] = {
        "xmalloc", "zmalloc_usable", "g_malloc0_n", "operator new", "operator new[]",
        "std::vector<int, std::allocator<int> >::push_back", "__gnu_cxx::new_allocator",
        "std::__new_allocator<int>::allocate", "alloc::alloc::alloc", "__rust_alloc",
        "<alloc::string::String as core::clone::Clone>::clone", "PyMem_RawMalloc",
        "_PyObject_GC_New", "je_malloc", "av_mallocz", "strdup", "_sdsnewlen",
    };
    static const char *const others[] = {
        "main", "zadd", "operator", "Store::operator new_one", "standard::make",
        "<rs::Row as core::clone::Clone>::clone", "PyList_New", "PyByteArray_Resize",
        "dictAddRaw", "", "[libfoo.so+0x1234]", "std", "xmallo",
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        if (!wrappers_have(wrappers[i], NULL, NULL))
            fail_msg("%s is a wrapper", wrappers[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (wrappers_have(others[i], "/usr/bin/prog", "/home/me/prog.c"))
            fail_msg("%s is no wrapper", others[i]);
    assert_true(wrappers_have("fopen", "/usr/lib/x86_64-linux-gnu/libc.so.6", NULL));
    assert_false(wrappers_have("fopen", "/opt/libcx.so", NULL));
    assert_true(wrappers_have("f", NULL, "/rustc/7976/library/core/src/fmt/num.rs"));
    assert_true(wrappers_have("f", NULL, "library/core/src/fmt/num.rs"));
    assert_true(wrappers_have("f", "/bin/a", "/usr/include/c++/12/bits/stl_map.h"));
    assert_false(wrappers_have("f", "/bin/a", "/home/me/library/core/x.c"));
}

/* ---- a user's list ---- */

static char told[256];

static void
tell(void *context, unsigned line, const char *text)
{
    size_t used = strlen(told);

    (void)context;
    snprintf(told + used, sizeof told - used, "%u:%s;", line, text);
}

static void
add(const char *text)
{
    const struct wrappers_fault fault = {NULL, tell};

    told[0] = '\0';
    assert_true(wrappers_add(text, strlen(text), &fault));
}

static void
test_own(void **state)
{
    (void)state;
    add("# mine\n\n  my_alloc*\t\r\n!xmalloc\nnew *<*>::make\n@libmine.so\n*/pool/*.c\n"
        "a*b*c");
    assert_string_equal(told, "");
    assert_true(wrappers_have("my_alloc", NULL, NULL));
    assert_true(wrappers_have("my_alloc_row", NULL, NULL));
    assert_false(wrappers_have("xmalloc", NULL, NULL));
    assert_true(wrappers_have("xmalloc0", NULL, NULL));
    assert_true(wrappers_have("new Row<int>::make", NULL, NULL));
    assert_true(wrappers_have("any", "/opt/libmine.so", NULL));
    assert_true(wrappers_have("any", NULL, "src/pool/block.c"));
    assert_true(wrappers_have("abbc", NULL, NULL));
    assert_true(wrappers_have("axbxbxc", NULL, NULL));
    assert_false(wrappers_have("axbxbx", NULL, NULL));
    add("xmalloc"); /* a later line counts more */
    assert_true(wrappers_have("xmalloc", NULL, NULL));
    wrappers_reset();
    assert_false(wrappers_have("my_alloc", NULL, NULL));
    assert_true(wrappers_have("xmalloc", NULL, NULL));
}

static void
test_wrong_lines(void **state)
{
    char line[600];

    (void)state;
    add("fine\n*\n@\n!\n!@**\nbad\x01\nmore");
    assert_string_equal(told, "2:*;3:@;4:!;5:!@**;6:bad\x01;");
    assert_true(wrappers_have("fine", NULL, NULL) && wrappers_have("more", NULL, NULL));
    assert_false(wrappers_have("main", "/bin/a", "/a.c"));
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    add(line);
    assert_memory_equal(told, "1:xxx", 5);
    wrappers_reset();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_wrong_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
