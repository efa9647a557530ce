/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moments of the run, compared with a list of everything that was added: few are kept,
   unchanged, spread over the run, the first and the last among them. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "monitor/checkpoints.h"

#define LENGTH 3000

static struct process process;   /* too large for the stack */
static struct process restored;

/* A process whose numbers all show its time. */
static void
at(int64_t run_ns)
{
    uint64_t value = (uint64_t)run_ns;

    memset(&process, 0, sizeof process);
    process.run_ns = run_ns;
    process.measured = run_ns % 3 != 0;
    process.os_known = run_ns % 5 != 0;
    process.os.rss = value * 7;
    process.now.live_bytes = value * 11;
    process.now.calls[FN_FREE] = value * 13;
    process.rates.bytes_freed = (double)run_ns;
    process.sizes.live[3] = value;
    process.sizes.allocated[HISTOGRAM_CELLS - 1] = value * 17;
    process.sizes.allocated[300] = value;
    process.sizes.allocated[301] = 1;
}

static void
check_item(const struct checkpoints *checkpoints, size_t index)
{
    unsigned bucket = histogram_cell_coarse(300);

    at(checkpoints_time(checkpoints, index));
    memset(&restored, 0xAA, sizeof restored);
    restored.generations = 0;
    checkpoints_restore(checkpoints, index, &restored);
    assert_int_equal(restored.run_ns, process.run_ns);
    assert_false(restored.ended);
    assert_int_equal(restored.measured, process.measured);
    assert_int_equal(restored.os_known, process.os_known);
    assert_int_equal(restored.os.rss, process.os.rss);
    assert_memory_equal(&restored.now, &process.now, sizeof process.now);
    assert_memory_equal(&restored.rates, &process.rates, sizeof process.rates);
    assert_memory_equal(restored.sizes.live, process.sizes.live,
                        sizeof process.sizes.live);
    assert_int_equal(restored.sizes.allocated[HISTOGRAM_CELLS - 1],
                     process.sizes.allocated[HISTOGRAM_CELLS - 1]);
    assert_int_equal(histogram_cell_coarse(301), bucket);
    assert_int_equal(
        restored.sizes.allocated[histogram_cell(histogram_coarse_floor(bucket))],
        process.sizes.allocated[300] + 1);
}

static void
few_are_kept_as_they_were(void **state)
{
    (void)state;
    for (size_t capacity = 4; capacity <= 9; capacity++) {
        struct checkpoints *checkpoints = checkpoints_new(capacity);
        int64_t run_ns = 0, last = 0;

        assert_non_null(checkpoints);
        for (int i = 0; i < LENGTH; i++, run_ns += 1 + (i * 7919) % 50) {
            size_t count;

            at(run_ns);
            checkpoints_add(checkpoints, &process);
            last = run_ns;
            count = checkpoints_count(checkpoints);
            assert_in_range(count, 1, capacity);
            assert_int_equal(checkpoints_time(checkpoints, 0), 0);
            assert_int_equal(checkpoints_time(checkpoints, count - 1), last);
            for (size_t k = 1; k < count; k++)
                assert_true(checkpoints_time(checkpoints, k - 1)
                            < checkpoints_time(checkpoints, k));
        }
        for (size_t k = 0; k < checkpoints_count(checkpoints); k++)
            check_item(checkpoints, k);
        checkpoints_free(checkpoints);
    }
    checkpoints_free(NULL);
}

/* Added as often as asked for, they are nowhere sparser than the capacity requires. */
static void
they_spread_over_the_run(void **state)
{
    enum { CAPACITY = 8 };
    struct checkpoints *checkpoints = checkpoints_new(CAPACITY);
    int64_t due = 0;

    (void)state;
    for (int64_t run_ns = 0; run_ns < LENGTH; run_ns++) {
        int64_t before = 0;

        if (run_ns < due)
            continue;
        at(run_ns);
        checkpoints_add(checkpoints, &process);
        due = run_ns + checkpoints_spacing(checkpoints);
        for (size_t i = 0; i < checkpoints_count(checkpoints); i++) {
            int64_t time = checkpoints_time(checkpoints, i);

            assert_true(time - before <= 2 + run_ns * 4 / CAPACITY);
            before = time;
        }
    }
    assert_in_range(checkpoints_count(checkpoints), CAPACITY / 2, CAPACITY);
    /* Moments are asked for less and less often. */
    assert_true(checkpoints_spacing(checkpoints) > LENGTH / CAPACITY / 2);
    checkpoints_free(checkpoints);
}

static void
a_moment_finds_the_one_before_it(void **state)
{
    struct checkpoints *checkpoints = checkpoints_new(4);
    size_t index = 99;

    (void)state;
    assert_false(checkpoints_find(checkpoints, 100, &index));
    for (int64_t run_ns = 10; run_ns <= 30; run_ns += 10) {
        at(run_ns);
        checkpoints_add(checkpoints, &process);
    }
    assert_false(checkpoints_find(checkpoints, 9, &index));
    for (int64_t run_ns = 10; run_ns < 60; run_ns++) {
        assert_true(checkpoints_find(checkpoints, run_ns, &index));
        assert_int_equal(index, run_ns < 20 ? 0 : run_ns < 30 ? 1 : 2);
    }
    checkpoints_free(checkpoints);
}

/* The last reading of a program may have the same time as the one before. */
static void
the_same_moment_is_replaced(void **state)
{
    struct checkpoints *checkpoints = checkpoints_new(4);

    (void)state;
    at(10);
    checkpoints_add(checkpoints, &process);
    process.now.live_bytes = 77;
    checkpoints_add(checkpoints, &process);
    assert_int_equal(checkpoints_count(checkpoints), 1);
    checkpoints_restore(checkpoints, 0, &restored);
    assert_int_equal(restored.now.live_bytes, 77);
    checkpoints_free(checkpoints);
}

static void
of_another_image_the_name_is_not_told(void **state)
{
    struct checkpoints *checkpoints = checkpoints_new(4);

    (void)state;
    at(10);
    process.generations = 1;
    checkpoints_add(checkpoints, &process);
    process.generations = 2;
    strcpy(process.identity.program, "/bin/second");
    process.identity.flags = SEGMENT_FLAG_MMAP;
    checkpoints_restore(checkpoints, 0, &process);
    assert_int_equal(process.generations, 1);
    assert_string_equal(process.identity.program, "");
    assert_int_equal(process.identity.flags, SEGMENT_FLAG_MMAP);
    checkpoints_free(checkpoints);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_are_kept_as_they_were),
        cmocka_unit_test(they_spread_over_the_run),
        cmocka_unit_test(a_moment_finds_the_one_before_it),
        cmocka_unit_test(the_same_moment_is_replaced),
        cmocka_unit_test(of_another_image_the_name_is_not_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
