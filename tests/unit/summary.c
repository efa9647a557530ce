/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report, compared with memusage's own output, and memtop's additions. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake-process.h"
#include "report/summary.h"

#define E "\033"

static void
check(bool colour, const char *expected)
{
    char *text;

    FAKE_OUTPUT(text, report_summary(out, &fake, colour));
    assert_string_equal(text, expected);
    free(text);
}

/* Both outputs are from glibc 2.36's memusage. */
static void
empty_program(void **state)
{
    (void)state;
    check(true,
          "\n"
          E "[01;32mMemory usage summary:" E "[0;0m heap total: 0, heap peak: 0, stack "
          "peak: 0\n"
          E "[04;34m         total calls   total memory   failed calls" E "[0m\n"
          E "[00;34m malloc|" E "[0m          0              0              0" E
          "[00;00m\n"
          E "[00;34mrealloc|" E "[0m          0              0              0" E
          "[00;00m  (nomove:0, dec:0, free:0)\n"
          E "[00;34m calloc|" E "[0m          0              0              0" E
          "[00;00m\n"
          E "[00;34m   free|" E "[0m          0              0\n"
          E "[01;32mHistogram for block sizes:" E "[0;0m\n");
}

static void
failures_and_large_blocks(void **state)
{
    (void)state;
    fake_calls(FN_MALLOC, 24, 250);
    fake_calls(FN_MALLOC, 100, 1);
    fake_calls(FN_MALLOC, 70000, 1);
    fake_failures(FN_MALLOC, UINT64_C(1) << 61, 1);
    fake.now.calls[FN_FREE] = 252;
    fake.now.bytes[FN_FREE] = 76100;
    fake.now.peak_bytes = 70000;
    fake.now.stack_peak = 16;
    check(true,
          "\n"
          E "[01;32mMemory usage summary:" E "[0;0m heap total: 2305843009213770052, "
          "heap peak: 70000, stack peak: 16\n"
          E "[04;34m         total calls   total memory   failed calls" E "[0m\n"
          E "[00;34m malloc|" E "[0m        253   2305843009213770052   " E
          "[01;41m           1" E "[00;00m\n"
          E "[00;34mrealloc|" E "[0m          0              0              0" E
          "[00;00m  (nomove:0, dec:0, free:0)\n"
          E "[00;34m calloc|" E "[0m          0              0              0" E
          "[00;00m\n"
          E "[00;34m   free|" E "[0m        252          76100\n"
          E "[01;32mHistogram for block sizes:" E "[0;0m\n"
          "   16-31            250  98% " E
          "[41;37m==================================================" E "[0;0m\n"
          "   96-111             1  <1% " E "[41;37m" E "[0;0m\n"
          "   large              2  <1% " E "[41;37m" E "[0;0m\n");
}

static void
plain_with_mappings(void **state)
{
    (void)state;
    fake.identity.flags = SEGMENT_FLAG_MMAP;
    fake_calls(FN_REALLOC, 10, 3);
    fake.now.realloc_inplace = 2;
    fake.now.realloc_dec = 1;
    fake.now.realloc_freed = 4;
    fake.now.mapping_calls[MAPPING_MREMAP] = 2;
    fake.now.mapping_bytes[MAPPING_MREMAP] = 57344;
    fake.now.mremap_inplace = 1;
    fake.now.mremap_dec = 1;
    fake.now.mapping_calls[MAPPING_MUNMAP] = 4;
    fake.now.mapping_bytes[MAPPING_MUNMAP] = 12288;
    fake.now.mapping_failed[MAPPING_MUNMAP] = 1;
    check(false,
          "\n"
          "Memory usage summary: heap total: 30, heap peak: 0, stack peak: 0\n"
          "         total calls   total memory   failed calls\n"
          " malloc|          0              0              0\n"
          "realloc|          3             30              0  (nomove:2, dec:1, free:4)\n"
          " calloc|          0              0              0\n"
          "   free|          0              0\n"
          "mmap(r)|          0              0              0\n"
          "mmap(w)|          0              0              0\n"
          "mmap(a)|          0              0              0\n"
          " mremap|          2          57344              0  (nomove: 1, dec:1)\n"
          " munmap|          4          12288              1\n"
          "Histogram for block sizes:\n"
          "    0-15              3 100% "
          "==================================================\n");
}

