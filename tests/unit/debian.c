/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which package has a file, from made-up lists. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "system/debian.h"

static char lists[] = "/tmp/memtop-debian-XXXXXX";

static void
write_list(const char *name, const char *text)
{
    char path[200];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", lists, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void
check(const char *path, const char *package)
{
    char name[20];

    if (package == NULL) {
        assert_false(debian_package(lists, path, name, sizeof name));
        return;
    }
    assert_true(debian_package(lists, path, name, sizeof name));
    assert_string_equal(name, package);
}

static void
test_packages(void **state)
{
    char command[100];

    (void)state;
    assert_non_null(mkdtemp(lists));
    check("/usr/bin/git", NULL);
    write_list("git-extra.list", "/usr/bin/gitk\n/usr/bin/git-all\n/opt/usr/bin/git\n");
    write_list("git.list", "/.\n/usr/bin\n/usr/bin/git\n/usr/share/git");
    write_list("libx1:amd64.list", "/lib/libx.so.1\n");
    write_list("git.md5sums", "/usr/bin/other\n");
    write_list("a-name-that-is-far-too-long.list", "/usr/bin/long\n");
    write_list("empty.list", "");
    check("/usr/bin/git", "git");
    check("/usr/share/git", "git");
    check("/usr/lib/libx.so.1", "libx1");
    check("/usr/bin/other", NULL);
    check("/usr/bin/long", NULL);
    check("/usr/bin/gi", NULL);
    check("", NULL);
    snprintf(command, sizeof command, "rm -r %s", lists);
    assert_int_equal(system(command), 0);
    check("/usr/bin/git", NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
