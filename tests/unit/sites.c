/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading sampled allocations: valid data comes out, invalid data does no harm; and the
   arithmetic of sampling. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "scratch-segment.h"
#include "segment/rate.h"
#include "segment/sampling.h"
#include "segment/sites.h"

#define CREATED UINT64_C(1000)

static struct reader *reader;
static struct sites_reading reading;

static unsigned char *
part(uint64_t at)
{
    return scratch + scratch_header()->sites_offset + at;
}

static struct sites_head *
head(void)
{
    return (void *)part(0);
}

static struct site_record *
record(unsigned index)
{
    return (struct site_record *)(void *)part(SITES_RECORDS_AT) + index;
}

static struct block_record *
block(unsigned index)
{
    return (struct block_record *)(void *)part(SITES_BLOCKS_AT) + index;
}

static struct sites_module *
module(unsigned index)
{
    return (struct sites_module *)(void *)part(SITES_MODULES_AT) + index;
}

static uint64_t *
pool(void)
{
    return (void *)part(SITES_POOL_AT);
}

static void
write_stack(uint32_t id, unsigned depth)
{
    pool()[id] = UINT64_C(0xabcdef00) | depth;
    for (unsigned i = 0; i < depth; i++)
        pool()[id + 1 + i] = 0x1000 * (i + 1);
}

static struct site_sums
sums(uint64_t blocks, double bytes, double objects)
{
    return (struct site_sums){
        .blocks = blocks,
        .samples = blocks * 2,
        .bytes = (uint64_t)(bytes * SITES_BYTES_ONE),
        .objects = (uint64_t)(objects * SITES_OBJECTS_ONE),
        .squares = (uint64_t)(objects * 2 * SITES_SQUARES_ONE),
    };
}

/* One stack with one site of 64 bytes; one of its three blocks is live. */
static int
set_up(void **state)
{
    (void)state;
    scratch_open_with(0, true);
    scratch_header()->created_ns = CREATED;
    scratch_header()->sites_state = SITES_READY;
    head()->rate = 0.5;
    head()->depth = 24;
    head()->unwinder = UNWIND_GLIBC;
    head()->pool_used = 1 + 4;
    head()->sites_used = 2;
    head()->blocks_used = 2;
    head()->sampled = 3;
    write_stack(1, 3);
    record(0)->key = site_key(0, SITE_ANY_SIZE);
    record(1)->key = site_key(1, histogram_coarse(64));
    record(1)->made = sums(3, 300, 6);
    record(1)->live = sums(1, 100, 2);
    record(1)->freed[0] = sums(1, 100, 2);
    record(1)->freed[7] = sums(1, 100, 2);
    record(1)->first_ns = CREATED + 5;
    record(1)->last_ns = CREATED + 9;
    *block(1) = (struct block_record){.address = 0x5000, .size = 64,
                                      .born_ns = CREATED + 9, .weight = 1.5,
                                      .samples = 2, .site = 1, .thread = 7};
    assert_int_equal(0, reader_open(scratch_path, getuid(), geteuid(), &reader));
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    sites_free(&reading);
    reader_close(reader);
    scratch_close();
    return 0;
}

static void
test_without(void **state)
{
    (void)state;
    scratch_open();
    assert_int_equal(0, reader_open(scratch_path, getuid(), geteuid(), &reader));
    assert_int_equal(-ENODATA, sites_read(reader, &reading));
    reader_close(reader);
    scratch_close();
}

static void
test_not_sampling(void **state)
{
    (void)state;
    for (uint32_t wrong = 0; wrong < 9; wrong++) {
        scratch_header()->sites_state = wrong;
        assert_int_equal(wrong <= SITES_CUT_OFF ? wrong : SITES_OFF, sites_state(reader));
        assert_int_equal(wrong == SITES_READY || wrong == SITES_WAITING ? 0 : -ENODATA,
                         sites_read(reader, &reading));
        assert_int_equal(wrong == SITES_READY ? 2 : 0, reading.site_count);
        sites_free(&reading);
    }
}

static void
test_reading(void **state)
{
    const uint64_t *pcs;
    unsigned depth;

    (void)state;
    assert_int_equal(0, sites_read(reader, &reading));
    assert_true(reading.rate == 0.5);
    assert_int_equal(24, reading.depth);
    assert_int_equal(UNWIND_GLIBC, reading.unwinder);
    assert_int_equal(2, reading.site_count);
    assert_int_equal(SITE_ANY_SIZE, reading.sites[0].bucket);
    assert_int_equal(histogram_coarse(64), reading.sites[1].bucket);
    assert_int_equal(5, reading.sites[1].first_ns);
    assert_int_equal(9, reading.sites[1].last_ns);
    assert_true(reading.sites[1].made.bytes == 300);
    assert_true(reading.sites[1].freed.bytes == 200);
    assert_true(reading.sites[1].freed.objects == 4);
    assert_true(reading.sites[1].freed_after[7].bytes == 100);
    assert_true(reading.sites[1].live.bytes == 100);
    assert_true(reading.sites[1].live.squares == 4);
    assert_int_equal(1, reading.sites[1].live.blocks);
    assert_true(reading.blocks[0].weight == 1.5);
    assert_int_equal(2, reading.sites[1].live.samples);
    assert_int_equal(1, reading.block_count);
    assert_int_equal(0x5000, reading.blocks[0].address);
    assert_int_equal(9, reading.blocks[0].born_ns);
    pcs = sites_stack(&reading, reading.sites[1].stack, &depth);
    assert_non_null(pcs);
    assert_int_equal(3, depth);
    assert_int_equal(0x3000, pcs[2]);
    assert_null(sites_stack(&reading, 0, &depth));
    assert_int_equal(0, depth);
}

