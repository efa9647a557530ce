/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The library in front of other allocators, behind C++, and with blocks that bypass
   it. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "watch.h"

static const char *const others[] = {
    "libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2",
};
#define OTHERS (sizeof others / sizeof others[0])

static void
run_over(const char *allocator, char *program, char *name, struct watched *what)
{
    struct preload_watch how = {.argv = WATCH_ARGV(program, name),
                                .preload_after = allocator};

    watch_run(&how, what);
    watch_assert_success(what);
    assert_string_equal("", what->err);
}

static void
test_heap(void **state)
{
    struct watched what;

    (void)state;
    run_over(NULL, "heap.run", "heap", &what);
    assert_int_equal(ACCOUNTING_REQUESTED, watch_last(&what)->identity.accounting);
    assert_non_null(strstr(watch_last(&what)->identity.allocator, "libc.so"));
    assert_int_equal(0, watch_last(&what)->snapshot.unmatched);
    watch_free(&what);
    for (size_t i = 0; i < OTHERS; i++) {
        if (!watch_can_preload(others[i]))
            continue;
        run_over(others[i], "heap.run", "heap", &what);
        assert_int_equal(ACCOUNTING_USABLE, watch_last(&what)->identity.accounting);
        assert_non_null(strstr(watch_last(&what)->identity.allocator, others[i]));
        assert_true(watch_last(&what)->snapshot.calls[FN_MALLOC] > 1000);
        assert_in_range(watch_last(&what)->snapshot.live_bytes, 0, 100000);
        watch_free(&what);
    }
}

/* The library's trailer works with allocators that know only usable sizes. */
static void
test_requested(void **state)
{
    struct watched what;
    struct preload_watch how = {.argv = WATCH_ARGV("heap.run", "heap"),
                                .preload_after = watch_program("bump.plugin")};

    (void)state;
    watch_run(&how, &what);
    watch_assert_success(&what);
    assert_int_equal(ACCOUNTING_REQUESTED, watch_last(&what)->identity.accounting);
    assert_int_equal(0, watch_last(&what)->snapshot.unmatched);
    watch_free(&what);
    /* The library does not know whether such a block has its own mapping. */
    how.argv = WATCH_ARGV("rows.run", "large_block");
    watch_run(&how, &what);
    watch_assert_success(&what);
    assert_in_range(watch_last(&what)->snapshot.usable_bytes, 300000, 500000);
    assert_int_equal(0, watch_last(&what)->snapshot.mapped_bytes);
    watch_free(&what);
}

/* The new of libstdc++ calls malloc; the new of other allocators is counted by the
   library itself. */
static void
test_cxx(void **state)
{
    struct watched what;
    const struct snapshot *seen;
    const uint64_t *cells;

    (void)state;
    run_over(NULL, "cxx.run", "forms", &what);
    cells = watch_last(&what)->histogram.allocated;
    assert_int_equal(100, cells[histogram_cell(50000)]);
    /* Older libstdc++ rounds up to the alignment, newer ones do not. */
    bool rounds = cells[histogram_cell(40064)] != 0;
    assert_int_equal(100, cells[histogram_cell(rounds ? 40064 : 40000)]);
    assert_int_equal(rounds ? 2 : 3, cells[histogram_cell(30000)]);
    assert_int_equal(rounds ? 1 : 0, cells[histogram_cell(30080)]);
    assert_int_equal(0, watch_last(&what)->snapshot.unmatched);
    watch_free(&what);
    for (size_t i = 0; i < OTHERS; i++) {
        /* mimalloc 2.0 mixes up the arguments of aligned new. */
        if (!watch_can_preload(others[i])
            || !watch_possible(others[i], "cxx.run", "forms"))
            continue;
        print_message("  %s\n", others[i]);
        run_over(others[i], "cxx.run", "forms", &what);
        seen = &watch_last(&what)->snapshot;
        /* jemalloc's aligned new is its aligned_alloc. */
        assert_in_range(seen->calls[FN_MALLOC] + seen->calls[FN_ALIGNED_ALLOC], 403, 420);
        assert_in_range(seen->calls[FN_FREE], 403, 420);
        assert_true(seen->total_bytes >= 100 * (4 + 50000 + 512 + 40000) + 90000);
        assert_in_range(seen->live_bytes, 0, 200000);
        watch_free(&what);
    }
}

