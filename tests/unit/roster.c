/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The order of a tree's processes, what is folded away, their sum. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "monitor/roster.h"

static struct roster *roster;

static int
set_up(void **state)
{
    (void)state;
    roster = roster_new(true);
    return roster != NULL ? 0 : -1;
}

static int
tear_down(void **state)
{
    (void)state;
    roster_free(roster);
    return 0;
}

static struct roster_entry *
add(pid_t pid, pid_t parent, uint64_t start_ns, uint64_t heap)
{
    struct roster_entry *entry = roster_add(roster, pid);

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
    struct roster_entry *entry = roster_find(roster, pid);

    assert_non_null(entry);
    entry->ended = true;
    entry->state = STATE_EXITED;
}

/* The pids in order, each with its depth in front: "0:1 1:2". */
static const char *
order(void)
{
    static char text[2000];
    size_t used = 0;

    roster_arrange(roster, 1000);
    text[0] = '\0';
    for (size_t i = 0; i < roster_count(roster); i++) {
        const struct roster_entry *entry = roster_at(roster, i);

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
    /* What goes on below: the root has none, 2 has a sibling after it. */
    assert_int_equal(roster_at(roster, 0)->guides, 0);
    assert_int_equal(roster_at(roster, 1)->guides, 1 << 1);
    assert_int_equal(roster_at(roster, 2)->guides, 1 << 1 | 1 << 2);
    assert_int_equal(roster_at(roster, 3)->guides, 1 << 1);
    assert_int_equal(roster_at(roster, 4)->guides, 0);
    /* Who has ended comes after the living, with its children. */
    end(2);
    assert_string_equal(order(), "0:1 1:3 1:2 2:4 2:5");
    assert_int_equal(roster_sum(roster)->heap, 10 + 1 + 2 + 4);
    assert_int_equal(roster_sum(roster)->living, 4);
    assert_int_equal(roster_sum(roster)->ended, 1);
    assert_int_equal(roster_at(roster, 1)->run_ns, 1000 - 30);
}

static void
test_orphans(void **state)
{
    struct roster *all = roster_new(false);

    (void)state;
    add(1, 77, 1, 0);
    add(2, 99, 2, 0);
    assert_string_equal(order(), "0:1 1:2");
    /* Without a root everybody stands for himself. */
    roster_add(all, 5)->parent = 99;
    roster_add(all, 6)->parent = 5;
    roster_arrange(all, 0);
    assert_int_equal(roster_count(all), 2);
    assert_int_equal(roster_at(all, 0)->depth, 0);
    assert_int_equal(roster_at(all, 1)->depth, 1);
    roster_free(all);
}

/* What parents claim may be nonsense: nobody is listed twice, none is lost. */
static void
test_loop(void **state)
{
    (void)state;
    add(1, 0, 1, 0);
    add(2, 3, 2, 7);
    add(3, 2, 3, 7);
    add(4, 4, 4, 7);
    assert_string_equal(order(), "0:1 1:2 2:3 1:4");
    assert_int_equal(roster_sum(roster)->heap, 21);
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
    /* The living one, the newest that have ended, and one with a living child. */
    assert_string_equal(order(), "0:1 1:119 1:118 1:117 1:116 1:101 2:500");
    assert_int_equal(roster_at(roster, 0)->unlisted, 20 - 5);
    assert_int_equal(roster_sum(roster)->ended, 19);
    /* Then that one has ended too, and what is below the others does not matter. */
    end(500);
    add(501, 117, 901, 0);
    end(501);
    assert_string_equal(order(), "0:1 1:119 1:118 1:117 1:116");
    assert_int_equal(roster_at(roster, 0)->unlisted, 20 - 4 + 1);
    assert_int_equal(roster_at(roster, 3)->pid, 117);
    assert_int_equal(roster_at(roster, 3)->unlisted, 1);
}

static void
test_dropped(void **state)
{
    (void)state;
    add(1, 0, 1, 0);
    for (int i = 0; i < ROSTER_ENDED_KEPT + 10; i++) {
        add(1000 + i, 1, 10, 0);
        end(1000 + i);
    }
    end(1);
    roster_arrange(roster, 0);
    assert_int_equal(roster_sum(roster)->ended, ROSTER_ENDED_KEPT);
    assert_int_equal(roster_sum(roster)->dropped, 11);
    assert_int_equal(roster_at(roster, 0)->pid, 1);
}

static void
test_exec(void **state)
{
    struct roster_entry *entry = add(1, 0, 1, 0);

    (void)state;
    strcpy(entry->command, "sh ./run");
    roster_note_exec(entry, entry->command);
    strcpy(entry->command, "env -i python3 x.py");
    roster_note_exec(entry, entry->command);
    assert_string_equal(entry->before, "sh > env");
    assert_int_equal(entry->generations, 3);
    /* What executes itself again is named once. */
    roster_note_exec(entry, entry->command);
    assert_string_equal(entry->before, "sh > env");
    for (int i = 0; i < 100; i++) {
        strcpy(entry->command, i % 2 ? "one" : "two");
        roster_note_exec(entry, entry->command);
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
    assert_null(roster_find(roster, 2));
    assert_non_null(roster_find_image(roster, 2, 20));
    assert_null(roster_find_image(roster, 2, 21));
    add(2, 1, 3, 0)->image_ns = 30;
    assert_int_equal(roster_find(roster, 2)->start_ns, 3);
    roster_note_short(roster, roster_find(roster, 2));
    assert_null(roster_find(roster, 2));
    assert_string_equal(order(), "0:1 1:2");
    assert_int_equal(roster_sum(roster)->shortest, 1);
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
