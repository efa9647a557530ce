/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The order of a tree's processes, which are left out, and their sum. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "monitor/process-list.h"

static struct process_list *process_list;

static int
set_up(void **state)
{
    (void)state;
    process_list = process_list_new(true);
    return process_list != NULL ? 0 : -1;
}

static int
tear_down(void **state)
{
    (void)state;
    process_list_free(process_list);
    return 0;
}

static struct process_entry *
add(pid_t pid, pid_t parent, uint64_t start_ns, uint64_t heap)
{
    struct process_entry *entry = process_list_add(process_list, pid);

    assert_non_null(entry);
    entry->parent = parent;
    entry->start_ns = start_ns;
    entry->state = STATE_RUNNING;
    entry->measured = true;
    entry->heap = heap;
    return entry;
}

static void
end(pid_t pid)
{
    struct process_entry *entry = process_list_find(process_list, pid);

    assert_non_null(entry);
    entry->ended = true;
    entry->state = STATE_EXITED;
}

/* The pids in order, each after its depth: "0:1 1:2". */
static const char *
order(void)
{
    static char text[2000];
    size_t used = 0;

    process_list_arrange(process_list, 1000);
    text[0] = '\0';
    for (size_t i = 0; i < process_list_count(process_list); i++) {
        const struct process_entry *entry = process_list_at(process_list, i);

        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u:%d",
                                 i ? " " : "", entry->depth, (int)entry->pid);
    }
    return text;
}

static void
test_order(void **state)
{
    (void)state;
    add(1, 0, 1, 10);
    add(5, 2, 50, 1);
    add(3, 1, 30, 2);
    add(2, 1, 20, 3);
    add(4, 2, 40, 4);
    assert_string_equal(order(), "0:1 1:2 2:4 2:5 1:3");
    /* Lines that continue below: the root has none, 2 has a sibling after it. */
    assert_int_equal(process_list_at(process_list, 0)->guides, 0);
    assert_int_equal(process_list_at(process_list, 1)->guides, 1 << 1);
    assert_int_equal(process_list_at(process_list, 2)->guides, 1 << 1 | 1 << 2);
    assert_int_equal(process_list_at(process_list, 3)->guides, 1 << 1);
    assert_int_equal(process_list_at(process_list, 4)->guides, 0);
    /* Ended processes come after living ones, with their children. */
    end(2);
    assert_string_equal(order(), "0:1 1:3 1:2 2:4 2:5");
    assert_int_equal(process_list_sum(process_list)->heap, 10 + 1 + 2 + 4);
    assert_int_equal(process_list_sum(process_list)->living, 4);
    assert_int_equal(process_list_sum(process_list)->ended, 1);
    assert_int_equal(process_list_at(process_list, 1)->run_ns, 1000 - 30);
}

static void
test_orphans(void **state)
{
    struct process_list *all = process_list_new(false);

    (void)state;
    add(1, 77, 1, 0);
    add(2, 99, 2, 0);
    assert_string_equal(order(), "0:1 1:2");
    /* Without a root each process is a tree of its own. */
    process_list_add(all, 5)->parent = 99;
    process_list_add(all, 6)->parent = 5;
    process_list_arrange(all, 0);
    assert_int_equal(process_list_count(all), 2);
    assert_int_equal(process_list_at(all, 0)->depth, 0);
    assert_int_equal(process_list_at(all, 1)->depth, 1);
    process_list_free(all);
}

/* Parents may be impossible: no process is listed twice, none is lost. */
static void
test_loop(void **state)
{
    (void)state;
    add(1, 0, 1, 0);
    add(2, 3, 2, 7);
    add(3, 2, 3, 7);
    add(4, 4, 4, 7);
    assert_string_equal(order(), "0:1 1:2 2:3 1:4");
    assert_int_equal(process_list_sum(process_list)->heap, 21);
}

static void
test_folded(void **state)
{
    (void)state;
    add(1, 0, 1, 0);
    for (int i = 0; i < 20; i++)
        add(100 + i, 1, 10 + (uint64_t)i, 0);
    for (int i = 0; i < 19; i++)
        end(100 + i);
    add(500, 101, 900, 0);
    /* The living one, the newest ended ones, and one with a living child. */
    assert_string_equal(order(), "0:1 1:119 1:118 1:117 1:116 1:101 2:500");
    assert_int_equal(process_list_at(process_list, 0)->unlisted, 20 - 5);
    assert_int_equal(process_list_sum(process_list)->ended, 19);
    /* Now that one has ended, too, and children of the others do not matter. */
    end(500);
    add(501, 117, 901, 0);
    end(501);
    assert_string_equal(order(), "0:1 1:119 1:118 1:117 1:116");
    assert_int_equal(process_list_at(process_list, 0)->unlisted, 20 - 4 + 1);
    assert_int_equal(process_list_at(process_list, 3)->pid, 117);
    assert_int_equal(process_list_at(process_list, 3)->unlisted, 1);
}

static void
test_dropped(void **state)
{
    (void)state;
    add(1, 0, 1, 0);
    for (int i = 0; i < PROCESS_LIST_ENDED_KEPT + 10; i++) {
        add(1000 + i, 1, 10, 0);
        end(1000 + i);
    }
    end(1);
    process_list_arrange(process_list, 0);
    assert_int_equal(process_list_sum(process_list)->ended, PROCESS_LIST_ENDED_KEPT);
    assert_int_equal(process_list_sum(process_list)->dropped, 11);
    assert_int_equal(process_list_at(process_list, 0)->pid, 1);
}

static void
test_exec(void **state)
{
    struct process_entry *entry = add(1, 0, 1, 0);

    (void)state;
    strcpy(entry->command, "sh ./run");
    process_list_note_exec(entry, entry->command);
    strcpy(entry->command, "env -i python3 x.py");
    process_list_note_exec(entry, entry->command);
    assert_string_equal(entry->before, "sh > env");
    assert_int_equal(entry->generations, 3);
    /* A program that executes itself again is named once. */
    process_list_note_exec(entry, entry->command);
    assert_string_equal(entry->before, "sh > env");
    for (int i = 0; i < 100; i++) {
        strcpy(entry->command, i % 2 ? "one" : "two");
        process_list_note_exec(entry, entry->command);
    }
    assert_true(strlen(entry->before) < sizeof entry->before);
}

static void
test_numbers_used_again(void **state)
{
    (void)state;
    add(1, 0, 1, 0);
    add(2, 1, 2, 0)->image_ns = 20;
    end(2);
    assert_null(process_list_find(process_list, 2));
    assert_non_null(process_list_find_image(process_list, 2, 20));
    assert_null(process_list_find_image(process_list, 2, 21));
    add(2, 1, 3, 0)->image_ns = 30;
    assert_int_equal(process_list_find(process_list, 2)->start_ns, 3);
    process_list_note_short(process_list, process_list_find(process_list, 2));
    assert_null(process_list_find(process_list, 2));
    assert_string_equal(order(), "0:1 1:2");
    assert_int_equal(process_list_sum(process_list)->shortest, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_orphans, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_loop, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_folded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_exec, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_numbers_used_again, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