static void
test_cxx_usual(void **state)
{
    (void)state;
    for (size_t i = 0; i < OTHERS; i++) {
        struct watched what;
        const struct snapshot *seen;

        if (!watch_can_preload(others[i]))
            continue;
        print_message("  %s\n", others[i]);
        run_over(others[i], "cxx.run", "usual", &what);
        seen = &watch_last(&what)->snapshot;
        assert_in_range(seen->calls[FN_MALLOC], 101, 120);
        assert_in_range(seen->calls[FN_FREE], 101, 120);
        assert_in_range(seen->peak_bytes, 5000000, 9000000);
        watch_free(&what);
    }
}

/* Not every allocator has pvalloc; the blocks of libc's pvalloc must then not be passed
   to the allocator. */
static void
test_pvalloc(void **state)
{
    (void)state;
    for (size_t i = 0; i < OTHERS; i++) {
        struct watched what;

        if (!watch_can_preload(others[i]))
            continue;
        print_message("  %s\n", others[i]);
        run_over(others[i], "rows.run", "pvalloc_page", &what);
        assert_int_equal(8, watch_last(&what)->snapshot.calls[FN_PVALLOC]);
        watch_free(&what);
    }
}

static void
test_forks(void **state)
{
    static char *const names[] = {"simple", "in_thread", "raw"};

    (void)state;
    for (size_t i = 0; i < OTHERS * 3; i++) {
        struct watched what;
        const struct watched_segment *child;

        if (!watch_can_preload(others[i / 3]))
            continue;
        run_over(others[i / 3], "forks.run", names[i % 3], &what);
        assert_int_equal(2, what.count);
        child = &what.segments[what.segments[0].pid == what.pid ? 1 : 0];
        assert_int_equal(5, child->snapshot.calls[FN_MALLOC]);
        assert_int_equal(3, child->snapshot.calls[FN_FREE]);
        assert_true(child->snapshot.live_blocks >= 12);
        watch_free(&what);
    }
}

static void
test_cxx_throws(void **state)
{
    struct watched what;

    (void)state;
    run_over(NULL, "cxx.run", "throws", &what);
    watch_free(&what);
    for (size_t i = 0; i < OTHERS; i++)
        if (watch_can_preload(others[i])) {
            struct preload_watch how = {.argv = WATCH_ARGV("cxx.run", "throws"),
                                        .preload_after = others[i]};
            struct watched plain;
            watch_run(&how, &what);
            how.plain = true;
            watch_run(&how, &plain); /* mimalloc may abort instead */
            print_message("  %s: %d\n", others[i], plain.status);
            assert_int_equal(plain.status, what.status);
            watch_free(&plain);
            watch_free(&what);
        }
}

/* The plugin uses the library's operator new; its C++ runtime is not in the library's
   scope. */
static void
test_local_plugin(void **state)
{
    struct preload_watch how = {
        .argv =
            WATCH_ARGV("plugins.run", "local", (char *)watch_program("plugin.plugin"))};
    struct watched what;

    (void)state;
    watch_run(&how, &what);
    watch_assert_success(&what);
    assert_int_equal(0, watch_last(&what)->snapshot.unmatched);
    assert_true(watch_last(&what)->snapshot.calls[FN_MALLOC] >= 300);
    watch_free(&what);
}

static void
test_reopened_plugin(void **state)
{
    struct preload_watch how = {.argv =
                                    WATCH_ARGV("plugins.run", "reopened",
                                               (char *)watch_program("plugin.plugin"))};
    struct watched what;

    (void)state;
    watch_run(&how, &what);
    watch_assert_success(&what);
    assert_string_equal("", what.err);
    assert_int_equal(0, watch_last(&what)->snapshot.unmatched);
    watch_free(&what);
}

