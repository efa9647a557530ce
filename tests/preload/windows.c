/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much of a segment is mapped and allocated: little at the start, more when threads
   need it, and nothing where there is no room. */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>

#include "watch.h"

#define HELD 40        /* as in programs/windows.c */
#define CALLS_EACH 101

static void
check_calls(const struct watched_segment *segment, uint64_t threads)
{
    assert_int_equal(threads * CALLS_EACH, segment->snapshot.calls[FN_MALLOC]);
    /* The C library frees what it has for a thread. */
    assert_true(segment->snapshot.calls[FN_FREE] >= threads * CALLS_EACH);
    assert_int_equal(threads * (100 * 50 + 100), segment->snapshot.bytes[FN_MALLOC]);
    assert_int_equal(0, segment->snapshot.unmatched);
    assert_int_equal(0, segment->snapshot.torn);
}

/* In each of 25 processes, 24 threads need windows at the same time.  If several threads
   map the same window, one mapping stays. */
static void
test_at_once(void **state)
{
    struct watched what;

    (void)state;
    watch_case("windows.run", "at_once", "sites=off", &what);
    assert_int_equal(26, what.count);
    if (!watch_mode("rings"))
        assert_int_equal(1 + 24 / 4, watch_number(&what, "mappings"));
    for (size_t i = 0; i < what.count; i++)
        if (what.segments[i].pid != what.pid) {
            check_calls(&what.segments[i], 24);
            assert_int_equal(25, what.segments[i].snapshot.threads_started);
            assert_int_equal(0, what.segments[i].snapshot.threads_merged);
        }
    watch_free(&what);
}

static void
test_in_handlers(void **state)
{
    struct watched what;
    const struct snapshot *seen;

    (void)state;
    watch_case("windows.run", "in_handlers", "", &what);
    seen = &watch_last(&what)->snapshot;
    assert_int_equal(HELD, seen->calls[FN_MALLOC]);
    assert_true(seen->calls[FN_FREE] >= HELD);
    assert_int_equal(HELD + 1, seen->threads_started);
    assert_int_equal(0, seen->threads_merged);
    assert_int_equal(0, seen->unmatched);
    watch_free(&what);
}

/* The child has one mapping of its own segment (more with rings) and none of
   its parent's, and can map windows of its own. */
static void
test_forked(void **state)
{
    struct watched what;

    (void)state;
    watch_case("windows.run", "forked", "sites=off", &what);
    assert_int_equal(2, what.count);
    if (!watch_mode("log"))
        assert_int_equal(watch_mode("rings") ? 3 : 1, watch_number(&what, "mappings"));
    for (size_t i = 0; i < what.count; i++)
        if (what.segments[i].pid != what.pid) {
            /* The blocks of the parent's threads, and the C library's for them. */
            assert_in_range(what.segments[i].snapshot.live_bytes, HELD * 100,
                            HELD * 1000);
            check_calls(&what.segments[i], HELD);
            assert_int_equal(0, what.segments[i].snapshot.threads_merged);
        }
    watch_free(&what);
}

/* Threads that start after prctl() share a shard. */
static void
test_shut_in(void **state)
{
    struct watched what;

    (void)state;
    watch_case("windows.run", "shut_in", "", &what);
    check_calls(watch_last(&what), HELD + 5);
    assert_int_equal(HELD, watch_last(&what)->snapshot.threads_merged);
    watch_free(&what);
}

/* ---- a file system that is full in the middle ---- */

/* The file system may be full at any page; nothing touches the page that is missing. */
static void
test_full(void **state)
{
    (void)state;
    if (!watch_own_mounts() || watch_mode("dormant")) /* there each run is two runs */
        skip();
    for (unsigned pages = 1; pages < 100; pages += pages < 24 ? 1 : 7) {
        struct watched what;
        char size[16];

        snprintf(size, sizeof size, "%uk", pages * 4);
        watch_run_on(size, NULL, "windows.run", "held", &what);
        if (what.files > 0 && watch_last(&what)->identity.reason == REASON_NONE)
            check_calls(watch_last(&what), HELD);
        else
            assert_true(pages < 9 || watch_mode("rings") || watch_mode("sites"));
        watch_free(&what);
    }
}

/* ---- what the library adds to a process ---- */

static void
test_locked(void **state)
{
    struct watched what;

    (void)state;
    if (watch_mode("rings") || watch_mode("sites") || watch_mode("dormant"))
        skip(); /* these map or allocate more than usual */
    if (!watch_possible(NULL, "windows.run", "locked"))
        skip();
    watch_case("windows.run", "locked", "", &what);
    assert_int_equal(1000 + 12 * CALLS_EACH,
                     watch_last(&what)->snapshot.calls[FN_MALLOC]);
    watch_free(&what);
}

static rlim_t addresses;

static void
limit_addresses(void)
{
    struct rlimit both = {addresses, addresses};

    setrlimit(RLIMIT_AS, &both);
}

/* The library adds less than 2 MiB of addresses.  The limit holds from the start of the
   loader. */
static void
test_addresses(void **state)
{
    struct preload_watch how = {.argv = WATCH_ARGV("windows.run", "addresses"),
                                .plain = true};
    struct watched what;

    (void)state;
    if (watch_mode("rings") || watch_mode("sites"))
        skip();
    watch_run(&how, &what);
    watch_assert_success(&what);
    addresses = watch_number(&what, "addresses") + (2 << 20);
    watch_free(&what);
    how.plain = false;
    how.prepare = limit_addresses;
    watch_run(&how, &what);
    watch_assert_success(&what);
    assert_string_equal("", what.err);
    assert_in_range(watch_number(&what, "addresses"), addresses - (2 << 20), addresses);
    assert_true(watch_last(&what)->snapshot.calls[FN_MALLOC] >= 1000);
    watch_free(&what);
}

/* The segment of a small program has few pages.  (The harness checks that reading adds
   none.) */
static void
test_shared_memory(void **state)
{
    struct preload_watch how = {.argv = WATCH_ARGV("/bin/true")};
    struct watched what;

    (void)state;
    if (watch_mode("rings") || watch_mode("sites"))
        skip();
    watch_run(&how, &what);
    watch_assert_success(&what);
    assert_in_range(watch_last(&what)->allocated, 1, 64 << 10);
    watch_free(&what);
    how.options = "dormant";
    watch_run(&how, &what);
    watch_assert_success(&what);
    if (!watch_mode("log"))
        assert_in_range(watch_last(&what)->allocated, 1, 16 << 10);
    watch_free(&what);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_once),   cmocka_unit_test(test_in_handlers),
        cmocka_unit_test(test_forked),    cmocka_unit_test(test_shut_in),
        cmocka_unit_test(test_locked),    cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_full),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
