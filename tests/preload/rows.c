/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What each call does to the counters.  They are defined as memusage's, but failed calls
 * add no bytes, and the aligned family has its own rows.  Where memusage counts the
 * same, its results are compared, too, if it is installed.
 */
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

#define HUGE (UINT64_C(1) << 62)

struct expected_row {
    uint64_t calls, bytes, failed, failed_bytes;
};

struct expectation {
    const char *name;
    struct expected_row rows[FN_COUNT];
    uint64_t live_bytes, live_blocks, peak;
    uint64_t inplace, dec, freed, null;
    bool not_memusage; /* memusage counts differently, or crashes */
};

static const struct expectation expectations[] = {
    {.name = "nothing"},
    {.name = "malloc_one", .rows = {[FN_MALLOC] = {1, 100}},
     .live_bytes = 100, .live_blocks = 1, .peak = 100},
    {.name = "malloc_zero", .rows = {[FN_MALLOC] = {1, 0}}, .live_blocks = 1},
    {.name = "malloc_free", .rows = {[FN_MALLOC] = {1, 100}, [FN_FREE] = {1, 100}},
     .peak = 100},
    {.name = "malloc_fails", .rows = {[FN_MALLOC] = {1, 0, 1, HUGE}}},
    /* memusage's header makes the size wrap around. */
    {.name = "malloc_max", .rows = {[FN_MALLOC] = {1, 0, 1, UINT64_MAX}},
     .not_memusage = true},
    {.name = "calloc_one", .rows = {[FN_CALLOC] = {1, 150}},
     .live_bytes = 150, .live_blocks = 1, .peak = 150},
    {.name = "calloc_fails", .rows = {[FN_CALLOC] = {1, 0, 1, HUGE}}},
    /* memusage has no overflow check. */
    {.name = "calloc_overflow", .rows = {[FN_CALLOC] = {1, 0, 1, 0}},
     .not_memusage = true},
    {.name = "free_null", .rows = {[FN_FREE] = {3, 0}}, .null = 3},
    {.name = "realloc_null", .rows = {[FN_REALLOC] = {1, 100}},
     .live_bytes = 100, .live_blocks = 1, .peak = 100},
    {.name = "realloc_null_zero", .rows = {[FN_REALLOC] = {1, 0}}, .live_blocks = 1},
    {.name = "realloc_null_fails", .rows = {[FN_REALLOC] = {1, 0, 1, HUGE}}},
    {.name = "realloc_grow", .rows = {[FN_MALLOC] = {1, 100}, [FN_REALLOC] = {1, 4900}},
     .live_bytes = 5000, .live_blocks = 1, .peak = 5000, .inplace = 1},
    {.name = "realloc_moves",
     .rows = {[FN_MALLOC] = {2, 200}, [FN_REALLOC] = {1, 199900}},
     .live_bytes = 200100, .live_blocks = 2, .peak = 200100},
    {.name = "realloc_shrink",
     .rows = {[FN_MALLOC] = {1, 1000}, [FN_REALLOC] = {1, 0}, [FN_FREE] = {1, 10}},
     .peak = 1000, .inplace = 1, .dec = 1},
    {.name = "realloc_same", .rows = {[FN_MALLOC] = {1, 100}, [FN_REALLOC] = {1, 0}},
     .live_bytes = 100, .live_blocks = 1, .peak = 100, .inplace = 1},
    {.name = "realloc_zero",
     .rows = {[FN_MALLOC] = {1, 100}, [FN_REALLOC] = {1, 0}, [FN_FREE] = {0, 100}},
     .peak = 100, .freed = 1},
    {.name = "realloc_fails",
     .rows = {[FN_MALLOC] = {1, 100}, [FN_REALLOC] = {1, 0, 1, HUGE - 100},
              [FN_FREE] = {1, 100}},
     .peak = 100},
    {.name = "reallocarray_one",
     .rows = {[FN_REALLOC] = {3, 200, 1, 0}, [FN_FREE] = {1, 200}}, .peak = 200,
     .inplace = 1, .not_memusage = true},
    {.name = "reallocarray_null_overflow", .rows = {[FN_REALLOC] = {1, 0, 1, 0}},
     .not_memusage = true},
    {.name = "aligned_all",
     .rows = {[FN_POSIX_MEMALIGN] = {1, 10}, [FN_ALIGNED_ALLOC] = {1, 256},
              [FN_MEMALIGN] = {1, 30}, [FN_VALLOC] = {1, 40}, [FN_PVALLOC] = {1, 50},
              [FN_FREE] = {5, 386}},
     .peak = 386, .not_memusage = true},
    {.name = "aligned_fail",
     .rows = {[FN_POSIX_MEMALIGN] = {2, 0, 2, HUGE + 10},
              [FN_ALIGNED_ALLOC] = {1, 0, 1, HUGE},
              [FN_MEMALIGN] = {1, 0, 1, HUGE}, [FN_VALLOC] = {1, 0, 1, HUGE},
              [FN_PVALLOC] = {2, 0, 2, HUGE + UINT64_MAX}},
     .not_memusage = true},
    {.name = "pvalloc_page", .rows = {[FN_PVALLOC] = {8, 40000}, [FN_FREE] = {8, 40000}},
     .peak = 40000, .not_memusage = true},
    {.name = "free_forms",
     .rows = {[FN_MALLOC] = {2, 30}, [FN_ALIGNED_ALLOC] = {1, 64}, [FN_FREE] = {3, 94}},
     .peak = 64, .not_memusage = true},
    {.name = "calloc_zeroed",
     .rows = {[FN_MALLOC] = {64, 64000}, [FN_CALLOC] = {64, 64000},
              [FN_FREE] = {128, 128000}},
     .peak = 1000, .not_memusage = true},
};

