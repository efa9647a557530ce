/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the environment can ask for: MEMTOP_OPTIONS and memusage's variables; and what
   the segment says about itself. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "watch.h"

static void
test_identity(void **state)
{
    struct watched what;
    const struct identity *identity;

    (void)state;
    watch_case("rows.run", "malloc_one", "exact", &what);
    identity = &watch_last(&what)->identity;
    assert_int_equal(what.pid, identity->pid);
    assert_int_equal(getpid(), identity->parent);
    assert_int_equal(getpid(), identity->keeper);
    assert_int_equal(SEGMENT_EXITED, identity->state);
    assert_string_equal(watch_program("rows.run"), identity->program);
    assert_int_equal(strlen("rows.run") + 1 + strlen("malloc_one") + 1,
                     identity->args_size);
    assert_string_equal("rows.run", identity->args);
    assert_string_equal("malloc_one", identity->args + 9);
    assert_memory_equal("exact,keep=", identity->options, 11);
    assert_int_equal(SEGMENT_FLAG_EXACT | SEGMENT_FLAG_SHADOW, identity->flags);
    watch_free(&what);
}

static void
test_garbage(void **state)
{
    static char long_words[20001];
    const char *const options[] = {
        ",,,", "=", "exact=", "foo,bar=baz,,exactly", "segment=", "segment=relative",
        "segment=/nonexistent/1.0", "segment=/dev/null", "segment=/etc/passwd",
        "accounting=", "accounting=guessed", long_words,
    };

    (void)state;
    memset(long_words, 'x', sizeof long_words - 1);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        struct watched what;
        watch_case("rows.run", "malloc_one", options[i], &what);
        assert_int_equal(1, watch_last(&what)->snapshot.calls[FN_MALLOC]);
        assert_int_equal(SEGMENT_FLAG_SHADOW, watch_last(&what)->identity.flags);
        watch_free(&what);
    }
}

/* A keeper that is not a living process has no effect. */
static void
test_keepers(void **state)
{
    static const char *const nobody[] = {"keep=", "keep=0", "keep=2147483647",
                                         "keep=4294967295", "keep=99999999999999999999",
                                         "keep=-1", "keep=x"};

    (void)state;
    for (size_t i = 0; i < sizeof nobody / sizeof nobody[0]; i++) {
        struct preload_watch how = {.argv = WATCH_ARGV("rows.run", "malloc_one"),
                                    .options = nobody[i],
                                    .unkept = true};
        struct watched what;
        watch_run(&how, &what);
        watch_assert_success(&what);
        print_message("  %s\n", nobody[i]);
        assert_int_equal(0, what.files);
        watch_free(&what);
    }
}

static void
test_memusage_variables(void **state)
{
    struct preload_watch how = {.argv = WATCH_ARGV("rows.run", "mappings")};
    struct watched what;

    (void)state;
    how.environment = WATCH_ARGV("MEMUSAGE_TRACE_MMAP=yes", "MEMUSAGE_PROG_NAME=rows.run",
                                 "MEMUSAGE_OUTPUT=/nonexistent/x");
    watch_run(&how, &what);
    watch_assert_success(&what);
    assert_int_equal(SEGMENT_FLAG_MMAP | SEGMENT_FLAG_OUTPUT | SEGMENT_FLAG_SHADOW,
                     watch_last(&what)->identity.flags);
    assert_int_equal(2, watch_last(&what)->snapshot.mapping_calls[MAPPING_MMAP_R]);
    watch_free(&what);
}

/* Calls that are only passed on behave as without the library, even strange ones. */
static void
test_other_program(void **state)
{
    static char *const names[] = {"malloc_one",       "aligned_all",   "aligned_fail",
                                  "free_forms",       "pvalloc_page",  "usable_filled",
                                  "calloc_overflow",  "realloc_fails", "realloc_zero",
                                  "reallocarray_one", "errno_kept"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct preload_watch how = {.argv = WATCH_ARGV("rows.run", names[i])};
        struct watched what;

        how.environment = WATCH_ARGV("MEMUSAGE_PROG_NAME=other");
        print_message("  %s\n", names[i]);
        watch_run(&how, &what);
        watch_assert_success(&what);
        assert_int_equal(REASON_OTHER_PROGRAM, watch_last(&what)->identity.reason);
        assert_int_equal(0, watch_last(&what)->snapshot.calls[FN_MALLOC]);
        watch_free(&what);
    }
}

