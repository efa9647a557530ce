/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fork, clone, vfork, exec: every process image has its own segment, the parent's is
   undisturbed, and a child starts with the blocks its parent had live. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "watch.h"

/* The oldest segment of another process whose parent is PARENT. */
static const struct watched_segment *
child_of(const struct watched *what, pid_t parent)
{
    for (size_t i = 0; i < what->count; i++)
        if (what->segments[i].identity.parent == parent
            && what->segments[i].pid != parent)
            return &what->segments[i];
    fail_msg("no segment of a child of %d", (int)parent);
    return NULL;
}

static uint64_t
live_blocks(const struct histogram *histogram)
{
    uint64_t sum = 0;

    for (unsigned b = 0; b < HISTOGRAM_COARSE; b++)
        sum += histogram->live[b];
    return sum;
}

/* Checks a child that ran as_child(), with inherited bytes and blocks. */
static void
check_child(const struct watched_segment *child, enum segment_origin origin,
            uint64_t bytes, uint64_t blocks)
{
    const struct snapshot *seen = &child->snapshot;

    assert_int_equal(origin, child->identity.origin);
    assert_int_equal(5, seen->calls[FN_MALLOC]);
    assert_int_equal(250, seen->bytes[FN_MALLOC]);
    assert_int_equal(3, seen->calls[FN_FREE]);
    assert_int_equal(300, seen->bytes[FN_FREE]);
    assert_int_equal(bytes - 50, seen->live_bytes);
    assert_int_equal(blocks + 2, seen->live_blocks);
    assert_int_equal(bytes, seen->peak_bytes);
    assert_int_equal(0, seen->unmatched);
    assert_int_equal(1, seen->threads);
    assert_int_equal(blocks + 2, live_blocks(&child->histogram));
}

static void
check_parent(const struct watched *what)
{
    const struct snapshot *seen = &watch_last(what)->snapshot;

    assert_int_equal(ORIGIN_EXEC, watch_last(what)->identity.origin);
    assert_int_equal(10, seen->calls[FN_MALLOC]);
    assert_int_equal(0, seen->bytes[FN_FREE]);
    assert_true(seen->live_bytes >= 1000);
}

static void
test_simple(void **state)
{
    struct watched what;

    (void)state;
    watch_case("forks.run", "simple", "", &what);
    assert_int_equal(2, what.count);
    check_parent(&what);
    check_child(child_of(&what, what.pid), ORIGIN_FORK, 1000, 10);
    watch_free(&what);
}

static void
test_grandchild(void **state)
{
    struct watched what;
    const struct watched_segment *child, *grandchild;

    (void)state;
    watch_case("forks.run", "grandchild", "", &what);
    check_parent(&what);
    child = child_of(&what, what.pid);
    assert_int_equal(15, child->snapshot.calls[FN_MALLOC]);
    assert_int_equal(950 + 1000, child->snapshot.live_bytes);
    grandchild = child_of(&what, child->pid);
    check_child(grandchild, ORIGIN_FORK, 1950, 22);
    watch_free(&what);
}

static void
test_in_thread(void **state)
{
    struct watched what;
    uint64_t inherited;

    (void)state;
    watch_case("forks.run", "in_thread", "", &what);
    check_parent(&what);
    /* Includes a block that pthread_create made for the thread. */
    inherited = watch_last(&what)->snapshot.live_bytes;
    check_child(child_of(&what, what.pid), ORIGIN_FORK, inherited,
                watch_last(&what)->snapshot.live_blocks);
    watch_free(&what);
}

static void
test_raw(void **state)
{
    struct watched what;

    (void)state;
    watch_case("forks.run", "raw", "", &what);
    assert_int_equal(2, what.count);
    check_parent(&what);
    check_child(child_of(&what, what.pid), ORIGIN_RAW_CLONE, 1000, 10);
    watch_free(&what);
}

static void
test_vfork(void **state)
{
    static char *const names[] = {"vfork_exec", "spawn", "shell"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct watched what;
        const struct snapshot *seen;

        watch_case("forks.run", names[i], "", &what);
        seen = &watch_last(&what)->snapshot;
        assert_int_equal(2, what.count);
        assert_int_equal(ORIGIN_EXEC, child_of(&what, what.pid)->identity.origin);
        assert_int_equal(0, child_of(&what, what.pid)->generation);
        assert_int_equal(i == 0 ? 11 : 10, seen->calls[FN_MALLOC]);
        assert_int_equal(900, seen->live_bytes);
        assert_int_equal(9, seen->live_blocks);
        watch_free(&what);
    }
}

static void
test_vfork_promise(void **state)
{
    struct watched what;

    (void)state;
    watch_case("forks.run", "vfork_promise", "", &what);
    assert_int_equal(2, what.count);
    assert_int_equal(ORIGIN_FORK, child_of(&what, what.pid)->identity.origin);
    watch_free(&what);
}

