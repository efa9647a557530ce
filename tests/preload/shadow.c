/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes that are kept beside glibc's heap (the shadow).  The counts must equal what
   programs/shadow.c knows of its blocks, wherever they lie. */
#include "config.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "watch.h"

static uint64_t
live_buckets(const struct histogram *histogram)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < HISTOGRAM_COARSE; i++)
        sum += histogram->live[i];
    return sum;
}

static void
check_live(const struct watched_segment *seen, uint64_t live, uint64_t blocks)
{
    assert_int_equal(live, seen->snapshot.live_bytes);
    assert_int_equal(blocks, seen->snapshot.live_blocks);
    assert_int_equal(blocks, live_buckets(&seen->histogram));
    assert_int_equal(0, seen->snapshot.unmatched);
    assert_int_equal(0, seen->snapshot.torn);
}

static void
check_calls(const struct watched *what)
{
    const struct snapshot *seen = &watch_last(what)->snapshot;

    assert_int_equal(watch_number(what, "mallocs"), seen->calls[FN_MALLOC]);
    assert_int_equal(watch_number(what, "aligned"), seen->calls[FN_MEMALIGN]);
    assert_int_equal(watch_number(what, "reallocs"), seen->calls[FN_REALLOC]);
    assert_int_equal(watch_number(what, "frees"), seen->calls[FN_FREE]);
    assert_int_equal(watch_number(what, "stays"), seen->realloc_inplace);
}

/* For programs in which nobody else allocates: all counts are exact. */
static void
check_exact(const struct watched *what)
{
    check_calls(what);
    check_live(watch_last(what), watch_number(what, "live"),
               watch_number(what, "blocks"));
    assert_int_equal(watch_number(what, "callocs"),
                     watch_last(what)->snapshot.calls[FN_CALLOC]);
    assert_int_equal(watch_number(what, "peak"), watch_last(what)->snapshot.peak_bytes);
}

static void
run(char *name, char *argument, struct watched *what)
{
    struct preload_watch how = {.argv = WATCH_ARGV("shadow.run", name, argument)};

    print_message("  %s %s\n", name, argument != NULL ? argument : "");
    watch_run(&how, what);
    watch_assert_success(what);
    assert_string_equal("", what->err);
    if (!watch_mode("dormant"))
        assert_int_equal(ACCOUNTING_REQUESTED, watch_last(what)->identity.accounting);
}

static void
test_places(void **state)
{
    static char *const names[][2] = {
        {"thresholds", "100"},  {"thresholds", "4000"}, {"thresholds", "1000000000"},
        {"edge_sizes", NULL},   {"to_and_fro", NULL},   {"alignments", NULL},
        {"own_sbrk", NULL},     {"trims", NULL},        {"region_ends", NULL},
        {"far_apart", NULL},    {"vforks", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct watched what;

        run(names[i][0], names[i][1], &what);
        check_exact(&what);
        watch_free(&what);
    }
}

static void
test_far_apart(void **state)
{
    struct watched what;

    (void)state;
    run((char *)"far_apart", NULL, &what);
    assert_true(watch_number(&what, "shared") >= 500);
    watch_free(&what);
}

/* pthread_create allocates blocks, and some remain; a thread that ends frees its blocks,
   and NULL. */
static void
check_threads(const struct watched *what)
{
    const struct watched_segment *seen = watch_last(what);
    const struct snapshot *now = &seen->snapshot;
    uint64_t others = now->calls[FN_CALLOC] - watch_number(what, "callocs");
    uint64_t others_freed =
        now->calls[FN_FREE] - now->free_null - watch_number(what, "frees");

    assert_int_equal(watch_number(what, "mallocs"), now->calls[FN_MALLOC]);
    assert_int_equal(watch_number(what, "aligned"), now->calls[FN_MEMALIGN]);
    assert_int_equal(watch_number(what, "reallocs"), now->calls[FN_REALLOC]);
    assert_int_equal(watch_number(what, "stays"), now->realloc_inplace);
    assert_in_range(others, 1, 40);
    assert_int_equal(watch_number(what, "blocks") + others - others_freed,
                     now->live_blocks);
    assert_in_range(now->live_bytes - watch_number(what, "live"),
                    200 * (others - others_freed), 400 * (others - others_freed));
    assert_int_equal(now->live_blocks, live_buckets(&seen->histogram));
    assert_int_equal(0, now->unmatched);
    assert_int_equal(0, now->torn);
}

static void
test_threads(void **state)
{
    struct watched what;

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        run((char *)"race", NULL, &what);
        check_threads(&what);
        watch_free(&what);
    }
    run((char *)"arenas", NULL, &what);
    check_threads(&what);
    watch_free(&what);
}

