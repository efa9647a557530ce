/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blocks by exact size, their intervals of counts, and the table of addresses. */
#include "config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/blockmap.h"
#include "monitor/blocksizes.h"
#include "base/counts.h"
#include "segment/layout.h"

/* ---- the table ---- */

static void
test_map_against_array(void **state)
{
    enum { KEYS = 3000 };
    static uint32_t model[KEYS];
    struct blockmap map = {0};
    uint32_t seed = 7, before;

    (void)state;
    assert_int_equal(blockmap_get(&map, 1), BLOCKMAP_NONE);
    assert_int_equal(blockmap_take(&map, 1), BLOCKMAP_NONE);
    memset(model, 0xff, sizeof model);
    for (int i = 0; i < 200000; i++) {
        seed = seed * 1103515245 + 12345;
        unsigned k = seed >> 8 & 0xfff;
        uint64_t key = (uint64_t)k << 47 | k * 48; /* spaced keys, and key 0 */

        if (k >= KEYS)
            continue;
        if (seed >> 28 & 1) {
            assert_true(blockmap_set(&map, key, (uint32_t)i, &before));
            assert_int_equal(before, model[k]);
            model[k] = (uint32_t)i;
        } else {
            assert_int_equal(blockmap_take(&map, key), model[k]);
            model[k] = BLOCKMAP_NONE;
        }
    }
    size_t count = 0;
    for (unsigned k = 0; k < KEYS; k++) {
        assert_int_equal(blockmap_get(&map, (uint64_t)k << 47 | k * 48), model[k]);
        count += model[k] != BLOCKMAP_NONE;
    }
    assert_int_equal(map.count, count);
    blockmap_fini(&map);
}

/* ---- intervals ---- */

/* Each interval contains its count, has the right number, and adjoins the next one. */
static void
check_intervals(const struct counts *counts)
{
    uint64_t lo, hi, same_lo, same_hi, last_hi = 0;
    uint32_t number, last = 0;

    for (uint64_t count = 1; count < 3000; count++) {
        number = counts_find(counts, count, &lo, &hi);
        assert_true(lo < count && count <= hi);
        if (number == 0)
            continue;
        counts_bounds(counts, number, &same_lo, &same_hi);
        assert_int_equal(lo, same_lo);
        assert_int_equal(hi, same_hi);
        if (number != last) {
            assert_int_equal(number, last + 1);
            assert_true(last == 0 || lo == last_hi);
        }
        last = number;
        last_hi = hi;
    }
    assert_int_equal(counts_find(counts, 0, &lo, &hi), 0);
}

static void
test_intervals(void **state)
{
    struct counts counts;

    (void)state;
    counts_default(&counts);
    assert_int_equal(counts.length, 27);
    check_intervals(&counts);
    for (counts.factor = 1; counts.factor < 10; counts.factor++)
        for (counts.base = 1; counts.base < 5; counts.base++) {
            counts.kind = COUNTS_LINEAR;
            check_intervals(&counts);
            counts.kind = COUNTS_POWER;
            check_intervals(&counts);
        }
    counts.kind = COUNTS_ARRAY;
    counts.length = 3;
    counts.lower = 2;
    memcpy(counts.bounds, (uint32_t[]){5, 6, 100}, 3 * sizeof *counts.bounds);
    check_intervals(&counts);
}

static void
expect_interval(const struct counts *counts, uint64_t count, uint32_t number,
                uint64_t lo, uint64_t hi)
{
    uint64_t found_lo, found_hi;

    assert_int_equal(counts_find(counts, count, &found_lo, &found_hi), number);
    assert_int_equal(found_lo, lo);
    assert_int_equal(found_hi, hi);
}

static void
test_interval_bounds(void **state)
{
    struct counts counts;

    (void)state;
    counts_default(&counts);
    expect_interval(&counts, 4, 4, 3, 5);
    expect_interval(&counts, 5, 4, 3, 5);
    expect_interval(&counts, COUNTS_LIMIT, 27, 10000000, COUNTS_LIMIT);
    expect_interval(&counts, UINT64_C(1) << 33, 0, COUNTS_LIMIT, UINT64_MAX);
    counts.kind = COUNTS_LINEAR;
    counts.factor = 10;
    expect_interval(&counts, 10, 1, 0, 10);
    expect_interval(&counts, 11, 2, 10, 20);
    counts.kind = COUNTS_POWER;
    counts.factor = 3;
    expect_interval(&counts, 3, 1, 0, 3);
    expect_interval(&counts, 7, 3, 6, 12);
    counts.base = 1; /* never grows: the second interval is the last */
    expect_interval(&counts, 4, 2, 3, COUNTS_LIMIT);
    counts.kind = COUNTS_ARRAY;
    counts.lower = 2;
    counts.length = 1;
    counts.bounds[0] = 5;
    expect_interval(&counts, 2, 0, 0, 2);
    expect_interval(&counts, 3, 1, 2, 5);
    expect_interval(&counts, 6, 0, 5, UINT64_MAX);
}

