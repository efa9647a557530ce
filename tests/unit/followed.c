/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records of followed blocks on the host: tables that grow, samples that are thinned when
 * they have reached their limit, and a dormant process that forgets all of them while a
 * call from an earlier awake period is just taking one (ld --wrap).
 */
#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hosted-library.h"
#include "preload/options.h"
#include "preload/real.h"
#include "preload/sites/budget.h"
#include "preload/sites/growing.h"
#include "preload/sites/sites.h"
#include "preload/table.h"
#include "segment/sites.h"

struct mt_real mt_real;

bool
mt_object_of(const void *address, struct mt_object *found)
{
    (void)address;
    (void)found;
    return false;
}

#define MANY 300000u

static bool forget_then;

void __real_mt_table_release(struct mt_place place);
void __wrap_mt_table_release(struct mt_place place);

void
__wrap_mt_table_release(struct mt_place place)
{
    __real_mt_table_release(place);
    if (forget_then)
        mt_sites_forget();
    forget_then = false;
}

static unsigned
blocks_shown(void)
{
    const struct block_record *blocks =
        (const void *)(scratch + mt_segment.header->sites_offset + SITES_BLOCKS_AT);
    unsigned shown = 0;

    for (unsigned i = 0; i < 10; i++)
        shown += blocks[i].address != 0;
    return shown;
}

/* One table for all tests: a process has no more either. */
static void
start(double rate)
{
    static bool open;

    if (!open)
        host_segment_with_sites();
    open = true;
    growing_start_limit(UINT64_C(1) << 40);
    mt_options.sites_memory = UINT64_C(1) << 30;
    budget_start(rate);
    assert_true(mt_sites_ready());
    assert_int_equal(SITES_READY, mt_segment.header->sites_state);
}

static void
read_sites(struct sites_reading *reading)
{
    struct reader *reader;

    assert_int_equal(0, reader_open(scratch_path, getuid(), geteuid(), &reader));
    assert_int_equal(0, sites_read(reader, reading));
    reader_close(reader);
}

static const void *
address_of(size_t number)
{
    return (const void *)(UINT64_C(0x10000) + number * 64);
}

static void
test_forgotten_while_taken(void **state)
{
    const struct mt_followed followed = {.size = 8, .samples = 1, .weight = 1};
    struct mt_followed taken;
    static char blocks[4];

    (void)state;
    start(1);
    assert_true(mt_sites_made(&blocks[0], &followed, NULL, 0, false));
    forget_then = true;
    assert_false(mt_sites_take(&blocks[0], &taken));
    assert_int_equal(0, blocks_shown());
    for (unsigned i = 0; i < 4; i++)
        assert_true(mt_sites_made(&blocks[i], &followed, NULL, 0, false));
    assert_int_equal(4, blocks_shown());
    for (unsigned i = 0; i < 4; i++) {
        assert_true(mt_sites_take(&blocks[i], &taken));
        mt_sites_gone(&taken, 0);
    }
    assert_int_equal(0, blocks_shown());
}

static struct site_figures
all_live(const struct sites_reading *reading)
{
    struct site_figures sum = {.bytes = 0};

    for (size_t i = 0; i < reading->site_count; i++) {
        sum.bytes += reading->sites[i].live.bytes;
        sum.objects += reading->sites[i].live.objects;
        sum.squares += reading->sites[i].live.squares;
        sum.blocks += reading->sites[i].live.blocks;
    }
    return sum;
}

/* The library's rate: it is halved, the samples are thinned, none is lost, and the sums
   stay those of all blocks. */
