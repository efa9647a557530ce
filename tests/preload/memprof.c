/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs that profile themselves (memtop/memprof.h), and what they report of their
   pools. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "watch.h"

/* Runs cases that check themselves, in every way of counting. */
static void
run_all(char *const *names)
{
    static const char *const ways[] = {"", "accounting=usable", "rings=4096,drop",
                                       "exact", "sites=0.01"};
    struct watched what;

    for (; *names != NULL; names++)
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            watch_case((char *)"memprof.run", *names, ways[i], &what);
            watch_free(&what);
        }
}

#define RUN_ALL(...) run_all((char *[]){__VA_ARGS__, NULL})

/* Runs a case; returns its last counters. */
static const struct snapshot *
run(char *name, const char *options, struct watched *what)
{
    watch_case((char *)"memprof.run", name, options, what);
    return &watch_last(what)->snapshot;
}

static void
test_errors(void **state)
{
    (void)state;
    RUN_ALL("errors", "many");
}

static void
test_pending(void **state)
{
    (void)state;
    RUN_ALL("pending");
}

static void
test_every_block(void **state)
{
    (void)state;
    RUN_ALL("every_block", "none", "many_blocks");
}

static void
test_tracker(void **state)
{
    (void)state;
    RUN_ALL("refused", "resized", "partial");
}

static void
test_states(void **state)
{
    (void)state;
    RUN_ALL("stopped", "successive");
}

static void
test_callbacks(void **state)
{
    (void)state;
    RUN_ALL("callbacks", "restarted");
}

static void
test_threads(void **state)
{
    struct watched what;

    (void)state;
    RUN_ALL("storm", "awaited");
    run((char *)"threads", "", &what);
    assert_true(watch_number(&what, "deallocs") > 16000);
    watch_free(&what);
}

static void
test_left(void **state)
{
    (void)state;
    RUN_ALL("left_by_jump", "ended_within");
}

static void
test_processes(void **state)
{
    (void)state;
    RUN_ALL("forked", "cloned", "forked_inside");
}

/* With every unwinder. */
static void
test_stacks(void **state)
{
    static const char *const ways[] = {"unwind=auto", "unwind=fp",
                                       "unwind=dwarf,sites=0.01"};
    struct watched what;

    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        run((char *)"stacks", ways[i], &what);
        watch_free(&what);
    }
}

static void
test_mappings(void **state)
{
    struct watched what;

    (void)state;
    run((char *)"mappings", "mmap", &what);
    watch_free(&what);
}

/* No call of a pool in a handler is lost, whatever the handler interrupts. */
static void
test_signals(void **state)
{
    const struct snapshot *seen;
    struct watched what;

    (void)state;
    seen = run((char *)"signals", "", &what);
    assert_int_equal(seen->custom_made, watch_number(&what, "custom"));
    assert_int_equal(seen->custom_freed, seen->custom_made);
    assert_int_equal(seen->custom_unmatched, 0);
    watch_free(&what);
}

/* ---- statistics ---- */

/* Checks a number of hits: within 5 standard deviations of the mean for words of that
   rate. */
static void
assert_binomial(double hits, double words, double rate)
{
    assert_true(fabs(hits - words * rate) <= 5 * sqrt(words * rate * (1 - rate)));
}

/* With and without memtop's own samples at another rate. */
static void
test_million(void **state)
{
    static const char *const ways[] = {"", "sites=0.01"};
    struct watched what;

    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        run((char *)"million", ways[i], &what);
        assert_binomial((double)watch_number(&what, "samples"), 9e6, 1e-3);
        assert_binomial((double)watch_number(&what, "blocks"), 1e6, 1 - pow(1 - 1e-3, 9));
        watch_free(&what);
    }
}

/* A block of two words is sampled with probability q, so the gaps in blocks are
   geometric.  chi^2 with 62 degrees of freedom is above 135 once in a million times. */