static void
check_expectation(const struct expectation *expected, const struct snapshot *seen)
{
    print_message("  %s\n", expected->name);
    for (unsigned fn = 0; fn < FN_COUNT; fn++) {
        const struct expected_row *row = &expected->rows[fn];
        assert_int_equal(row->calls, seen->calls[fn]);
        assert_int_equal(row->bytes, seen->bytes[fn]);
        assert_int_equal(row->failed, seen->failed[fn]);
        assert_int_equal(row->failed_bytes, seen->failed_bytes[fn]);
    }
    assert_int_equal(expected->live_bytes, seen->live_bytes);
    assert_int_equal(expected->live_blocks, seen->live_blocks);
    assert_int_equal(expected->peak, seen->peak_bytes);
    assert_int_equal(expected->inplace, seen->realloc_inplace);
    assert_int_equal(expected->dec, seen->realloc_dec);
    assert_int_equal(expected->freed, seen->realloc_freed);
    assert_int_equal(expected->null, seen->free_null);
    assert_int_equal(0, seen->unmatched);
    assert_int_equal(0, seen->torn);
}

static void
test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
        struct watched what;
        watch_case("rows.run", (char *)expectations[i].name, "", &what);
        check_expectation(&expectations[i], &watch_last(&what)->snapshot);
        watch_free(&what);
    }
}

/* ---- memusage's own count ---- */

static void
memusage_row(const char *report, const char *name, struct expected_row *row)
{
    const char *found = strstr(report, name);
    char line[256] = "";

    assert_non_null(found);
    for (size_t used = 0; *found != '\n' && *found != '\0' && used < sizeof line - 1;
         found++)
        if (*found == '\033')
            found += strcspn(found, "m");
        else
            line[used++] = *found;
    assert_true(sscanf(strchr(line, '|') + 1, "%lu %lu %lu", &row->calls, &row->bytes,
                       &row->failed)
                >= 2);
}

static void
test_rows_as_memusage(void **state)
{
    static const char *const names[] = {"malloc|", "realloc|", "calloc|", "free|"};

    (void)state;
    if (!watch_can_preload("libmemusage.so"))
        skip();
    for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
        const struct expectation *expected = &expectations[i];
        struct preload_watch how = {.argv =
                                        WATCH_ARGV("rows.run", (char *)expected->name),
                                    .plain = true,
                                    .preload_after = "libmemusage.so"};
        struct watched what;

        if (expected->not_memusage)
            continue;
        watch_run(&how, &what);
        for (unsigned fn = 0; fn < 4; fn++) {
            const struct expected_row *row = &expected->rows[fn];
            struct expected_row theirs = {0};
            memusage_row(strstr(what.err, "Memory usage"), names[fn], &theirs);
            assert_int_equal(row->calls, theirs.calls);
            assert_int_equal(row->bytes + row->failed_bytes, theirs.bytes);
            assert_int_equal(row->failed, theirs.failed);
        }
        watch_free(&what);
    }
}

/* ---- sizes ---- */

static void
test_sizes(void **state)
{
    static const uint64_t asked[] = {0,  15, 16, 31, 32, 33, 64, 4095, 65519, 65520,
                                     65535, 65536, 81919, 81920, 1 << 20};
    uint64_t cells[HISTOGRAM_CELLS] = {0}, live[HISTOGRAM_COARSE] = {0};
    struct watched what;

    (void)state;
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        cells[histogram_cell(asked[i])]++;
        live[histogram_coarse(asked[i])]++;
    }
    cells[HISTOGRAM_CELLS - 1]++; /* the call that fails; its block is not live */
    watch_case("rows.run", "sizes", "", &what);
    assert_memory_equal(cells, watch_last(&what)->histogram.allocated, sizeof cells);
    assert_memory_equal(live, watch_last(&what)->histogram.live, sizeof live);
    watch_free(&what);
}