/* In every mode, and over every allocator. */
static void
test_dlerror(void **state)
{
    static const char *const modes[] = {"", "sites=1", "sites=1,unwind=fp", "dormant",
                                        "rings=4096,drop", "exact", "accounting=usable",
                                        "root-only"};
    struct watched what;

    (void)state;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        print_message("  %s\n", modes[i]);
        watch_case("dlerror.run", NULL, modes[i], &what);
        watch_free(&what);
    }
    for (size_t i = 0; i < OTHERS; i++)
        if (watch_can_preload(others[i])
            && watch_possible(others[i], "dlerror.run", NULL)) {
            print_message("  %s\n", others[i]);
            run_over(others[i], "dlerror.run", NULL, &what);
            watch_free(&what);
        }
}

static void
test_deep_plugin(void **state)
{
    struct preload_watch how = {
        .argv = WATCH_ARGV("plugins.run", "deep", (char *)watch_program("deep.plugin"))};
    struct watched what;

    (void)state;
    watch_run(&how, &what);
    watch_assert_success(&what);
    assert_true(watch_last(&what)->snapshot.unmatched > 20);
    watch_free(&what);
}

static void
test_own_malloc(void **state)
{
    struct watched what;

    (void)state;
    watch_case("own-malloc.run", "own_malloc", "", &what);
    assert_int_equal(SEGMENT_EXITED, watch_last(&what)->identity.state);
    assert_int_equal(REASON_OWN_MALLOC, watch_last(&what)->identity.reason);
    assert_int_equal(ACCOUNTING_NONE, watch_last(&what)->identity.accounting);
    watch_free(&what);
}

static void
test_late(void **state)
{
    static char *const programs[] = {"plugins.run", "plugins-fixed.run"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct preload_watch how = {
            .argv = WATCH_ARGV(programs[i], "late", (char *)watch_path("libmemtop.so")),
            .plain = true};
        struct watched what;

        print_message("  %s\n", programs[i]);
        watch_run(&how, &what);
        watch_assert_success(&what);
        assert_string_equal("", what.err);
        assert_int_equal(REASON_LOADED_LATE, watch_last(&what)->identity.reason);
        assert_int_equal(ACCOUNTING_NONE, watch_last(&what)->identity.accounting);
        assert_int_equal(0, watch_last(&what)->snapshot.calls[FN_MALLOC]);
        watch_free(&what);
    }
}

static void
test_elsewhere(void **state)
{
    static const char *const words[] = {"", "sites=1"};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct preload_watch how = {.argv =
                                        WATCH_ARGV("plugins.run", "elsewhere",
                                                   (char *)watch_path("libmemtop.so")),
                                    .options = words[i / 2],
                                    .plain = i % 2 == 0};
        struct watched what;
        uint64_t calls = 0;

        watch_run(&how, &what);
        watch_assert_success(&what);
        assert_string_equal("", what.err);
        for (size_t k = 0; k < what.count; k++)
            calls += what.segments[k].snapshot.calls[FN_MALLOC];
        assert_true(calls >= 1001);
        watch_free(&what);
    }
}

static void
test_no_usable_size(void **state)
{
    struct watched what;

    (void)state;
    run_over(watch_program("blind.plugin"), "rows.run", "malloc_free", &what);
    assert_int_equal(REASON_NO_USABLE_SIZE, watch_last(&what)->identity.reason);
    assert_int_equal(0, watch_last(&what)->snapshot.calls[FN_MALLOC]);
    watch_free(&what);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heap),         cmocka_unit_test(test_requested),
        cmocka_unit_test(test_cxx),          cmocka_unit_test(test_cxx_throws),
        cmocka_unit_test(test_local_plugin), cmocka_unit_test(test_deep_plugin),
        cmocka_unit_test(test_own_malloc),   cmocka_unit_test(test_no_usable_size),
        cmocka_unit_test(test_cxx_usual),    cmocka_unit_test(test_forks),
        cmocka_unit_test(test_pvalloc),      cmocka_unit_test(test_reopened_plugin),
        cmocka_unit_test(test_dlerror),      cmocka_unit_test(test_late),
        cmocka_unit_test(test_elsewhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
