/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process that has gone mad or was compromised: it writes random words all over its
 * segment, header included, while all readers of segments read it.  Their results must
 * keep what the headers promise, and arrive: the test ends within seconds.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/statvfs.h>
#include <cmocka.h>

#include "scratch-segment.h"
#include "segment/control.h"
#include "segment/drain.h"
#include "segment/sites.h"

#define CAPACITY RING_CAPACITY_MIN
#define ROUNDS      150
#define SITES_EVERY 10       /* rounds, because their tables are large */
#define WORDS       1000000u /* words written during a round */
#define REPAIRED    4096u    /* after so many, some words are repaired */

/* Most machines need seconds; a run this long hangs. */
#define HANGS_SECONDS 300

static bool stop;
static unsigned written;

enum hostile_reading { IDENTITY, COUNTERS, RECORDER, SITES, DRAIN, CONTROL, READINGS };
static unsigned good[READINGS]; /* readings that succeeded */
static bool header_too;

static uint64_t
next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Values with a meaning somewhere, and others. */
static uint64_t
any_value(uint64_t *seed, uint64_t before)
{
    uint64_t number = next_random(seed);

    switch (number >> 60) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX;
    case 2:
        return UINT64_C(1) << (number % 64);
    case 3:
        return before + 1;
    case 4:
        return before - 1;
    case 5:
        return before ^ (UINT64_C(1) << (number % 64));
    case 6:
        return number % 4;
    case 7:
        return number % scratch_size;
    case 8:
        return number % SHARD_COUNT | (number >> 20) % SHARD_COUNT << 32;
    case 9:
        return (uint64_t)INT64_MAX + number % 3;
    default:
        return number;
    }
}

/* Half of the places are where words are repaired. */
static size_t
any_place(uint64_t *seed)
{
    const size_t sites = segment_rings_end(CAPACITY);
    const struct {
        size_t offset, size;
    } places[] = {
        {PROCESS_OFFSET, SHARDS_OFFSET + 2 * SHARD_SIZE - PROCESS_OFFSET},
        {RINGS_OFFSET, 2 * sizeof(struct ring)},
        {EVENTS_OFFSET, 2 * CAPACITY * sizeof(struct event)},
        {sites, SITES_MODULES_AT + 2048},
        {sites + SITES_POOL_AT, 4096},
        {sites + SITES_RECORDS_AT, 4096},
        {sites + SITES_BLOCKS_AT, 4096},
    };
    uint64_t number = next_random(seed), where = next_random(seed);
    size_t from = header_too ? 0 : PROCESS_OFFSET;

    if (header_too && number % 64 == 1)
        return where % sizeof(struct segment_header) & ~UINT64_C(7);
    if (number % 2 == 0)
        return (from + where % (scratch_size - from)) & ~UINT64_C(7);
    number = number / 2 % (sizeof places / sizeof *places);
    return (places[number].offset + where % places[number].size) & ~UINT64_C(7);
}

/* Without this, nothing would pass the first checks any more. */
static void
repair(void)
{
    struct segment_header *header = scratch_header();
    struct sites_head *sites = (void *)(scratch + segment_rings_end(CAPACITY));

    segment_header_init(header, CAPACITY, true);
    header->sites_state = SITES_READY;
    madvise(scratch + segment_rings_end(CAPACITY), SITES_SIZE, MADV_REMOVE);
    __atomic_store_n(&header->flags, SEGMENT_FLAG_DORMANT, __ATOMIC_RELAXED);
    __atomic_store_n(&header->state, SEGMENT_ACTIVE, __ATOMIC_RELAXED);
    sites->rate = 0.5;
    __atomic_store_n(&sites->sites_used, 100, __ATOMIC_RELAXED);
}

static void *
scribble(void *unused)
{
    uint64_t seed = 88172645463325252u;

    (void)unused;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        uint64_t *word = (void *)(scratch + any_place(&seed));
        uint64_t before = __atomic_load_n(word, __ATOMIC_RELAXED);

        __atomic_store_n(word, any_value(&seed, before), __ATOMIC_RELAXED);
        if (__atomic_add_fetch(&written, 1, __ATOMIC_RELAXED) % REPAIRED == 0)
            repair();
    }
    return NULL;
}

/* ---- the readers ---- */

static bool
is_error(int result)
{
    return result == 0 || result == -EMSGSIZE || result == -EPROTO || result == -ENODATA;
}

static void
check_identity(struct reader *reader)
{
    struct identity identity;
    enum segment_state state;

    assert_true(is_error(reader_state(reader, &state)));
    if (reader_identity(reader, &identity) != 0)
        return;
    good[IDENTITY]++;
    assert_true(identity.args_size <= SEGMENT_ARGS_LEN);
    assert_true(identity.args_size == 0 || identity.args[identity.args_size - 1] == '\0');
    assert_non_null(memchr(identity.program, '\0', sizeof identity.program));
    assert_non_null(memchr(identity.options, '\0', sizeof identity.options));
    assert_non_null(memchr(identity.allocator, '\0', sizeof identity.allocator));
    segment_reason_text(identity.reason);
}