/* ---- calls ---- */

struct world {
    struct counts counts;
    struct blocksizes *blocks;
};

static int
set_up(void **state)
{
    struct world *world = calloc(1, sizeof *world);

    counts_default(&world->counts);
    world->blocks = blocksizes_new(&world->counts, 1);
    *state = world;
    return 0;
}

static int
tear_down(void **state)
{
    struct world *world = *state;

    blocksizes_free(world->blocks);
    free(world);
    return 0;
}

static void
call(struct world *world, uint64_t time, int kind, uint64_t address, uint64_t size)
{
    const struct block_call call = {
        .time_ns = time, .address = address, .size = size, .kind = (uint8_t)kind};

    assert_true(blocksizes_call(world->blocks, &call));
}

static const struct blocksize *
of_size(struct world *world, uint64_t size)
{
    for (size_t i = 0; i < blocksizes_count(world->blocks); i++)
        if (blocksizes_at(world->blocks, i)->size == size)
            return blocksizes_at(world->blocks, i);
    return NULL;
}

static void
expect(struct world *world, uint64_t size, uint64_t allocations, uint64_t live,
       uint64_t peak)
{
    const struct blocksize *found = of_size(world, size);

    assert_non_null(found);
    assert_int_equal(found->allocations, allocations);
    assert_int_equal(found->live, live);
    assert_int_equal(found->peak, peak);
}

static void
test_counts_exactly(void **state)
{
    struct world *world = *state;

    call(world, 0, FN_MALLOC, 16, 10);
    call(world, 5, FN_CALLOC, 32, 10);
    call(world, 7, FN_MEMALIGN, 64, 0);
    call(world, 20, FN_FREE, 16, 0);
    expect(world, 10, 2, 1, 2);
    expect(world, 0, 1, 1, 1);
    const struct blocksizes_sum sum = blocksizes_total(world->blocks);
    assert_int_equal(sum.allocations, 3);
    assert_int_equal(sum.bytes, 20);
    assert_int_equal(sum.live_blocks, 2);
    assert_int_equal(sum.live_bytes, 10);
    assert_int_equal(sum.peak_bytes, 20);
    assert_int_equal(sum.peak_time, 5);
    assert_int_equal(sum.end, 20);
    assert_int_equal(blocksizes_at(world->blocks, 0)->size, 10); /* in the order of their
                                                                    first calls */
}

static void
test_time_in_intervals(void **state)
{
    struct world *world = *state;

    call(world, 100, FN_MALLOC, 16, 10);
    call(world, 130, FN_MALLOC, 32, 10);
    call(world, 135, FN_FREE, 16, 0);
    call(world, 200, FN_FREE, 32, 0);
    const struct blocksize *ten = of_size(world, 10);
    assert_int_equal(blocksize_spent(ten, 1, 250), 30 + 65);
    assert_int_equal(blocksize_spent(ten, 2, 250), 5);
    assert_int_equal(blocksize_spent(ten, 3, 250), 0);
    assert_int_equal(blocksize_spent(ten, 300, 250), 0);
    call(world, 300, FN_MALLOC, 16, 10); /* time goes on */
    assert_int_equal(blocksize_spent(of_size(world, 10), 1, 340), 95 + 40);
    blocksizes_pass(world->blocks, 400);
    assert_int_equal(blocksizes_total(world->blocks).end, 400);
}

static void
test_realloc_calls(void **state)
{
    struct world *world = *state;

    call(world, 0, FN_MALLOC, 16, 10);
    call(world, 1, EVENT_REALLOC_FROM, 16, 10);
    expect(world, 10, 1, 1, 1); /* not decided yet */
    call(world, 1, EVENT_REALLOC_TO, 16, 30);
    expect(world, 10, 1, 0, 1);
    expect(world, 30, 1, 1, 1);
    call(world, 2, EVENT_REALLOC_FROM, 16, 30);
    call(world, 2, EVENT_REALLOC_KEPT, 16, 0);
    expect(world, 30, 1, 1, 1); /* a failed realloc changes nothing */
    call(world, 3, EVENT_REALLOC_FROM, 16, 30);
    call(world, 3, EVENT_REALLOC_FREED, 0, 0);
    expect(world, 30, 1, 0, 1);
    call(world, 4, EVENT_REALLOC_FROM, 4096, 1); /* not seen allocated */
    call(world, 4, EVENT_REALLOC_TO, 4096, 30);
    expect(world, 30, 2, 1, 1);
    assert_int_equal(blocksizes_total(world->blocks).unknown, 1);
    assert_int_equal(blocksizes_total(world->blocks).replaced, 0);
}