static void
test_past_us(void **state)
{
    struct watched what;
    const struct watched_segment *seen;

    (void)state;
    run((char *)"past_us", NULL, &what);
    seen = watch_last(&what);
    check_calls(&what);
    assert_true(watch_number(&what, "same") > 40);
    assert_int_equal(watch_number(&what, "foreign"), seen->snapshot.unmatched);
    assert_int_equal(0, seen->snapshot.live_bytes);
    assert_int_equal(0, seen->snapshot.live_blocks);
    watch_free(&what);
}

/* ---- no memory ---- */

/* There is no memory for the slab of two blocks: they are not counted. */
static void
test_no_slab(void **state)
{
    struct watched what;
    const struct snapshot *seen;

    (void)state;
    run((char *)"no_slab", NULL, &what);
    seen = &watch_last(&what)->snapshot;
    assert_int_equal(300, seen->live_bytes);
    assert_int_equal(2, seen->live_blocks);
    assert_int_equal(1, seen->failed[FN_MALLOC]);
    assert_in_range(seen->unmatched, 2, 3);
    watch_free(&what);
}

static void
test_shut_in(void **state)
{
    struct watched what;
    const struct watched_segment *seen;

    (void)state;
    run((char *)"shut_in", NULL, &what);
    seen = watch_last(&what);
    check_calls(&what);
    assert_int_equal(watch_number(&what, "live"), seen->snapshot.live_bytes);
    assert_int_equal(watch_number(&what, "blocks"), seen->snapshot.live_blocks);
    assert_int_equal(watch_number(&what, "foreign"), seen->snapshot.unmatched);
    watch_free(&what);
}

/* ---- children ---- */

static void
test_forks(void **state)
{
    struct watched what;
    const struct watched_segment *child = NULL;

    (void)state;
    run((char *)"forks", NULL, &what);
    check_live(watch_last(&what), watch_number(&what, "last_live"),
               watch_number(&what, "last_blocks"));
    for (size_t i = 0; i < what.count; i++)
        if (what.segments[i].pid == (pid_t)watch_number(&what, "child"))
            child = &what.segments[i];
    assert_non_null(child);
    check_live(child, watch_number(&what, "child_live"),
               watch_number(&what, "child_blocks"));
    assert_int_equal(watch_number(&what, "child_peak"), child->snapshot.peak_bytes);
    assert_int_equal(watch_number(&what, "child_mallocs"),
                     child->snapshot.calls[FN_MALLOC]);
    assert_int_equal(watch_number(&what, "child_frees"), child->snapshot.calls[FN_FREE]);
    watch_free(&what);
}

/* ---- memory that the system has promised ---- */

static uint64_t
promised(bool plain, const char *key)
{
    struct preload_watch how = {.argv = WATCH_ARGV("shadow.run", "promised"),
                                .plain = plain};
    struct watched what;
    uint64_t number;

    watch_run(&how, &what);
    watch_assert_success(&what);
    number = watch_number(&what, key);
    watch_free(&what);
    return number;
}

/* Slabs, 512 KiB for 16 MiB of heap, are not promised memory, unless the system promises
   all there is (vm.overcommit_memory = 2). */
static void
test_promised(void **state)
{
    FILE *file = fopen("/proc/sys/vm/overcommit_memory", "r");
    int strict = 0;

    (void)state;
    if (file != NULL && fscanf(file, "%d", &strict) == 1)
        strict = strict == 2;
    if (file != NULL)
        fclose(file);
    if (strict)
        skip();
    assert_int_equal(0, promised(true, "unreserved"));
    assert_in_range(promised(false, "unreserved"), 4 * 512, 6 * 512);
    assert_in_range(promised(false, "accounted") - promised(true, "accounted"), 0, 1024);
}

/* ---- mistakes ---- */

/* A block whose head was overwritten is not counted as freed, whatever size the head
   has. */
static void
test_damaged(void **state)
{
    struct preload_watch how = {.argv = WATCH_ARGV("shadow.run", "damaged")};
    struct watched what;
    const struct snapshot *seen;

    (void)state;
    watch_run(&how, &what);
    assert_int_equal(SIGABRT, WTERMSIG(what.status));
    seen = &watch_last(&what)->snapshot;
    assert_in_range(seen->live_bytes, 4000, 8000);
    assert_int_equal(0, seen->bytes[FN_FREE]);
    assert_int_equal(1, seen->unmatched);
    watch_free(&what);
}

