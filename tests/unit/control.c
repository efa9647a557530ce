/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lease of a dormant process, as viewers set it. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

#include "scratch-segment.h"
#include "base/clock.h"
#include "segment/control.h"

#define SECOND UINT64_C(1000000000)

static uint64_t *
word(void)
{
    return &((struct segment_control *)(void *)(scratch + CONTROL_OFFSET))
                ->awake_until_ns;
}

static int
open_it(struct control **control)
{
    return control_open(scratch_path, getuid(), geteuid(), control);
}

static void
test_not_dormant(void **state)
{
    struct control *control;

    (void)state;
    scratch_open();
    assert_int_equal(-ENODATA, open_it(&control));
    scratch_close();
}

static void
test_lease(void **state)
{
    struct control *control, *other;
    uint64_t before, first;

    (void)state;
    scratch_open();
    scratch_header()->flags |= SEGMENT_FLAG_DORMANT;
    assert_int_equal(0, open_it(&control));
    assert_int_equal(0, open_it(&other));
    assert_int_equal(0, *word());
    before = (uint64_t)clock_ns(CLOCK_MONOTONIC);
    assert_int_equal(0, control_wake(control, 10 * SECOND));
    first = *word();
    assert_in_range(first, before + 10 * SECOND,
                    (uint64_t)clock_ns(CLOCK_MONOTONIC) + 10 * SECOND);
    assert_int_equal(0, control_wake(other, SECOND)); /* shorter: no change */
    assert_int_equal(first, *word());
    control_close(control);
    assert_int_equal(first, *word());
    assert_int_equal(0, control_wake(other, 20 * SECOND));
    assert_true(*word() >= first + 9 * SECOND);
    *word() = UINT64_MAX; /* an impossible value is replaced */
    assert_int_equal(0, control_wake(other, SECOND));
    assert_in_range(*word(), before, (uint64_t)clock_ns(CLOCK_MONOTONIC) + SECOND);
    control_close(other);
    scratch_close();
}

static void
test_cut_short(void **state)
{
    struct control *control;

    (void)state;
    scratch_open();
    scratch_header()->flags |= SEGMENT_FLAG_DORMANT;
    assert_int_equal(0, open_it(&control));
    assert_int_equal(0, truncate(scratch_path, 0));
    assert_int_equal(-EMSGSIZE, control_wake(control, SECOND));
    control_close(control);
    control_close(NULL);
    scratch_close();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_dormant),
        cmocka_unit_test(test_lease),
        cmocka_unit_test(test_cut_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
