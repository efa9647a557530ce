/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The histogram's cells and buckets, over all sizes that matter. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "segment/layout.h"

/* A size's cell and buckets agree. */
static void
check_size(uint64_t size)
{
    unsigned cell = histogram_cell(size), coarse = histogram_coarse(size);

    assert_true(cell < HISTOGRAM_CELLS);
    assert_true(coarse < HISTOGRAM_COARSE);
    assert_int_equal(coarse, histogram_cell_coarse(cell));
    assert_true(histogram_coarse_floor(coarse) <= size);
    if (coarse + 1 < HISTOGRAM_COARSE)
        assert_true(size < histogram_coarse_floor(coarse + 1));
    if (size < UINT64_C(1) << 47)
        assert_int_equal(coarse, histogram_coarse_block(size));
}

static void
test_sizes(void **state)
{
    (void)state;
    for (uint64_t size = 0; size < 1 << 20; size++)
        check_size(size);
    for (unsigned bit = 20; bit < 64; bit++)
        for (uint64_t quarter = 4; quarter < 8; quarter++)
            for (int64_t by = -17; by <= 17; by++)
                check_size((quarter << (bit - 2)) + (uint64_t)by);
    check_size(UINT64_MAX);
}

/* As in memusage, 16 bytes wide below 64 KiB. */
static void
test_fine_cells(void **state)
{
    (void)state;
    for (uint64_t size = 0; size < HISTOGRAM_LARGE; size++)
        assert_int_equal(size / 16, histogram_cell(size));
    assert_int_equal(HISTOGRAM_FINE, histogram_cell(HISTOGRAM_LARGE));
    assert_int_equal(HISTOGRAM_COARSE_LARGE, histogram_coarse(HISTOGRAM_LARGE));
    assert_int_equal(HISTOGRAM_CELLS - 1, histogram_cell(UINT64_MAX));
}

/* Buckets adjoin, and each is at most a quarter of its lower bound wide. */
static void
test_coarse_buckets(void **state)
{
    (void)state;
    assert_int_equal(0, histogram_coarse_floor(0));
    for (unsigned bucket = 0; bucket + 1 < HISTOGRAM_COARSE; bucket++) {
        uint64_t floor = histogram_coarse_floor(bucket);
        uint64_t next = histogram_coarse_floor(bucket + 1);
        assert_true(floor < next);
        assert_true(next - floor == HISTOGRAM_CELL_BYTES || (next - floor) * 4 <= floor);
        assert_int_equal(bucket, histogram_coarse(floor));
        assert_int_equal(bucket, histogram_coarse(next - 1));
    }
}

/* A bucket is a union of cells: every cell lies entirely in one bucket. */
static void
test_unions(void **state)
{
    (void)state;
    for (unsigned cell = 0; cell < HISTOGRAM_FINE; cell++)
        assert_int_equal(histogram_coarse((uint64_t)cell * 16),
                         histogram_coarse((uint64_t)cell * 16 + 15));
    for (unsigned cell = 1; cell < HISTOGRAM_CELLS; cell++) {
        unsigned step = histogram_cell_coarse(cell) - histogram_cell_coarse(cell - 1);
        assert_true(step <= 1);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_fine_cells),
        cmocka_unit_test(test_coarse_buckets),
        cmocka_unit_test(test_unions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
