/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finding the library: by the variable, beside the executable, and the message if the
   search fails. */
#include "config.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "system/library.h"

static void
test_variable(void **state)
{
    struct library_search search;

    (void)state;
    setenv("MEMTOP_LIBRARY", "/etc/../etc/passwd", 1);
    assert_true(library_find(&search));
    assert_string_equal(search.path, "/etc/passwd");
    setenv("MEMTOP_LIBRARY", "/no/such/library.so", 1);
    assert_false(library_find(&search));
    assert_string_equal(search.searched, "/no/such/library.so");
    unsetenv("MEMTOP_LIBRARY");
}

/* In an installed tree: TREE/bin/this and TREE/lib64/memtop/NAME. */
static void
test_installed_tree(void **state)
{
    char tree[] = "/tmp/memtop-test-XXXXXX", path[200], self[200], command[600];

    (void)state;
    assert_non_null(mkdtemp(tree));
    self[readlink("/proc/self/exe", self, sizeof self - 1)] = '\0';
    snprintf(command, sizeof command,
             "cd %s && mkdir -p bin lib64/memtop lib/x86_64-linux-gnu"
             " && cp '%s' bin/it && : >lib64/memtop/memtop-x.so"
             " && : >lib/x86_64-linux-gnu/libmemtop.so",
             tree, self);
    assert_int_equal(0, system(command));
    snprintf(path, sizeof path, "%s/bin/it find", tree);
    assert_int_equal(0, system(path));
    snprintf(command, sizeof command, "rm -r %s", tree);
    assert_int_equal(0, system(command));
}

/* What the copy of this program in the tree does. */
static int
find_in_tree(void)
{
    struct library_search search;

    if (!library_find(&search)
        || strstr(search.path, "/lib/x86_64-linux-gnu/libmemtop.so") == NULL)
        return 1;
    if (!library_find_module("memtop-x.so", &search)
        || strstr(search.path, "/lib64/memtop/memtop-x.so") == NULL)
        return 2;
    return 0;
}

static void
test_vain(void **state)
{
    struct library_search search;

    (void)state;
    assert_false(library_find_module("memtop-no-such.so", &search));
    assert_non_null(strstr(search.searched, PKGLIBDIR));
    assert_string_equal(search.path, "");
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variable),
        cmocka_unit_test(test_installed_tree),
        cmocka_unit_test(test_vain),
    };

    if (argc > 1 && strcmp(argv[1], "find") == 0)
        return find_in_tree();
    unsetenv("MEMTOP_LIBRARY");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