/* Live at the peak: the copy made then if the site has changed since, otherwise what is
   live. */
static void
test_peak(void **state)
{
    (void)state;
    head()->peak_epoch = 4;
    record(1)->at_peak = sums(2, 200, 4);
    record(1)->peak_epoch = 3;
    assert_int_equal(0, sites_read(reader, &reading));
    assert_true(reading.sites[1].at_peak.bytes == 100);
    record(1)->peak_epoch = 4;
    assert_int_equal(0, sites_read(reader, &reading));
    assert_true(reading.sites[1].at_peak.bytes == 200);
}

/* What a child had from the start, and what was forgotten asleep, is not freed. */
static void
test_inherited_forgotten(void **state)
{
    (void)state;
    record(1)->inherited = sums(5, 500, 10);
    record(1)->forgotten = sums(2, 250, 4);
    record(1)->live = sums(4, 350, 8);
    assert_int_equal(0, sites_read(reader, &reading));
    assert_true(reading.sites[1].made.bytes == 300);
    assert_true(reading.sites[1].live.bytes == 350);
    assert_int_equal(4, reading.sites[1].live.blocks);
    assert_true(reading.sites[1].freed.bytes == 200);
    assert_int_equal(2, reading.sites[1].freed.blocks);
}

/* Samples that were thinned: those that stayed stand for more than was made, or less. */
static void
test_thinned(void **state)
{
    (void)state;
    record(1)->live = sums(2, 400, 8);
    assert_int_equal(0, sites_read(reader, &reading));
    assert_true(reading.sites[1].live.bytes == 400);
    assert_true(reading.sites[1].freed.bytes == 0);
}

/* More freed than allocated: nothing is negative. */
static void
test_nothing_negative(void **state)
{
    (void)state;
    memset(&record(1)->live, 0xff, sizeof record(1)->live);
    memset(&record(1)->freed[3], 0xff, sizeof record(1)->freed[3]);
    head()->live_bytes = (uint64_t)-5;
    assert_int_equal(0, sites_read(reader, &reading));
    assert_true(reading.sites[1].live.bytes == 0);
    assert_int_equal(0, reading.sites[1].live.blocks);
    assert_true(reading.live_bytes == 0);
}

/* Wrong stacks, sites and counts. */
static void
test_lies(void **state)
{
    unsigned depth;

    (void)state;
    record(1)->key = site_key(4, 9999);
    pool()[4] = 64; /* reaches beyond the end of the pool */
    block(0)->address = 0x7000;
    block(0)->site = 2; /* does not exist */
    block(1)->function = 99;
    head()->rate = NAN;
    head()->depth = head()->unwinder = UINT32_MAX;
    assert_int_equal(0, sites_read(reader, &reading));
    assert_int_equal(0, reading.sites[1].stack);
    assert_int_equal(SITE_ANY_SIZE, reading.sites[1].bucket);
    assert_int_equal(1, reading.block_count);
    assert_in_range(reading.blocks[0].function, 0, FN_COUNT - 1);
    assert_true(reading.rate == 0);
    assert_int_equal(SITES_DEPTH_MAX, reading.depth);
    assert_int_equal(UNWIND_NONE, reading.unwinder);
    for (uint32_t id = 0; id < 10; id++)
        assert_true((sites_stack(&reading, id, &depth) != NULL) == (id == 1));
    assert_null(sites_stack(&reading, UINT32_MAX, &depth));
    /* blocks_used not: they would take 800 MB */
    head()->sites_used = head()->modules_used = UINT32_MAX;
    head()->pool_used = UINT32_MAX;
    assert_int_equal(0, sites_read(reader, &reading));
    /* some that are not there might have been swapped out */
    assert_in_range(reading.site_count, 2, SITES_RECORDS / 2);
    assert_in_range(reading.pool_count, 10, SITES_POOL_WORDS / 2);
    assert_int_equal(0, reading.module_count);
}

/* A stack that was reserved, but not yet written when the pool was copied first. */
static void
test_late_stack(void **state)
{
    unsigned depth;

    (void)state;
    head()->pool_used = 10;
    assert_int_equal(0, sites_read(reader, &reading));
    assert_null(sites_stack(&reading, 5, &depth));
    write_stack(5, 2);
    record(2)->key = site_key(5, 1);
    head()->sites_used = 3;
    assert_int_equal(0, sites_read(reader, &reading));
    assert_int_equal(5, reading.sites[2].stack);
    assert_non_null(sites_stack(&reading, 5, &depth));
    assert_int_equal(2, depth);
}

