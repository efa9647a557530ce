/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is gathered of a process, from artificial readings. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "monitor/messages.h"
#include "monitor/tracked.h"

#define SECOND INT64_C(1000000000)

static struct tracked tracked;
static struct session *session;

static int
set_up(void **state)
{
    (void)state;
    session = session_new(&(const struct session_options){0});
    return session != NULL && tracked_init(&tracked) ? 0 : -1;
}

static int
tear_down(void **state)
{
    (void)state;
    tracked_free(&tracked);
    session_free(session);
    return 0;
}

/* A reading run_s seconds after the start. */
static void
read_at(int64_t run_s, uint64_t heap)
{
    tracked.process.measured = true;
    tracked.process.run_ns = run_s * SECOND;
    tracked.process.now.live_bytes = heap;
    tracked_digest(&tracked, session, 100 * SECOND + tracked.process.run_ns, NULL, 0, 0);
}

static void
test_history(void **state)
{
    uint64_t value;
    int64_t first, last, time;

    (void)state;
    assert_false(history_span(tracked.history, &first, &last));
    read_at(1, 1000);
    read_at(2, 3000);
    read_at(3, 2000);
    assert_true(history_span(tracked.history, &first, &last));
    assert_int_equal(last, 3 * SECOND);
    assert_true(history_peak(tracked.history, SERIES_HEAP, 0, last, &value, &time));
    assert_int_equal(value, 3000);
    assert_int_equal(time, 2 * SECOND);
}

static void
test_recorded(void **state)
{
    const struct recorded slot = {.begin_ns = SECOND, .end_ns = 2 * SECOND, .calls = 10,
                                  .heap_last = 500, .heap_max = 9000};
    uint64_t value;
    int64_t time;

    (void)state;
    read_at(1, 1000);
    tracked.process.run_ns = 3 * SECOND;
    tracked_digest(&tracked, session, 103 * SECOND, &slot, 1, SECOND / 2);
    assert_true(
        history_peak(tracked.history, SERIES_HEAP, 0, 3 * SECOND, &value, &time));
    assert_int_equal(value, 9000);
    assert_int_equal(time, 2 * SECOND + SECOND / 2);
}

static void
test_failures(void **state)
{
    (void)state;
    read_at(1, 0);
    assert_int_equal(session_message_count(session), 0);
    tracked.process.now.failed[FN_CALLOC] = 2;
    tracked.process.now.failed_bytes[FN_CALLOC] = 3072;
    read_at(2, 0);
    assert_int_equal(session_message_count(session), 1);
    assert_string_equal(session_message(session, 0)->text,
                        "calloc failed 2 times (3.0 KiB requested together)");
    read_at(3, 0);
    assert_int_equal(session_message_count(session), 1);
    /* Another image has failed as often, which is reported again. */
    tracked_restart(&tracked);
    read_at(4, 0);
    assert_int_equal(session_message_count(session), 2);
}

static void
test_moments(void **state)
{
    size_t index;

    (void)state;
    read_at(1, 1000);
    assert_false(tracked_checkpoint_due(&tracked, 101 * SECOND));
    assert_true(tracked_keep_checkpoints(&tracked));
    assert_true(tracked_checkpoint_due(&tracked, 101 * SECOND));
    tracked_add_checkpoint(&tracked, 101 * SECOND);
    assert_false(tracked_checkpoint_due(&tracked, 101 * SECOND + 1));
    assert_true(tracked_checkpoint_due(&tracked, 102 * SECOND));
    assert_true(checkpoints_find(tracked.checkpoints, 2 * SECOND, &index));
    assert_int_equal(checkpoints_time(tracked.checkpoints, index), SECOND);
}

static void
test_end(void **state)
{
    (void)state;
    read_at(1, 1000);
    tracked.process.now.calls[FN_MALLOC] = 100;
    read_at(2, 1000);
    assert_true(tracked.process.rates.calls[FN_MALLOC] > 0);
    tracked.process.ended = true;
    read_at(3, 1000);
    assert_true(tracked.process.rates.calls[FN_MALLOC] == 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_history, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_recorded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_moments, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_end, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
