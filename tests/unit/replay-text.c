/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The texts of a replay, letter by letter. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "programs/replay-text.h"

static char text[REPLAY_TEXT_MAX];

static const struct replay_figures some = {
    .calls = 1234567, .live_blocks = 3, .live_bytes = 4180, .slots = 5,
    .peak_blocks = 14902, .peak_bytes = UINT64_C(1) << 30,
    .requested = 100 * 1024, .usable = 150 * 1024, .cpu_ns = 123456700,
};

static void
test_record(void **state)
{
    struct replay_record record = {
        .figures = &some,
        .slop = {.blocks = 4, .sloppy_blocks = 3,
                 .requested = 3 * 1024, .usable = 4 * 1024},
        .rss = UINT64_C(123456789012), .told_count = 1, .told = {{"arena", 135168}},
    };

    (void)state;
    replay_text_prepare();
    assert_string_equal("\n"
                        "Objects:                  3\n"
                        "Slots:                    5\n"
                        "Ops:                1234567\n"
                        "requested:             4180\n"
                        "usable:                4096\n"
                        "rss:              123456789012\n"
                        "arena:               135168\n",
                        replay_text_record(text, sizeof text, &record, false));
    record.rss = REPLAY_UNKNOWN_BYTES;
    record.told[0].name = "current_total_thread_cache_bytes";
    assert_string_equal("\n"
                        "Objects:                                  3\n"
                        "Slots:                                    5\n"
                        "Ops:                                1234567\n"
                        "requested:                             4180\n"
                        "usable:                                4096\n"
                        "current_total_thread_cache_bytes:    135168\n"
                        "Total slop for all allocations: 50KiB/150KiB (33%)\n"
                        "Live sloppy objects: 3/4 (75%)\n"
                        "Live sloppy bytes: 1KiB/4KiB (25%)\n",
                        replay_text_record(text, sizeof text, &record, true));
    record.figures = &(struct replay_figures){0};
    record.slop = (struct replay_slop){0};
    replay_text_record(text, sizeof text, &record, true);
    assert_non_null(strstr(text, "Live sloppy objects: 0/0 (0%)"));
    assert_string_equal("\nObj", replay_text_record(text, 5, &record, true));
}

static struct replay_result
make_result(const char *allocator, uint64_t rss)
{
    struct replay_result result = {
        .figures = some, .end = {.usable = 5000}, .wall_ns = 1500000000,
        .cpu_ns = 1250000000, .faults = 700000, .rss_peak = rss, .rss_end = rss / 2,
    };

    snprintf(result.allocator, sizeof result.allocator, "%s", allocator);
    return result;
}

static void
test_summary(void **state)
{
    struct replay_result result = make_result("glibc", UINT64_C(5) << 28);

    (void)state;
    assert_string_equal(
        "1234567 calls in 1.500 s (CPU 1.250 s), 100.0 ns each in glibc\n"
        "at the peak: 1.000 GiB requested in 14902 blocks; RSS 1.250 GiB, fragmentation "
        "20.0%\n"
        "at the end: 4.082 KiB requested in 3 blocks, 4.883 KiB usable; RSS 640.0 MiB\n",
        replay_text_summary(text, sizeof text, &result, true));
    result.figures.failed = 1;
    result.figures.lost = 2;
    result.figures.passed_over = 3;
    result.rss_peak = result.rss_end = REPLAY_UNKNOWN_BYTES;
    assert_string_equal(
        "1234567 calls in 1.500 s (CPU 1.250 s), 100.0 ns each in glibc\n"
        "at the peak: 1.000 GiB requested in 14902 blocks; RSS -, fragmentation -\n"
        "at the end: 4.082 KiB requested in 3 blocks, 4.883 KiB usable; RSS -\n"
        "1 allocation failed\n"
        "2 blocks were lost: their slots were reused\n"
        "3 lines of other processes were skipped\n"
        "The blocks were not written to, so the RSS is lower than a real program's (see "
        "-c).\n",
        replay_text_summary(text, sizeof text, &result, false));
    /* Blocks that were not written to are not resident, so fragmentation is not known. */
    result = make_result("glibc", UINT64_C(5) << 28);
    replay_text_summary(text, sizeof text, &result, false);
    assert_non_null(strstr(text, "; RSS 1.250 GiB, fragmentation -\n"));
    /* Nothing was replayed. */
    result = (struct replay_result){0};
    replay_text_summary(text, sizeof text, &result, true);
    assert_non_null(strstr(text, "0 calls in 0.000 s (CPU 0.000 s), 0.0 ns each"));
}

static void
test_table(void **state)
{
    struct replay_result results[REPLAY_TABLE_MAX];

    (void)state;
    results[0] = make_result("glibc", UINT64_C(5) << 28);
    results[1] = make_result("liblong-name.so.1", UINT64_C(1) << 20);
    assert_string_equal(
        "1234567 calls, at the peak 1.000 GiB requested in 14902 blocks\n"
        "\n"
        "allocator             time      CPU  ns a call  page faults   peak RSS"
        "  fragmentation  RSS at end  failed\n"
        "glibc              1.500 s  1.250 s      100.0       700000  1.250 GiB"
        "          20.0%   640.0 MiB       0\n"
        "liblong-name.so.1  1.500 s  1.250 s      100.0       700000  1.000 MiB"
        "              -   512.0 KiB       0\n",
        replay_text_table(text, sizeof text, results, 2, true));
    assert_string_equal("", replay_text_table(text, sizeof text, results, 0, true));
    for (size_t i = 0; i < REPLAY_TABLE_MAX; i++)
        results[i] =
            make_result("a name that is as long as it can be, that is sixty-three cha",
                        UINT64_MAX - 1);
    replay_text_table(text, sizeof text, results, REPLAY_TABLE_MAX, false);
    assert_non_null(strstr(text, "(see -c).\n"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