static void
enter_module(unsigned index, uint64_t start, uint64_t seen, const char *path)
{
    *module(index) = (struct sites_module){.start = start, .end = start + 0x1000,
                                           .seen_ns = CREATED + seen, .ready = 1,
                                           .build_id_size = 99};
    memset(module(index)->path, 'x', SITE_PATH_LEN); /* without a NUL */
    memcpy(module(index)->path, path, strlen(path));
}

/* The module that was loaded when the stack was recorded. */
static void
test_modules(void **state)
{
    (void)state;
    enter_module(0, 0x10000, 3, "first");
    enter_module(1, 0x10000, 7, "second");
    enter_module(2, 0x20000, 1, "other");
    enter_module(3, 0x30000, 1, "begun");
    module(3)->ready = 0;
    head()->modules_used = 4;
    assert_int_equal(0, sites_read(reader, &reading));
    assert_int_equal(3, reading.module_count);
    assert_int_equal(SITE_PATH_LEN, strlen(reading.modules[0].path));
    assert_int_equal(SITE_BUILD_ID_LEN, reading.modules[0].build_id_size);
    assert_ptr_equal(&reading.modules[0], sites_module(&reading, 0x10fff, 5));
    assert_ptr_equal(&reading.modules[1], sites_module(&reading, 0x10000, 7));
    assert_ptr_equal(&reading.modules[0], sites_module(&reading, 0x10000, 0));
    assert_ptr_equal(&reading.modules[2], sites_module(&reading, 0x20000, 5));
    assert_null(sites_module(&reading, 0x11000, 5));
}

static void
test_cut_short(void **state)
{
    (void)state;
    assert_int_equal(0, sites_read(reader, &reading));
    assert_int_equal(0, truncate(scratch_path, SHARDS_OFFSET));
    assert_int_equal(-EMSGSIZE, sites_read(reader, &reading));
    assert_int_equal(2, reading.site_count);
}

/* ---- arithmetic ---- */

static void
assert_close(double expected, double found)
{
    assert_true(fabs(found - expected) <= 1e-12 * fabs(expected));
}

static void
test_arithmetic(void **state)
{
    (void)state;
    for (double x = 1e-18; x < 1e18; x *= 1.37)
        assert_true(fabs(sampling_log(x) - log(x)) < 1e-13 * fmax(1, fabs(log(x))));
    for (double rate = 1e-9; rate < 1; rate *= 1.07)
        assert_close(-log1p(-rate), sampling_decay(rate));
    for (double x = 1e-12; x < 100; x *= 1.07)
        assert_close(-expm1(-x), sampling_chance(x));
    assert_true(sites_weight(1, 0) == 1);
    assert_close(2, sites_weight(0.5, 0));                     /* one word */
    assert_close(1 / (1 - 0.25), sites_weight(0.5, 8));        /* two */
    assert_close(1 / (1 - pow(0.9, 9)), sites_weight(0.1, 57)); /* nine */
    assert_close(1, sites_weight(0.1, UINT64_C(1) << 46));
    assert_int_equal(8, sampling_span(0));
    assert_int_equal(16, sampling_span(1));
    assert_int_equal(16, sampling_span(8));
    assert_int_equal(24, sampling_span(9));
}

static double
rate_of(const char *text)
{
    double rate = -1;

    return sampling_rate_parse(text, strlen(text), &rate) ? rate : -1;
}

static void
test_rates(void **state)
{
    static const char *const wrong[] = {"",    ".",     "0",    "0.0",  "1e",    "1e4",
                                        "1e-", "1e-99", "-1",   "+1",   "512KB", "K",
                                        "1,5", "nan",   "1e-4x", "1 ", "1e16"};

    (void)state;
    assert_close(1e-4, rate_of("1e-4"));
    assert_close(1e-4, rate_of("0.0001"));
    assert_close(2.5e-3, rate_of("2.5E-03"));
    assert_close(0.5, rate_of(".5"));
    assert_close(1, rate_of("1"));
    assert_close(8.0 / (1 << 19), rate_of("512K"));
    assert_close(8.0 / (1 << 19), rate_of("524288"));
    assert_close(8.0 / (1 << 21), rate_of("2m"));
    assert_close(8.0 / (1 << 29), rate_of("0.5G"));
    assert_close(1, rate_of("8"));
    assert_close(1, rate_of("2"));      /* not more than everything */
    assert_close(1, rate_of("0.001K"));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_true(rate_of(wrong[i]) == -1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without),
        cmocka_unit_test_setup_teardown(test_not_sampling, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reading, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_peak, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_inherited_forgotten, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_thinned, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_negative, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_late_stack, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_modules, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cut_short, set_up, tear_down),
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_rates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
