/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads: counts are exact however many there are; the peak is within its stated bound,
   and exact with "exact". */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "watch.h"

static void
test_busy(void **state)
{
    struct watched what;
    const struct snapshot *seen;

    (void)state;
    watch_case("threads.run", "busy", "", &what);
    seen = &watch_last(&what)->snapshot;
    assert_int_equal(800000, seen->calls[FN_MALLOC]);
    assert_int_equal(200000 * (10 + 20 + 30 + 40), seen->bytes[FN_MALLOC]);
    assert_int_equal(0, seen->unmatched);
    assert_int_equal(0, seen->torn);
    assert_int_equal(5, seen->threads_started);
    assert_int_equal(1, seen->threads);
    assert_int_equal(0, seen->threads_merged);
    watch_free(&what);
}

/* 1023 shards serve one thread each; all other threads share one. */
static void
test_crowd(void **state)
{
    struct watched what;
    const struct snapshot *seen;

    (void)state;
    watch_case("threads.run", "crowd", "", &what);
    seen = &watch_last(&what)->snapshot;
    assert_int_equal(22000, seen->calls[FN_MALLOC]);
    assert_int_equal(20000 * 100 + 2000 * 7, seen->bytes[FN_MALLOC]);
    assert_int_equal(seen->total_bytes - seen->bytes[FN_FREE], seen->live_bytes);
    assert_int_equal(2001, seen->threads_started);
    assert_int_equal(1501 - (SHARD_OWN_END - 1), seen->threads_merged);
    assert_int_equal(1, seen->threads);
    watch_free(&what);
}

static void
test_churn(void **state)
{
    struct watched what;
    const struct snapshot *seen;

    (void)state;
    watch_case("threads.run", "churn", "", &what);
    seen = &watch_last(&what)->snapshot;
    assert_int_equal(20000, seen->calls[FN_MALLOC]);
    assert_int_equal(20001, seen->threads_started);
    assert_int_equal(0, seen->threads_merged);
    assert_int_equal(1, seen->threads);
    assert_int_equal(0, seen->unmatched);
    watch_free(&what);
}

static void
test_peak(void **state)
{
    struct watched what;
    const struct snapshot *seen;

    (void)state;
    watch_case("threads.run", "peak", "", &what);
    seen = &watch_last(&what)->snapshot;
    assert_true(seen->total_bytes > 8 * 20000 * 100);
    assert_in_range(seen->peak_bytes,
                    seen->total_bytes - seen->total_bytes / 1000 - 9 * 4096,
                    seen->total_bytes);
    watch_free(&what);
}

static void
test_peak_exact(void **state)
{
    struct watched what;
    const struct snapshot *seen;

    (void)state;
    watch_case("threads.run", "peak", "exact", &what);
    seen = &watch_last(&what)->snapshot;
    assert_int_equal(seen->total_bytes, seen->peak_bytes);
    assert_true(watch_last(&what)->identity.flags & SEGMENT_FLAG_EXACT);
    watch_free(&what);
}

/* exit() while other threads allocate; glibc's memusage aborts in one run of seven. */
static void
test_main_returns(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct watched what;
        watch_case("threads.run", "main_returns", "", &what);
        assert_int_equal(SEGMENT_EXITED, watch_last(&what)->identity.state);
        assert_true(watch_last(&what)->snapshot.calls[FN_MALLOC] >= 1000);
        assert_int_equal(0, watch_last(&what)->snapshot.unmatched);
        watch_free(&what);
    }
}

static void
test_main_leaves(void **state)
{
    struct watched what;

    (void)state;
    watch_case("threads.run", "main_leaves", "", &what);
    /* The loader allocates as well, because pthread_exit needs libgcc_s. */
    assert_in_range(watch_last(&what)->snapshot.calls[FN_MALLOC], 1001, 1020);
    assert_int_equal(1, watch_last(&what)->histogram.allocated[histogram_cell(60000)]);
    assert_int_equal(0, watch_last(&what)->snapshot.unmatched);
    assert_int_equal(2, watch_last(&what)->snapshot.threads_started);
    watch_free(&what);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_busy),         cmocka_unit_test(test_crowd),
        cmocka_unit_test(test_churn),        cmocka_unit_test(test_peak),
        cmocka_unit_test(test_peak_exact),   cmocka_unit_test(test_main_returns),
        cmocka_unit_test(test_main_leaves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