static uint64_t
sum(const uint64_t *words, size_t count)
{
    uint64_t total = 0;

    while (count > 0)
        total += words[--count];
    return total;
}

static void
test_random_walk(void **state)
{
    struct watched what;
    const struct snapshot *seen;

    (void)state;
    watch_case("rows.run", "random_walk", "", &what);
    seen = &watch_last(&what)->snapshot;
    assert_int_equal(watch_number(&what, "live"), seen->live_bytes);
    assert_int_equal(watch_number(&what, "peak"), seen->peak_bytes);
    assert_int_equal(watch_number(&what, "blocks"), seen->live_blocks);
    assert_int_equal(seen->live_blocks,
                     sum(watch_last(&what)->histogram.live, HISTOGRAM_COARSE));
    assert_true(seen->usable_bytes >= seen->live_bytes);
    watch_free(&what);
}

static void
test_usable_filled(void **state)
{
    struct watched what;

    (void)state;
    watch_case("rows.run", "usable_filled", "", &what);
    assert_int_equal(0, watch_last(&what)->snapshot.unmatched);
    assert_int_equal(0, watch_last(&what)->snapshot.live_blocks);
    watch_free(&what);
    watch_case("rows.run", "usable_filled", "accounting=usable", &what);
    assert_int_equal(0, watch_last(&what)->snapshot.live_bytes);
    watch_free(&what);
}

static void
test_accounting_usable(void **state)
{
    struct watched what;
    const struct snapshot *seen;

    (void)state;
    watch_case("rows.run", "usable_walk", "accounting=usable", &what);
    assert_int_equal(ACCOUNTING_USABLE, watch_last(&what)->identity.accounting);
    seen = &watch_last(&what)->snapshot;
    assert_int_equal(64, seen->calls[FN_MALLOC]);
    assert_int_equal(watch_number(&what, "made"), seen->bytes[FN_MALLOC]);
    assert_int_equal(watch_number(&what, "freed"), seen->bytes[FN_FREE]);
    assert_int_equal(seen->live_bytes, seen->usable_bytes);
    watch_free(&what);
}

/* Blocks for which glibc makes separate mappings are recognised by where they end; a
   forked child continues from its parent's count. */
static void
test_own_mappings(void **state)
{
    struct watched what;

    (void)state;
    watch_case("rows.run", "own_mapping_blocks", "", &what);
    assert_int_equal(what.count, 2);
    for (size_t i = 0; i < what.count; i++)
        assert_int_equal(what.segments[i].snapshot.mapped_bytes,
                         watch_number(&what, what.segments[i].pid == what.pid
                                                 ? "parent"
                                                 : "child"));
    watch_free(&what);
}

/* ---- mmap ---- */

static void
test_mappings(void **state)
{
    static const uint64_t calls[MAPPING_COUNT] = {2, 1, 2, 3, 3};
    static const uint64_t bytes[MAPPING_COUNT] = {4096, 8192, 8192, 8192, 12288};
    static const uint64_t failed[MAPPING_COUNT] = {1, 0, 1, 1, 1};
    struct watched what;
    const struct snapshot *seen;

    (void)state;
    watch_case("rows.run", "mappings", "mmap", &what);
    seen = &watch_last(&what)->snapshot;
    assert_memory_equal(calls, seen->mapping_calls, sizeof calls);
    assert_memory_equal(bytes, seen->mapping_bytes, sizeof bytes);
    assert_memory_equal(failed, seen->mapping_failed, sizeof failed);
    assert_int_equal(1, seen->mremap_dec);
    assert_true(watch_last(&what)->identity.flags & SEGMENT_FLAG_MMAP);
    watch_free(&what);
    watch_case("rows.run", "mappings", "", &what);
    assert_int_equal(0, sum(watch_last(&what)->snapshot.mapping_calls, MAPPING_COUNT));
    watch_free(&what);
}

static void
test_errno_kept(void **state)
{
    struct watched what;

    (void)state;
    watch_case("rows.run", "errno_kept", "", &what);
    watch_free(&what);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_rows_as_memusage),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_random_walk),
        cmocka_unit_test(test_usable_filled),
        cmocka_unit_test(test_accounting_usable),
        cmocka_unit_test(test_own_mappings),
        cmocka_unit_test(test_mappings),
        cmocka_unit_test(test_errno_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