static void
test_thinning(void **state)
{
    struct mt_followed followed = {.size = 16, .samples = 1, .weight = 1};
    struct sites_reading reading = {.rate = 0};
    uint64_t random = 42, objects = 0;
    struct mt_followed taken;
    struct site_figures live;
    double error;

    (void)state;
    start(0);
    mt_options.sites_memory = 512 << 10;
    for (uint64_t now = 1; budget_step() > 0; now += 1000000000)
        budget_look(now, budget_step());
    for (size_t i = 0; objects < 8 * MANY; i++, objects++) {
        double weight = mt_sites_weight(budget_step(), 16);

        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        if ((double)(random >> 11) * 0x1p-53 * weight >= 1)
            continue; /* not sampled */
        followed.weight = weight;
        assert_true(mt_sites_made(address_of(i), &followed, NULL, 0, false));
    }
    read_sites(&reading);
    live = all_live(&reading);
    assert_true(live.blocks > 1000 && reading.thinned > 1000);
    assert_int_equal(0, reading.lost.blocks);
    assert_int_equal(live.blocks, reading.block_count);
    error = sqrt(live.squares - live.objects);
    print_message("%g objects, estimated %g, standard error %g, %g thinned\n",
                  (double)objects, live.objects, error, (double)reading.thinned);
    assert_true(fabs(live.objects - (double)objects) < 5 * error);
    for (size_t i = 0; i < objects; i++)
        if (mt_sites_take(address_of(i), &taken))
            mt_sites_gone(&taken, 0);
    read_sites(&reading);
    assert_int_equal(0, reading.block_count);
    assert_int_equal(0, all_live(&reading).blocks);
    assert_true(all_live(&reading).bytes == 0 && reading.live_bytes == 0);
    sites_free(&reading);
}

/* Many stacks, sites and blocks: nothing is lost, and everything can be read. */
static void
test_growing(void **state)
{
    struct mt_followed followed = {.samples = 1, .weight = 1};
    struct sites_reading reading = {.rate = 0};
    struct mt_followed taken;
    unsigned depth;

    (void)state;
    start(1);
    for (size_t i = 0; i < MANY; i++) {
        const void *frames[] = {(const void *)(i % 50000 + 1), (const void *)7};

        followed.size = i % 100;
        assert_true(mt_sites_made(address_of(i), &followed, frames, 2, true));
    }
    read_sites(&reading);
    assert_int_equal(MANY, reading.block_count);
    assert_int_equal(MANY, all_live(&reading).blocks);
    assert_int_equal(0, reading.lost.stacks + reading.lost.sites + reading.lost.blocks);
    for (size_t i = 1; i < reading.site_count; i++)
        if (reading.sites[i].made.blocks > 0 && reading.sites[i].stack != 0) {
            assert_int_equal(7, sites_stack(&reading, reading.sites[i].stack, &depth)[1]);
            assert_int_equal(2, depth);
        }
    for (size_t i = 0; i < MANY; i++) {
        assert_true(mt_sites_take(address_of(i), &taken));
        mt_sites_gone(&taken, 0);
    }
    read_sites(&reading);
    assert_true(all_live(&reading).bytes == 0 && all_live(&reading).objects == 0);
    assert_true(reading.live_bytes == 0);
    sites_free(&reading);
}

/* The user's rate: what finds no space is lost, and that is said. */
static void
test_limit_given(void **state)
{
    const struct mt_followed followed = {.size = 16, .samples = 1, .weight = 1};
    struct sites_reading reading = {.rate = 0};
    struct mt_followed taken;
    size_t kept = 0;

    (void)state;
    start(1);
    mt_options.sites_memory = growing_memory();
    for (size_t i = 0; i < MANY * 2; i++)
        kept += mt_sites_made(address_of(i), &followed, NULL, 0, false);
    read_sites(&reading);
    assert_in_range(kept, MANY, MANY * 2 - 1);
    assert_int_equal(kept, all_live(&reading).blocks);
    assert_int_equal(MANY * 2 - kept, reading.lost.blocks);
    assert_true(reading.lost.bytes == (double)(MANY * 2 - kept) * 16);
    for (size_t i = 0; i < MANY * 2; i++)
        if (mt_sites_take(address_of(i), &taken))
            mt_sites_gone(&taken, 0);
    sites_free(&reading);
}

/* A signal handler that interrupts a walk forks, and the walk goes on in the child, which
   has no tables yet. */
static void
test_forked_while_walking(void **state)
{
    const struct mt_python_place place = {.line = 7, .name = "late", .file = "late.py"};

    (void)state;
    start(1);
    assert_int_not_equal(0, mt_sites_place(&place));
    mt_sites_forked();
    assert_int_equal(0, mt_sites_place(&place));
    scratch_close();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forgotten_while_taken),
        cmocka_unit_test(test_thinning),
        cmocka_unit_test(test_growing),
        cmocka_unit_test(test_limit_given),
        cmocka_unit_test(test_forked_while_walking),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
