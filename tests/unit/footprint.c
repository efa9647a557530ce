/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The resident memory of this process, and its allocator. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "replay/allocator.h"
#include "replay/footprint.h"

#define MIB (UINT64_C(1) << 20)

/* The kernel and the test itself may touch some more pages. */
static void
assert_about(uint64_t expected, uint64_t bytes)
{
    assert_in_range(bytes + MIB, expected, expected + 2 * MIB);
}

/* A kernel with many CPUs may not have counted all pages yet. */
static void
assert_peak(uint64_t expected, const struct footprint *footprint)
{
    assert_in_range(footprint_peak(footprint, 0) + 8 * MIB, expected,
                    expected + 16 * MIB);
}

static void
test_footprint(void **state)
{
    struct footprint footprint;
    void *memory;

    (void)state;
    footprint_begin(&footprint);
    assert_about(0, footprint_now(&footprint, 0));
    assert_peak(0, &footprint);
    memory =
        mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    assert_about(0, footprint_now(&footprint, 0)); /* not touched yet */
    memset(memory, 1, 32 * MIB);
    assert_about(32 * MIB, footprint_now(&footprint, 0));
    assert_about(30 * MIB, footprint_now(&footprint, 2 * MIB));
    assert_peak(32 * MIB, &footprint);
    munmap(memory, 64 * MIB);
    assert_about(0, footprint_now(&footprint, 0));
    assert_peak(32 * MIB, &footprint);
    assert_int_equal(0, footprint_now(&footprint, 1000 * MIB));

    footprint_begin(&footprint);
    assert_peak(0, &footprint);
}

static void
test_shared_is_none(void **state)
{
    struct footprint footprint;
    void *memory;

    (void)state;
    footprint_begin(&footprint);
    memory =
        mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    memset(memory, 1, 32 * MIB);
    assert_about(0, footprint_now(&footprint, 0));
    assert_peak(0, &footprint);
    munmap(memory, 32 * MIB);
}

static void
test_allocator(void **state)
{
    struct allocator allocator;
    struct allocator_figure figures[ALLOCATOR_FIGURES_MAX];
    size_t count;

    (void)state;
    allocator_find(&allocator);
    assert_true(allocator.name[0] != '\0');
    assert_true(allocator_is(&allocator, allocator.name));
    assert_true(allocator_is(&allocator, "/some/where/libc.so.6"));
    assert_false(allocator_is(&allocator, "libnothing.so"));
    count = allocator_ask(&allocator, figures);
    assert_true(count <= ALLOCATOR_FIGURES_MAX);
    for (size_t i = 0; i < count; i++)
        assert_true(strlen(figures[i].name) > 0);
    if (allocator.kind == ALLOCATOR_GLIBC) {
        assert_int_equal(4, count);
        assert_string_equal("glibc", allocator.name);
        assert_string_equal("uordblks", figures[2].name);
        assert_true(figures[2].bytes > 0);
    }
    allocator_note(&allocator);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_footprint),
        cmocka_unit_test(test_shared_is_none),
        cmocka_unit_test(test_allocator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