/* Another thread gets the address before the realloc() that gave it up is done. */
static void
test_realloc_among_threads(void **state)
{
    struct world *world = *state;
    struct block_call other = {.time_ns = 2, .address = 16, .size = 10, .thread = 1,
                               .kind = FN_MALLOC};

    call(world, 0, FN_MALLOC, 16, 10);
    call(world, 1, EVENT_REALLOC_FROM, 16, 10);
    assert_true(blocksizes_call(world->blocks, &other));
    call(world, 3, EVENT_REALLOC_TO, 32, 20);
    expect(world, 10, 2, 1, 2);
    expect(world, 20, 1, 1, 1);
    assert_int_equal(blocksizes_total(world->blocks).replaced, 0);
    assert_int_equal(blocksizes_total(world->blocks).unknown, 0);
}

static void
test_what_does_not_fit(void **state)
{
    struct world *world = *state;
    struct block_call child = {.time_ns = 9, .address = 16, .process = 1,
                               .kind = FN_FREE};

    call(world, 0, FN_FREE, 16, 0);
    assert_int_equal(blocksizes_total(world->blocks).unknown, 1);
    call(world, 1, FN_MALLOC, 16, 10);
    call(world, 2, FN_MALLOC, 16, 20); /* its free was lost */
    expect(world, 10, 1, 0, 1);
    expect(world, 20, 1, 1, 1);
    assert_int_equal(blocksizes_total(world->blocks).replaced, 1);
    call(world, 1, FN_MALLOC, 32, 10); /* time does not go back */
    assert_int_equal(blocksizes_total(world->blocks).end, 2);
    assert_true(blocksizes_call(world->blocks, &child)); /* the address is another
                                                            process's */
    assert_int_equal(blocksizes_total(world->blocks).unknown, 2);
    expect(world, 20, 1, 1, 1);
    call(world, 10, 200, 16, 10); /* no such call */
    assert_int_equal(blocksizes_total(world->blocks).allocations, 3);
    blocksizes_forget(world->blocks, 0, 12);
    assert_int_equal(blocksizes_total(world->blocks).live_blocks, 0);
    assert_int_equal(blocksizes_total(world->blocks).live_bytes, 0);
}

/* Random calls, compared with a simple model. */
static void
test_against_model(void **state)
{
    enum { ADDRESSES = 500, SIZES = 7 };
    static int of[ADDRESSES]; /* index of the size + 1 */
    static uint64_t live[SIZES], peak[SIZES], made[SIZES], spent[SIZES][ADDRESSES + 1];
    struct world *world = *state;
    uint64_t time = 0;
    uint32_t seed = 3;

    world->counts.kind = COUNTS_LINEAR;
    world->counts.factor = 1;
    blocksizes_free(world->blocks);
    world->blocks = blocksizes_new(&world->counts, 1);
    for (int i = 0; i < 100000; i++) {
        seed = seed * 1103515245 + 12345;
        unsigned address = (seed >> 8) % ADDRESSES, size = (seed >> 20) % SIZES;
        unsigned step = seed >> 30;

        for (unsigned s = 0; s < SIZES; s++)
            spent[s][live[s]] += step;
        time += step;
        if (of[address] != 0) {
            live[of[address] - 1]--;
            of[address] = 0;
            call(world, time, FN_FREE, address, 0);
        } else {
            of[address] = (int)size + 1;
            made[size]++;
            if (++live[size] > peak[size])
                peak[size] = live[size];
            call(world, time, FN_MALLOC, address, size * 100);
        }
    }
    for (unsigned s = 0; s < SIZES; s++) {
        expect(world, s * 100, made[s], live[s], peak[s]);
        for (uint32_t level = 1; level <= ADDRESSES; level++)
            assert_int_equal(blocksize_spent(of_size(world, s * 100), level, time),
                             spent[s][level]);
    }
}

struct seen {
    unsigned count;
    uint64_t times[8], before[8], after[8];
};

static void
see(void *context, uint32_t place, uint64_t time, uint64_t before, uint64_t after)
{
    struct seen *seen = context;

    assert_int_equal(place, 0);
    seen->times[seen->count] = time;
    seen->before[seen->count] = before;
    seen->after[seen->count++] = after;
}

static void
test_watch_in_ticks(void **state)
{
    struct world *world = *state;
    struct seen seen = {0};

    blocksizes_free(world->blocks);
    world->blocks = blocksizes_new(&world->counts, 1000000);
    blocksizes_set_watch(world->blocks, see, &seen);
    call(world, 1999999, FN_MALLOC, 16, 10);
    call(world, 5000000, FN_FREE, 16, 0);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.times[0], 1);
    assert_int_equal(seen.times[1], 5);
    assert_int_equal(seen.after[0], 1);
    assert_int_equal(seen.before[1], 1);
    assert_int_equal(seen.after[1], 0);
    assert_int_equal(blocksize_spent(of_size(world, 10), 1, 5), 4);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map_against_array),
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_interval_bounds),
        cmocka_unit_test_setup_teardown(test_counts_exactly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_time_in_intervals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_realloc_calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_realloc_among_threads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_does_not_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_against_model, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_watch_in_ticks, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