static void
aligned_rows_only_if_called(void **state)
{
    (void)state;
    fake_calls(FN_POSIX_MEMALIGN, 64, 1234567);
    fake_failures(FN_ALIGNED_ALLOC, 16, 2);
    check(false,
          "\n"
          "Memory usage summary: heap total: 79012320, heap peak: 0, stack peak: 0\n"
          "         total calls   total memory   failed calls\n"
          " malloc|          0              0              0\n"
          "realloc|          0              0              0  (nomove:0, dec:0, free:0)\n"
          " calloc|          0              0              0\n"
          "   free|          0              0\n"
          "posix_memalign| 1234567   79012288              0\n"
          "aligned_alloc|    2             32              2\n"
          "Histogram for block sizes:\n"
          "   16-31              2  <1% \n"
          "   64-79        1234567  99% "
          "==================================================\n");
}

static void
counters_saturate(void **state)
{
    char *text;

    (void)state;
    memset(&fake.now, 0xff, sizeof fake.now);
    memset(&fake.sizes, 0xff, sizeof fake.sizes);
    FAKE_OUTPUT(text, report_summary(out, &fake, false));
    assert_non_null(strstr(text, "heap total: 18446744073709551615, heap peak"));
    assert_non_null(strstr(text, "   large   18446744073709551615 100% ==="));
    free(text);
}

static void
not_measured(void **state)
{
    (void)state;
    fake.measured = false;
    snprintf(fake.why_not, sizeof fake.why_not, "%s", "statically linked\033[2J");
    check(true, "memtop: not measured: statically linked?[2J\n");
    fake.why_not[0] = '\0';
    check(false, "memtop: not measured: the reason is unknown\n");
}

static void
remarks(void **state)
{
    char *text;

    (void)state;
    fake.now.unmatched = 1;
    fake.now.not_counted = 3;
    fake.now.threads_merged = 7;
    fake.now.torn = 2;
    fake.now.updates_left = 5;
    fake.generations = 2;
    fake.children_seen = 3;
    strcpy(fake.identity.program, "/bin/l\033s");
    fake.identity.accounting = ACCOUNTING_USABLE;
    strcpy(fake.identity.allocator, "libjemalloc.so.2");
    fake.identity.origin = ORIGIN_RAW_CLONE;
    fake_coverage = 11;
    fake.rss_anon_peak = 64 << 20;
    FAKE_OUTPUT(text, report_remarks(out, &fake));
    assert_string_equal(
        text,
        "memtop: 1 block that memtop did not see allocated was freed or resized; it is "
        "not counted\n"
        "memtop: 3 blocks are not counted: there was no memory to note their sizes\n"
        "memtop: sizes are not those requested, but as libjemalloc.so.2 rounds them up\n"
        "memtop: 7 threads shared the counters of others: their stacks are not shown "
        "separately\n"
        "memtop: 2 threads ended inside a call, which may be counted in part\n"
        "memtop: 5 calls were left by jumps out of signal handlers and may be counted in "
        "part\n"
        "memtop: these figures are those of /bin/l?s, which was executed last\n"
        "memtop: 3 child processes are counted separately and not in these figures\n"
        "memtop: the process began as a clone that the C library does not know of: the "
        "memory it began with is estimated\n"
        "memtop: coverage 11%: most of the process's memory does not come from malloc\n");
    free(text);
}

/* One line reports the program's own pools. */
static void
pools(void **state)
{
    char *text;

    (void)state;
    fake.now.custom_made = 10;
    fake.now.custom_made_bytes = 1000;
    fake.now.custom_live = 3;
    fake.now.custom_live_bytes = 300;
    FAKE_OUTPUT(text, report_remarks(out, &fake));
    assert_string_equal(text, "memtop: blocks of the program's own pools: allocated 10 "
                              "(1000 B), live 3 (300 B)\n");
    free(text);
}

/* Most memory of a small program does not come from malloc, which is not worth
   reporting. */
static void
coverage_only_where_it_matters(void **state)
{
    char *text;

    (void)state;
    fake_coverage = 11;
    fake.rss_anon_peak = 1 << 20;
    FAKE_OUTPUT(text, report_remarks(out, &fake));
    assert_string_equal(text, "");
    free(text);
    fake_coverage = 50;
    fake.rss_anon_peak = 64 << 20;
    FAKE_OUTPUT(text, report_remarks(out, &fake));
    assert_string_equal(text, "");
    free(text);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(empty_program, fake_reset),
        cmocka_unit_test_setup(failures_and_large_blocks, fake_reset),
        cmocka_unit_test_setup(plain_with_mappings, fake_reset),
        cmocka_unit_test_setup(aligned_rows_only_if_called, fake_reset),
        cmocka_unit_test_setup(counters_saturate, fake_reset),
        cmocka_unit_test_setup(not_measured, fake_reset),
        cmocka_unit_test_setup(remarks, fake_reset),
        cmocka_unit_test_setup(pools, fake_reset),
        cmocka_unit_test_setup(coverage_only_where_it_matters, fake_reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