static void
test_gaps(void **state)
{
    const double q = 1 - 0.95 * 0.95;
    double counts[64], sum = 0, chi = 0;
    struct watched what;

    (void)state;
    run((char *)"gaps", "", &what);
    for (int i = 0; i < 64; i++) {
        char key[16];
        snprintf(key, sizeof key, "gap%d", i);
        counts[i] = (double)watch_number(&what, key);
        sum += counts[i];
    }
    assert_true(sum > 90000);
    assert_true(counts[0] == 0);
    for (int i = 1; i < 64; i++) {
        double expected = sum * pow(1 - q, i - 1) * (i < 63 ? q : 1);
        chi += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    assert_true(chi < 135);
    watch_free(&what);
}

/* Only the last size of a block counts, whatever it was before: 201 words. */
static void
test_resized_statistics(void **state)
{
    struct watched what;

    (void)state;
    run((char *)"resized_statistics", "", &what);
    assert_binomial((double)watch_number(&what, "samples"), 20000.0 * 201, 0.01);
    watch_free(&what);
}

/* ---- without the library ---- */

static void
test_absent(void **state)
{
    struct preload_watch how = {.plain = true};
    struct watched what;

    (void)state;
    how.argv = WATCH_ARGV((char *)"memprof.run", (char *)"absent");
    watch_run(&how, &what);
    watch_assert_success(&what);
    watch_free(&what);
    how.argv = WATCH_ARGV((char *)"memprof-cxx.run", (char *)"absent");
    watch_run(&how, &what);
    watch_assert_success(&what);
    watch_free(&what);
}

/* Processes in which nothing is counted: passive ones, and dormant ones that are
   asleep. */
static void
test_not_counted(void **state)
{
    char *environment[] = {(char *)"MEMUSAGE_PROG_NAME=another", NULL};
    struct preload_watch how = {.environment = environment};
    struct watched what;

    (void)state;
    run((char *)"not_counted", "dormant", &what);
    assert_int_equal(watch_number(&what, "errno"), EAGAIN);
    watch_free(&what);
    how.argv = WATCH_ARGV((char *)"memprof.run", (char *)"not_counted");
    watch_run(&how, &what);
    watch_assert_success(&what);
    assert_int_equal(watch_number(&what, "errno"), ENOTSUP);
    watch_free(&what);
}

static void
test_cxx(void **state)
{
    struct preload_watch how = {.argv = WATCH_ARGV((char *)"memprof-cxx.run")};
    struct watched what;

    (void)state;
    watch_run(&how, &what);
    watch_assert_success(&what);
    assert_int_equal(watch_number(&what, "made"), 17);
    assert_int_equal(watch_number(&what, "gone"), 17);
    watch_free(&what);
    /* Allocators whose operators bypass malloc. */
    if (watch_can_preload("libjemalloc.so.2")) {
        how.preload_after = "libjemalloc.so.2";
        watch_run(&how, &what);
        watch_assert_success(&what);
        assert_int_equal(watch_number(&what, "made"), 17);
        assert_int_equal(watch_number(&what, "gone"), 17);
        watch_free(&what);
    }
}

/* ---- pools ---- */

static void
test_pools(void **state)
{
    const struct snapshot *seen;
    struct watched what;

    (void)state;
    RUN_ALL("pools", "pool_in_block");
    seen = run((char *)"pools", "", &what);
    assert_int_equal(seen->custom_made, 6);
    assert_int_equal(seen->custom_made_bytes, 100 + 80 + 160);
    assert_int_equal(seen->custom_freed, 4);
    assert_int_equal(seen->custom_freed_bytes, 10 + 80 + 160 + 20);
    assert_int_equal(seen->custom_live, 2);
    assert_int_equal(seen->custom_live_bytes, 70);
    assert_int_equal(seen->custom_unmatched, 1);
    assert_int_equal(seen->live_bytes, 0);
    watch_free(&what);
}

static void
test_many_pool_blocks(void **state)
{
    const struct snapshot *seen;
    struct watched what;

    (void)state;
    seen = run((char *)"many_pool_blocks", "", &what);
    assert_int_equal(seen->custom_made, 200000);
    assert_int_equal(seen->custom_freed, 100000);
    assert_int_equal(seen->custom_live_bytes, 1600000);
    assert_int_equal(seen->custom_unmatched, 0);
    watch_free(&what);
}

/* A child begins with the blocks it inherited. */
static void
test_pools_forked(void **state)
{
    struct watched what;

    (void)state;
    run((char *)"pools_forked", "", &what);
    assert_int_equal(what.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct snapshot *seen = &what.segments[i].snapshot;
        bool child = what.segments[i].identity.origin == ORIGIN_FORK;
        assert_int_equal(seen->custom_made, child ? 1 : 2);
        assert_int_equal(seen->custom_freed, 1);
        assert_int_equal(seen->custom_live, child ? 2 : 1);
        assert_int_equal(seen->custom_live_bytes, child ? 57 : 100);
        assert_int_equal(seen->custom_unmatched, 0);
    }
    watch_free(&what);
}

#define TEST(function) cmocka_unit_test(function)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_errors),     TEST(test_pending),       TEST(test_every_block),
        TEST(test_tracker),
        TEST(test_states),     TEST(test_callbacks),     TEST(test_threads),
        TEST(test_processes),  TEST(test_stacks),
        TEST(test_mappings),      TEST(test_million),
        TEST(test_gaps),       TEST(test_resized_statistics),
        TEST(test_signals),    TEST(test_left),
        TEST(test_absent),     TEST(test_not_counted),   TEST(test_cxx),
        TEST(test_pools),      TEST(test_many_pool_blocks),
        TEST(test_pools_forked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
