/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The edges of a process's life: before main, after exit, the end of a thread, inside
   signal handlers.  However a process ends, its segment has all that was counted. */
#include "config.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "watch.h"

static void
test_edges(void **state)
{
    struct watched what;
    const struct watched_segment *segment;

    (void)state;
    watch_case("life.run", "edges", "", &what);
    segment = watch_last(&what);
    /* .preinit_array (1000) runs before the environment can be read. */
    for (uint64_t size = 2000; size <= 9000; size += 1000)
        assert_int_equal(1, segment->histogram.allocated[histogram_cell(size)]);
    assert_int_equal(8, segment->snapshot.calls[FN_MALLOC]);
    assert_int_equal(44000, segment->snapshot.bytes[FN_MALLOC]);
    assert_int_equal(0, segment->snapshot.unmatched);
    assert_int_equal(2, segment->snapshot.threads_started);
    assert_int_equal(1, segment->snapshot.threads);
    watch_free(&what);
}

static void
test_ifunc(void **state)
{
    struct watched what;

    (void)state;
    watch_case("ifunc.run", "ifunc", "", &what);
    assert_true(watch_last(&what)->snapshot.calls[FN_MALLOC] >= 1);
    assert_int_equal(1, watch_last(&what)->histogram.allocated[histogram_cell(100)]);
    watch_free(&what);
}

static void
test_first_calls(void **state)
{
    struct watched what;

    (void)state;
    watch_case("life.run", "first_calls", "", &what);
    assert_int_equal(5, watch_last(&what)->snapshot.threads_started);
    watch_free(&what);
}

static void
test_ends(void **state)
{
    static const struct {
        char *name;
        int signal;
        enum segment_state state;
    } ends[] = {
        {"end_exit", 0, SEGMENT_EXITED},         {"end_quickly", 0, SEGMENT_ACTIVE},
        {"end_quick_exit", 0, SEGMENT_ACTIVE},   {"end_abort", SIGABRT, SEGMENT_ACTIVE},
        {"end_kill", SIGKILL, SEGMENT_ACTIVE},   {"end_segv", SIGSEGV, SEGMENT_ACTIVE},
        {"end_term", SIGTERM, SEGMENT_ACTIVE},   {"end_stderr", 0, SEGMENT_EXITED},
    };

    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct preload_watch how = {.argv = WATCH_ARGV("life.run", ends[i].name)};
        struct watched what;

        watch_run(&how, &what);
        assert_int_equal(ends[i].signal, WTERMSIG(what.status));
        assert_string_equal("", what.err);
        assert_int_equal(ends[i].state, watch_last(&what)->identity.state);
        assert_int_equal(700, watch_last(&what)->snapshot.live_bytes);
        /* Without exit() the end is known from the flight recorder, as a multiple of a
           slot. */
        assert_true((ends[i].state == SEGMENT_EXITED)
                    == (watch_last(&what)->life_ns % RECORDER_SLOT_NS != 0));
        watch_free(&what);
    }
}

/* The same signal and the same message with and without the library. */
static void
test_mistakes(void **state)
{
    static char *const names[] = {"double_free", "double_free_large", "invalid_free",
                                  "stack_free", "invalid_realloc"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct preload_watch how = {.argv = WATCH_ARGV("life.run", names[i])};
        struct watched ours, plain;

        watch_run(&how, &ours);
        how.plain = true;
        watch_run(&how, &plain);
        assert_int_equal(SIGABRT, WTERMSIG(plain.status));
        assert_int_equal(plain.status, ours.status);
        assert_string_equal(plain.err, ours.err);
        watch_free(&ours);
        watch_free(&plain);
    }
}

static void
run_signals(char *name, struct watched *what)
{
    struct preload_watch how = {.argv = WATCH_ARGV("signals.run", name),
                                .preload_after = watch_program("bump.plugin")};

    watch_run(&how, what);
    watch_assert_success(what);
}

static void
test_handlers(void **state)
{
    struct watched what;
    const struct snapshot *seen;
    uint64_t pairs, handled;

    (void)state;
    run_signals("storm", &what);
    seen = &watch_last(&what)->snapshot;
    pairs = watch_number(&what, "pairs");
    handled = watch_number(&what, "handled");
    assert_int_equal(pairs + handled, seen->calls[FN_MALLOC]);
    assert_int_equal(pairs + handled, seen->calls[FN_FREE]);
    assert_int_equal(pairs * 60 + handled * 40, seen->bytes[FN_MALLOC]);
    assert_int_equal(0, seen->live_bytes);
    assert_int_equal(0, seen->live_blocks);
    assert_int_equal(0, seen->unmatched);
    assert_int_equal(0, seen->torn);
    watch_free(&what);
}

/* Calls that siglongjmp cut off may be counted or not; nothing else may go wrong. */
static void
test_handlers_leave(void **state)
{
    struct watched what;
    const struct snapshot *seen;
    uint64_t pairs, handled, least;

    (void)state;
    run_signals("leave", &what);
    seen = &watch_last(&what)->snapshot;
    pairs = watch_number(&what, "pairs");
    handled = watch_number(&what, "handled");
    least = watch_mode("sites") ? pairs : pairs + handled; /* as in test_handlers() */
    assert_in_range(seen->calls[FN_MALLOC], least, pairs + 2 * handled);
    assert_in_range(seen->calls[FN_FREE], least, pairs + 2 * handled);
    assert_true(seen->unmatched <= handled);
    watch_free(&what);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edges),       cmocka_unit_test(test_ifunc),
        cmocka_unit_test(test_first_calls), cmocka_unit_test(test_ends),
        cmocka_unit_test(test_mistakes),    cmocka_unit_test(test_handlers),
        cmocka_unit_test(test_handlers_leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