/* ---- handlers ---- */

static bool
run_handlers(char *name, struct watched *what)
{
    struct preload_watch how = {.argv = WATCH_ARGV("shadow.run", name)};

    print_message("  %s\n", name);
    watch_run(&how, what);
    if (WIFEXITED(what->status) && WEXITSTATUS(what->status) == 77)
        return false;
    watch_assert_success(what);
    assert_string_equal("", what->err);
    return true;
}

/* fopen() has allocated a block, and fclose() has freed it. */
static void
check_handled(const struct watched *what)
{
    const struct watched_segment *seen = watch_last(what);
    const struct snapshot *now = &seen->snapshot;

    assert_int_equal(watch_number(what, "mallocs") + 1, now->calls[FN_MALLOC]);
    assert_int_equal(watch_number(what, "callocs"), now->calls[FN_CALLOC]);
    assert_int_equal(watch_number(what, "aligned"), now->calls[FN_MEMALIGN]);
    assert_int_equal(watch_number(what, "reallocs"), now->calls[FN_REALLOC]);
    assert_int_equal(watch_number(what, "stays"), now->realloc_inplace);
    assert_int_equal(watch_number(what, "frees") + 1,
                     now->calls[FN_FREE] - now->free_null);
    assert_in_range(now->peak_bytes, watch_number(what, "peak"),
                    watch_number(what, "peak") + 64 * 164 + 164); /* the handler's */
    assert_int_equal(0, now->updates_left);
    check_live(seen, watch_number(what, "live"), watch_number(what, "blocks"));
}

static void
test_handlers(void **state)
{
    static char *const names[] = {"every_instruction", "every_50_us", "handlers_above"};
    struct watched what;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!run_handlers(names[i], &what))
            skip();
        print_message("  %lu handled\n", (unsigned long)watch_number(&what, "handled"));
        assert_true(watch_number(&what, "handled") >= 1000);
        check_handled(&what);
        watch_free(&what);
    }
}

/* A call that siglongjmp() cuts off may be counted or not; if it cuts off a fold of a
   packed word, up to FOLDED blocks are lost.  Later calls are counted. */
#define FOLDED 128 /* as in account.c */

static void
test_handlers_leave(void **state)
{
    struct watched what;
    const struct snapshot *seen;
    uint64_t made, escapes;

    (void)state;
    if (!run_handlers((char *)"handlers_leave", &what))
        skip();
    seen = &watch_last(&what)->snapshot;
    escapes = watch_number(&what, "escapes");
    made = watch_number(&what, "pairs") + watch_number(&what, "handled")
           + watch_number(&what, "kept") + 1000 + 1;
    print_message("  %lu jumps, %lu out of updates\n", (unsigned long)escapes,
                  (unsigned long)seen->updates_left);
    assert_int_equal(500, escapes);
    assert_int_equal(0, seen->inconsistent);
    assert_in_range(seen->updates_left, 20, escapes);
    assert_in_range(seen->calls[FN_MALLOC], made - FOLDED * seen->updates_left,
                    made + escapes);
    assert_in_range(seen->unmatched, 0, escapes);
    watch_free(&what);
}

/* A thread that has left an update and ends leaves no shard inside it. */
static void
test_leavers_end(void **state)
{
    struct watched what;
    const struct snapshot *seen;

    (void)state;
    if (!run_handlers((char *)"leavers_end", &what))
        skip();
    seen = &watch_last(&what)->snapshot;
    print_message("  %lu out of updates\n", (unsigned long)seen->updates_left);
    assert_int_equal(0, seen->inconsistent);
    assert_in_range(seen->updates_left, 10, 100);
    watch_free(&what);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),   cmocka_unit_test(test_far_apart),
        cmocka_unit_test(test_threads),  cmocka_unit_test(test_past_us),
        cmocka_unit_test(test_no_slab),
        cmocka_unit_test(test_shut_in),  cmocka_unit_test(test_forks),
        cmocka_unit_test(test_promised),
        cmocka_unit_test(test_damaged),  cmocka_unit_test(test_handlers),
        cmocka_unit_test(test_handlers_leave), cmocka_unit_test(test_leavers_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