/* Only the library's own entry is removed from LD_PRELOAD, and the root stays watched. */
static void
test_root_only(void **state)
{
    struct preload_watch how = {.argv = WATCH_ARGV("harm.run", "preload_left"),
                                .options = "root-only"};
    struct watched what;
    char expected[8192];

    (void)state;
    how.preload_before = watch_program("deep.plugin");
    how.preload_after = "libc.so.6";
    watch_run(&how, &what);
    watch_assert_success(&what);
    snprintf(expected, sizeof expected, "[%s:libc.so.6]\n", how.preload_before);
    assert_string_equal(expected, what.out);
    assert_int_equal(1, what.count);
    watch_free(&what);
    how.options = NULL;
    watch_run(&how, &what);
    assert_int_equal(2, what.count);
    watch_free(&what);
}

/* As on a kernel without MADV_POPULATE_WRITE. */
static void
test_old_kernel(void **state)
{
    struct watched what;

    (void)state;
    watch_case("rows.run", "random_walk", "old-kernel", &what);
    assert_int_equal(watch_number(&what, "live"), watch_last(&what)->snapshot.live_bytes);
    watch_free(&what);
    watch_case("threads.run", "crowd", "old-kernel", &what);
    assert_int_equal(22000, watch_last(&what)->snapshot.calls[FN_MALLOC]);
    assert_true(watch_last(&what)->snapshot.threads_merged > 1000);
    assert_int_equal(0, watch_last(&what)->snapshot.unmatched);
    watch_free(&what);
    watch_case("forks.run", "simple", "old-kernel", &what);
    assert_int_equal(2, what.count);
    watch_free(&what);
}

static void
test_recorder(void **state)
{
    struct watched what;
    const struct watched_segment *segment;
    uint64_t calls = 0, deepest = 0, highest = 0, seen = 0;

    (void)state;
    watch_case("harm.run", "for_a_while", "", &what);
    segment = watch_last(&what);
    /* Ten intervals of the program are at least five slots. */
    assert_in_range(segment->recorded_count, 5, 1000);
    assert_int_equal(0, segment->recorded[0].begin_ns);
    for (size_t i = 0; i < segment->recorded_count; i++) {
        const struct recorded *slot = &segment->recorded[i];
        assert_int_equal(RECORDER_SLOT_NS, slot->end_ns - slot->begin_ns);
        if (i > 0)
            assert_true(slot->begin_ns >= segment->recorded[i - 1].end_ns);
        seen = slot->end_ns;
        calls += slot->calls;
        deepest = slot->stack_max > deepest ? slot->stack_max : deepest;
        highest = slot->heap_max > highest ? slot->heap_max : highest;
        assert_true(slot->heap_max >= slot->heap_last);
    }
    assert_true(highest >= 10000000);
    assert_true(segment->recorded[segment->recorded_count - 1].heap_max < 10000000);
    assert_true(seen >= UINT64_C(1000000000));
    assert_true(deepest > 0 && deepest <= segment->snapshot.stack_peak);
    assert_in_range(calls, 1, segment->snapshot.calls[FN_MALLOC] * 2);
    assert_true(calls >= segment->snapshot.calls[FN_MALLOC]);
    watch_free(&what);
}

/* Programs that call rarely are seen nevertheless: after 128 blocks, or 128 frees. */
static void
test_recorder_slowly(void **state)
{
    struct watched what;
    const struct watched_segment *segment;
    uint64_t calls = 0, most = 0;

    (void)state;
    watch_case("harm.run", "slowly", "", &what);
    segment = watch_last(&what);
    for (size_t i = 0; i < segment->recorded_count; i++)
        calls += segment->recorded[i].calls;
    /* Calls since the last look, and those in the open slot, are missing. */
    assert_true(calls >= 400 - 128 - 50);
    watch_free(&what);

    watch_case("harm.run", "slowly_by_turns", "", &what);
    segment = watch_last(&what);
    for (size_t i = 0; i < segment->recorded_count; i++)
        if (most < segment->recorded[i].calls)
            most = segment->recorded[i].calls;
    /* The calls of one slot, earlier calls that were not seen, and the free(NULL). */
    assert_in_range(most, 1, 50 + 128 + 128 + 1);
    watch_free(&what);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity),        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_keepers),         cmocka_unit_test(test_memusage_variables),
        cmocka_unit_test(test_other_program),   cmocka_unit_test(test_root_only),
        cmocka_unit_test(test_old_kernel),      cmocka_unit_test(test_recorder),
        cmocka_unit_test(test_recorder_slowly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
