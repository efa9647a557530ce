/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Dormant mode: nothing is counted asleep, everything awake, and live blocks are those
   of the present awake period only. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "watch.h"

static uint64_t
all_calls(const struct snapshot *seen)
{
    uint64_t sum = 0;

    for (unsigned fn = 0; fn < FN_COUNT; fn++)
        sum += seen->calls[fn];
    return sum;
}

static uint64_t
live_blocks(const struct histogram *histogram)
{
    uint64_t sum = 0;

    for (unsigned b = 0; b < HISTOGRAM_COARSE; b++)
        sum += histogram->live[b];
    return sum;
}

/* Runs a case and gives what the program's own segment says. */
static const struct watched_segment *
run(char *name, const char *options, struct watched *what)
{
    watch_case((char *)"dormant.run", name, options, what);
    return watch_last(what);
}

static void
test_never_woken(void **state)
{
    struct watched what;
    const struct watched_segment *seen = run((char *)"never_woken", "dormant", &what);

    (void)state;
    assert_true(seen->identity.flags & SEGMENT_FLAG_DORMANT);
    assert_true(seen->snapshot.asleep);
    assert_int_equal(0, seen->snapshot.wakes);
    assert_int_equal(0, all_calls(&seen->snapshot));
    assert_int_equal(0, seen->snapshot.unmatched);
    assert_int_equal(0, seen->snapshot.live_bytes);
    assert_int_equal(0, seen->recorded_count);
    watch_free(&what);
}

static void
test_too_late(void **state)
{
    struct watched what;
    const struct watched_segment *seen = run((char *)"too_late", "dormant", &what);

    (void)state;
    assert_true(seen->snapshot.asleep);
    assert_int_equal(0, all_calls(&seen->snapshot));
    watch_free(&what);
}

static void
test_woken(void **state)
{
    struct watched what;
    const struct watched_segment *seen = run((char *)"woken", "dormant", &what);

    (void)state;
    assert_false(seen->snapshot.asleep);
    assert_int_equal(1, seen->snapshot.wakes);
    assert_int_equal(3, seen->snapshot.calls[FN_MALLOC]); /* one of them wakes it */
    assert_int_equal(309, seen->snapshot.bytes[FN_MALLOC]);
    assert_int_equal(1, seen->snapshot.calls[FN_FREE]);
    assert_int_equal(1, seen->snapshot.unmatched);
    assert_int_equal(308, seen->snapshot.live_bytes);
    assert_int_equal(2, seen->snapshot.live_blocks);
    assert_int_equal(2, live_blocks(&seen->histogram));
    assert_true(seen->snapshot.peak_bytes >= 308);
    watch_free(&what);
}

static void
test_twice(void **state)
{
    struct watched what;
    const struct watched_segment *seen = run((char *)"twice", "dormant", &what);

    (void)state;
    assert_int_equal(2, seen->snapshot.wakes);
    assert_int_equal(3, seen->snapshot.unmatched);
    assert_int_equal(80, seen->snapshot.live_bytes);
    assert_int_equal(1, seen->snapshot.live_blocks);
    assert_int_equal(1, live_blocks(&seen->histogram));
    assert_in_range(seen->snapshot.usable_bytes, 80, 200);
    assert_int_equal(0, seen->snapshot.mapped_bytes);
    watch_free(&what);
}

/* With usable sizes it is not known when a block was allocated: at least the stated
   bytes are live, and counting starts from zero at each wake. */
static void
test_usable(void **state)
{
    struct watched what;
    const struct watched_segment *seen =
        run((char *)"twice", "dormant,accounting=usable", &what);

    (void)state;
    assert_int_equal(2, seen->snapshot.wakes);
    assert_int_equal(0, seen->snapshot.unmatched);
    assert_int_equal(0, seen->snapshot.live_bytes);
    watch_free(&what);
    seen = run((char *)"toggled", "dormant,accounting=usable", &what);
    assert_false(seen->snapshot.asleep);
    watch_free(&what);
}

static void
test_toggled(void **state)
{
    struct watched what;
    const struct watched_segment *seen = run((char *)"toggled", "dormant", &what);

    (void)state;
    assert_true(watch_number(&what, "wakes") > 1);
    assert_false(seen->snapshot.asleep);
    assert_int_equal(123, seen->snapshot.live_bytes);
    assert_int_equal(1, seen->snapshot.live_blocks);
    assert_int_equal(1, live_blocks(&seen->histogram));
    assert_int_equal(0, seen->snapshot.torn);
    watch_free(&what);
}

static const struct watched_segment *
child_of(const struct watched *what)
{
    for (size_t i = 0; i < what->count; i++)
        if (what->segments[i].pid != what->pid)
            return &what->segments[i];
    fail_msg("no child");
    return NULL;
}

static void
test_children(void **state)
{
    struct watched what;
    const struct watched_segment *child;

    (void)state;
    run((char *)"child_awake", "dormant", &what);
    child = child_of(&what);
    assert_false(child->snapshot.asleep);
    assert_int_equal(1, child->snapshot.wakes);
    assert_int_equal(1070, child->snapshot.live_bytes);
    assert_int_equal(2, child->snapshot.live_blocks);
    assert_int_equal(0, child->snapshot.unmatched);
    watch_free(&what);

    run((char *)"child_asleep", "dormant", &what);
    child = child_of(&what);
    assert_true(child->snapshot.asleep);
    assert_int_equal(0, all_calls(&child->snapshot));
    assert_int_equal(0, child->snapshot.live_bytes);
    watch_free(&what);
}

static void
test_sandboxed(void **state)
{
    struct watched what;
    const struct watched_segment *seen = run((char *)"sandboxed", "dormant", &what);

    (void)state;
    assert_int_equal(2, seen->snapshot.wakes);
    assert_false(seen->snapshot.asleep);
    assert_int_equal(100, seen->snapshot.live_bytes);
    watch_free(&what);
}

/* Rings record every call, so the process does not sleep. */
static void
test_not_with_rings(void **state)
{
    struct watched what;
    const struct watched_segment *seen =
        run((char *)"never_woken", "dormant,drop,rings=256", &what);

    (void)state;
    assert_false(seen->identity.flags & SEGMENT_FLAG_DORMANT);
    assert_false(seen->snapshot.asleep);
    assert_true(all_calls(&seen->snapshot) > 0);
    watch_free(&what);
}

static void
test_profiled(void **state)
{
    struct watched what;
    const struct watched_segment *seen = run((char *)"profiled", "dormant", &what);

    (void)state;
    assert_int_equal(1, seen->snapshot.wakes);
    assert_true(seen->snapshot.asleep);
    watch_free(&what);
}

static void
test_pools(void **state)
{
    struct watched what;
    const struct watched_segment *seen = run((char *)"pools", "dormant", &what);

    (void)state;
    assert_int_equal(2, seen->snapshot.wakes);
    assert_int_equal(3, seen->snapshot.custom_made);
    assert_int_equal(0, seen->snapshot.custom_freed);
    assert_int_equal(3, seen->snapshot.custom_unmatched);
    assert_int_equal(2, seen->snapshot.custom_live);
    assert_int_equal(90, seen->snapshot.custom_live_bytes);
    watch_free(&what);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profiled), cmocka_unit_test(test_pools),
        cmocka_unit_test(test_never_woken), cmocka_unit_test(test_too_late),
        cmocka_unit_test(test_woken),       cmocka_unit_test(test_twice),
        cmocka_unit_test(test_usable),      cmocka_unit_test(test_toggled),
        cmocka_unit_test(test_children),    cmocka_unit_test(test_not_with_rings),
        cmocka_unit_test(test_sandboxed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