static void
check_counters(struct reader *reader)
{
    static struct histogram histogram;
    static struct thread_counters threads[SHARD_COUNT];
    struct snapshot snapshot;
    uint64_t life_ns;
    size_t count;

    if (reader_snapshot(reader, &snapshot) == 0) {
        good[COUNTERS]++;
        assert_true(snapshot.peak_bytes >= snapshot.live_bytes);
        assert_true(snapshot.torn <= SHARD_COUNT);
    }
    assert_true(is_error(reader_histogram(reader, &histogram)));
    if (reader_threads(reader, threads, SHARD_COUNT, &count) == 0)
        assert_true(count <= SHARD_COUNT);
    assert_true(is_error(reader_life(reader, &life_ns)));
}

static void
check_recorder(struct reader *reader)
{
    struct recorded recent[64], *slots = NULL;
    size_t count = 0;

    if (reader_recorded(reader, &slots, &count) == 0)
        for (size_t i = 0; i < count; i++) {
            good[RECORDER]++;
            assert_true(slots[i].begin_ns < slots[i].end_ns);
            assert_true(i == 0 || slots[i - 1].end_ns <= slots[i].begin_ns);
        }
    free(slots);
    if (reader_recent(reader, 0, UINT64_MAX, recent, 64, &count) == 0)
        assert_true(count <= 64);
}

static void
check_sites(struct reader *reader, struct sites_reading *reading)
{
    if (sites_read(reader, reading) != 0)
        return;
    good[SITES]++;
    for (size_t i = 0; i < reading->site_count; i++) {
        const struct site *site = &reading->sites[i];
        unsigned depth;
        const uint64_t *pcs = sites_stack(reading, site->stack, &depth);

        assert_true(depth <= SITES_DEPTH_MAX);
        for (unsigned frame = 0; frame < depth; frame++)
            (void)*(volatile const uint64_t *)&pcs[frame]; /* must be readable */
        assert_true(isfinite(site->live.bytes) && site->live.bytes >= 0);
        assert_true(isfinite(site->made.objects) && site->made.objects >= 0);
    }
    for (size_t i = 0; i < reading->block_count; i++) {
        assert_true(reading->blocks[i].site < reading->site_count);
        assert_true(reading->blocks[i].function < FN_COUNT);
    }
    for (size_t i = 0; i < reading->module_count; i++)
        assert_non_null(memchr(reading->modules[i].path, '\0', SITE_PATH_LEN + 1));
}

static void
take(void *context, const struct drained *events, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++)
        assert_true(events[i].ring < SHARD_COUNT);
}

static void
check_drain(void)
{
    struct drain_image image;
    struct drain *drain;

    if (drain_open(scratch_path, getuid(), geteuid(), &drain) != 0)
        return;
    drain_image(drain, &image);
    good[DRAIN]++;
    assert_true(image.args_size <= sizeof image.args);
    for (int i = 0; i < 3; i++)
        drain_round(drain, i == 2, take, NULL);
    drain_lost(drain);
    drain_close(drain);
}

static void
check_control(void)
{
    struct control *control;

    if (control_open(scratch_path, getuid(), geteuid(), &control) != 0)
        return;
    control_wake(control, 1000);
    good[CONTROL]++;
    control_close(control);
}

/* Reads with a mapping that is kept, as viewers do, and with a new one. */
static void
read_all(struct reader *kept, struct sites_reading *reading, bool sites)
{
    struct sites_reading fresh = {0};
    struct reader *reader;

    check_identity(kept);
    check_counters(kept);
    check_recorder(kept);
    if (sites)
        check_sites(kept, reading);
    if (reader_open(scratch_path, getuid(), geteuid(), &reader) == 0) {
        check_identity(reader);
        check_counters(reader);
        check_recorder(reader);
        if (sites)
            check_sites(reader, &fresh);
        sites_free(&fresh);
        reader_close(reader);
    }
    check_drain();
    check_control();
}

/* Has every kind of reading succeeded?  How soon depends on the scheduler. */
static bool
all_good(void)
{
    for (int i = 0; i < READINGS; i++)
        if (good[i] == 0)
            return false;
    return true;
}

static bool
is_room(void)
{
    struct statvfs fs;

    return statvfs("/dev/shm", &fs) == 0 && fs.f_bavail * fs.f_frsize > 4 * scratch_size;
}

static void
run_against(bool with_header)
{
    struct sites_reading reading = {0};
    struct reader *reader;
    pthread_t scribbler;

    scratch_open_with(CAPACITY, true);
    if (!is_room()) {
        scratch_close();
        skip();
    }
    stop = false;
    written = 0;
    memset(good, 0, sizeof good);
    header_too = with_header;
    repair();
    assert_int_equal(0, reader_open(scratch_path, getuid(), geteuid(), &reader));
    assert_int_equal(0, pthread_create(&scribbler, NULL, scribble, NULL));
    for (unsigned i = 0;
         i < ROUNDS || __atomic_load_n(&written, __ATOMIC_RELAXED) < WORDS || !all_good();
         i++)
        read_all(reader, &reading, i % SITES_EVERY == 0);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(scribbler, NULL);
    repair();
    read_all(reader, &reading, true); /* what is left */
    sites_free(&reading);
    reader_close(reader);
    scratch_close();
}

static void
test_tables(void **state)
{
    (void)state;
    run_against(false);
}

static void
test_header_too(void **state)
{
    (void)state;
    run_against(true);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_header_too),
    };

    alarm(HANGS_SECONDS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
