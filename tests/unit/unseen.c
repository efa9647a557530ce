/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs that ran without the library, found by what others have executed. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "monitor/unseen.h"

#define ROOT 100

static struct image images[64];
static size_t count;
static char found[512]; /* "BY:PID:PATH " of each */

static int
setup(void **state)
{
    (void)state;
    memset(images, 0, sizeof images);
    count = 0;
    return 0;
}

static struct image *
add(pid_t pid, pid_t parent, uint32_t generation, const char *name)
{
    struct image *image = &images[count++];

    *image = (struct image){.pid = pid, .parent = parent, .generation = generation};
    snprintf(image->name, sizeof image->name, "%s", name);
    return image;
}

static void
spawn(struct image *by, pid_t pid, const char *name)
{
    unsigned place = (unsigned)(by->executed.spawned++ % EXEC_RECENT);

    by->executed.recent[place].pid = pid;
    snprintf(by->executed.recent[place].name, EXEC_NAME_LEN, "%s", name);
}

static void
execute(struct image *image, const char *path)
{
    image->executed.replaced = true;
    snprintf(image->executed.path, EXEC_PATH_LEN, "%s", path);
}

static void
note(void *context, const struct unseen *unseen)
{
    size_t used = strlen(found);

    (void)context;
    snprintf(found + used, sizeof found - used, "%s:%d:%s ", unseen->by->name,
             (int)unseen->pid, unseen->path);
}

static const char *
search(void)
{
    found[0] = '\0';
    unseen_find(images, count, ROOT, note, NULL);
    return found;
}

static void
nothing(void **state)
{
    (void)state;
    assert_string_equal("", search());
    add(ROOT, 1, 0, "root");
    assert_string_equal("", search());
}

static void
own_exec(void **state)
{
    (void)state;
    execute(add(ROOT, 1, 0, "env"), "./static");
    assert_string_equal("env:100:./static ", search());
    add(ROOT, 1, 1, "next");
    assert_string_equal("", search());
}

/* A shell that forks, and the child executes. */
static void
forked(void **state)
{
    struct image *child;

    (void)state;
    add(ROOT, 1, 0, "sh");
    child = add(101, ROOT, 0, "sh");
    child->forked = true;
    assert_string_equal("", search());
    execute(child, "./a");
    assert_string_equal("sh:101:./a ", search());
    add(101, ROOT, 1, "a");
    assert_string_equal("", search());
}

static void
spawned(void **state)
{
    struct image *root;

    (void)state;
    root = add(ROOT, 1, 0, "make");
    spawn(root, 101, "cc");
    spawn(root, 102, "./static");
    spawn(root, 103, "ld");
    add(103, ROOT, 0, "ld");
    add(101, ROOT, 0, "cc");
    assert_string_equal("make:102:./static ", search());
    add(102, ROOT, 0, "static");
    assert_string_equal("", search());
}

/* Of many programs only the latest have names. */
static void
many(void **state)
{
    struct image *root;

    (void)state;
    root = add(ROOT, 1, 0, "make");
    for (pid_t pid = 1000; pid < 1000 + 10; pid++)
        spawn(root, pid, "cc");
    for (pid_t pid = 1001; pid < 1000 + 10; pid++)
        add(pid, ROOT, 0, "cc");
    assert_string_equal("make:0: ", search());
}

/* system() is not noted: its shell must not stand for a missing child. */
static void
not_noted(void **state)
{
    struct image *shell;

    (void)state;
    add(ROOT, 1, 0, "root");
    shell = add(101, ROOT, 0, "sh");
    spawn(shell, 102, "./static");
    assert_string_equal("sh:102:./static ", search());
}

/* Children of an ended process get another parent. */
static void
orphans(void **state)
{
    (void)state;
    spawn(add(ROOT, 1, 0, "root"), 101, "daemon");
    add(101, 1, 0, "daemon");
    assert_string_equal("", search());
    spawn(&images[images[0].pid != ROOT], 102, "other");
    assert_string_equal("root:102:other ", search());
}

static void
elsewhere(void **state)
{
    (void)state;
    spawn(add(ROOT, 1, 0, "unshare"), 101, "sh");
    add(1, 0, 0, "sh")->elsewhere = true;
    assert_string_equal("", search());
}

/* A damaged segment may hold anything. */
static void
nonsense(void **state)
{
    (void)state;
    add(ROOT, ROOT, 0, "root")->executed.spawned = 3;
    assert_string_equal("root:0: root:0: root:0: ", search());
    images[0].parent = -7;
    images[0].executed.recent[0].pid = ROOT;
    assert_string_equal("root:0: root:0: root:0: ", search());
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing, setup),  cmocka_unit_test_setup(own_exec, setup),
        cmocka_unit_test_setup(forked, setup),   cmocka_unit_test_setup(spawned, setup),
        cmocka_unit_test_setup(many, setup),     cmocka_unit_test_setup(not_noted, setup),
        cmocka_unit_test_setup(orphans, setup),  cmocka_unit_test_setup(elsewhere, setup),
        cmocka_unit_test_setup(nonsense, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