static void
test_chain(void **state)
{
    struct watched what;
    struct preload_watch unkept = {.unkept = true};

    (void)state;
    watch_case("forks.run", "chain", "", &what);
    assert_int_equal(4, what.count);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(i, what.segments[i].generation);
        assert_int_equal(i, what.segments[i].identity.generation);
        assert_int_equal(what.pid, what.segments[i].pid);
        assert_int_equal(4 - i, what.segments[i].snapshot.calls[FN_MALLOC]);
        assert_int_equal(i == 3 ? SEGMENT_EXITED : SEGMENT_ACTIVE,
                         what.segments[i].identity.state);
    }
    watch_free(&what);
    for (char left = '0'; left <= '5'; left++) {
        char images[2] = {left, '\0'};

        unkept.argv = WATCH_ARGV("forks.run", "chain", images);
        watch_run(&unkept, &what);
        watch_assert_success(&what);
        assert_int_equal(0, what.files);
        watch_free(&what);
    }
}

/* Runs a case whose processes leave nothing behind. */
static void
check_clean(char *name)
{
    struct preload_watch how = {.argv = WATCH_ARGV("forks.run", name), .unkept = true};
    struct watched what;

    watch_run(&how, &what);
    watch_assert_success(&what);
    assert_string_equal("", what.err);
    assert_int_equal(0, what.files);
    watch_free(&what);
}

static void
test_storm(void **state)
{
    (void)state;
    check_clean("storm");
}

static void
test_many(void **state)
{
    (void)state;
    check_clean("many");
}

static void
test_two_forkers(void **state)
{
    struct watched what;

    (void)state;
    watch_case("forks.run", "two_forkers", "", &what);
    assert_int_equal(17, what.count);
    for (size_t i = 0; i < what.count; i++) {
        const struct watched_segment *segment = &what.segments[i];
        if (segment->pid == what.pid)
            continue;
        assert_int_equal(1, segment->snapshot.calls[FN_MALLOC]);
        assert_true(segment->snapshot.live_bytes >= 1000);
        assert_in_range(segment->snapshot.live_blocks, 10, 12);
    }
    watch_free(&what);
}

/* Handlers run before and after the library's: a child is one process with one segment,
   whoever calls first. */
static void
test_with_handlers(void **state)
{
    struct watched what;

    (void)state;
    watch_case("forks.run", "with_handlers", "", &what);
    assert_int_equal(2, what.count);
    assert_int_equal(22, watch_last(&what)->snapshot.calls[FN_MALLOC]);
    assert_int_equal(6, child_of(&what, what.pid)->snapshot.calls[FN_MALLOC]);
    assert_int_equal(ORIGIN_FORK, child_of(&what, what.pid)->identity.origin);
    watch_free(&what);
}

static void
test_orphan(void **state)
{
    struct watched what;

    (void)state;
    watch_case("forks.run", "orphan", "", &what);
    assert_int_equal(2, what.count);
    check_child(&what.segments[what.segments[0].pid == what.pid ? 1 : 0], ORIGIN_FORK,
                1000, 10);
    watch_free(&what);
}

/* Executed programs are noted, with the caller; failed attempts are not. */
static void
test_executes(void **state)
{
    const struct executed *executed;
    struct watched what;
    bool found = false;

    (void)state;
    watch_case("forks.run", "executes", "", &what);
    assert_int_equal(1, what.count);
    executed = &watch_last(&what)->executed;
    assert_true(executed->replaced);
    assert_true(executed->preload_removed);
    assert_string_equal("/bin/true", executed->path);
    assert_int_equal(6, executed->spawned);
    for (unsigned i = 0; i < EXEC_RECENT; i++)
        found |= executed->recent[i].pid == (pid_t)watch_number(&what, "last")
                 && strcmp(executed->recent[i].name, "true") == 0;
    assert_true(found);
    watch_free(&what);

    watch_case("forks.run", "executes_in_vain", "", &what);
    executed = &watch_last(&what)->executed;
    assert_false(executed->replaced);
    assert_int_equal(0, executed->spawned);
    watch_free(&what);
}

/* In a chain of programs each image but the last was replaced and kept the library. */
static void
test_executes_chain(void **state)
{
    struct watched what;

    (void)state;
    watch_case("forks.run", "chain", "", &what);
    assert_int_equal(4, what.count);
    for (size_t i = 0; i < what.count; i++) {
        assert_int_equal(i < 3, what.segments[i].executed.replaced);
        assert_false(what.segments[i].executed.preload_removed);
        assert_int_equal(0, what.segments[i].executed.spawned);
    }
    watch_free(&what);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simple),      cmocka_unit_test(test_grandchild),
        cmocka_unit_test(test_in_thread),   cmocka_unit_test(test_raw),
        cmocka_unit_test(test_vfork),       cmocka_unit_test(test_vfork_promise),
        cmocka_unit_test(test_executes),    cmocka_unit_test(test_executes_chain),
        cmocka_unit_test(test_chain),       cmocka_unit_test(test_storm),
        cmocka_unit_test(test_many),        cmocka_unit_test(test_two_forkers),
        cmocka_unit_test(test_with_handlers), cmocka_unit_test(test_orphan),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
