/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The flight recorder over weeks of a simulated clock, read by the reader and compared
 * with a list of all slots.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "preload/recorder.h"
#include "preload/state.h"
#include "scratch-segment.h"
#include "segment/reader.h"

/* ---- what the recorder needs from the library ---- */

struct mt_segment mt_segment;
bool mt_sandboxed;
static size_t memory_left; /* for further slots, in bytes */

bool
mt_make_present(void *address, size_t size)
{
    if (size > memory_left)
        return false;
    memory_left -= size;
    for (size_t at = 0; at < size; at += SEGMENT_PAGE)
        ((volatile unsigned char *)address)[at] |= 0;
    return true;
}

bool
mt_present_later(void)
{
    return true;
}

__thread struct mt_thread mt_thread;

static uint64_t clock_ns;

uint64_t
mt_now_coarse(void)
{
    return clock_ns;
}

/* ---- all closed slots ---- */

#define MOST 4000000

static struct recorder_slot *closed;
static size_t closed_count;
static struct recorder_slot now_open;
static struct shard shard;
static uint64_t not_looked;

static uint64_t seed = 88172645463325252u;

static uint64_t
random_below(uint64_t limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % limit;
}

static int
set_up(void **state)
{
    (void)state;
    scratch_open();
    mt_segment.header = scratch_header();
    mt_segment.process = scratch_process();
    mt_segment.recorder = scratch + RECORDER_OFFSET;
    memory_left = SIZE_MAX;
    scratch_header()->created_ns = clock_ns = UINT64_C(123456789012345);
    mt_thread = (struct mt_thread){0};
    closed = malloc(MOST * sizeof *closed);
    closed_count = 0;
    now_open = (struct recorder_slot){.period = 1};
    shard.hot.calls[FN_MALLOC] = not_looked = 0;
    mt_recorder_start();
    mt_recorder_ready();
    return closed != NULL ? 0 : -1;
}

static int
tear_down(void **state)
{
    (void)state;
    free(closed);
    scratch_close();
    return 0;
}

/* After ns more, the program has made so many calls and has this heap and depth. */
static void
step(uint64_t ns, uint64_t calls, uint64_t heap, uint64_t depth)
{
    struct segment_process *process = mt_segment.process;
    uint64_t period;

    clock_ns += ns;
    shard.hot.calls[FN_MALLOC] += calls;
    not_looked += calls;
    process->current = (int64_t)heap;
    if (process->recorder_heap_max < heap)
        process->recorder_heap_max = heap;
    if (now_open.heap_max < heap)
        now_open.heap_max = heap;
    if (!mt_recorder_due(&shard))
        return;
    mt_recorder_look(&shard, depth);
    now_open.calls += not_looked;
    not_looked = 0;
    period = (clock_ns - scratch_header()->created_ns) / RECORDER_SLOT_NS + 1;
    if (period != now_open.period) {
        now_open.heap_last = heap;
        assert_true(closed_count < MOST);
        closed[closed_count++] = now_open;
        now_open = (struct recorder_slot){.period = period, .heap_max = heap};
    }
    if (now_open.stack_max < depth)
        now_open.stack_max = depth;
}

/* The sum of the closed slots from begin to end. */
static struct recorder_slot
model(uint64_t begin_ns, uint64_t end_ns)
{
    struct recorder_slot sum = {0};
    uint64_t first = begin_ns / RECORDER_SLOT_NS + 1, last = end_ns / RECORDER_SLOT_NS;
    size_t low = 0, high = closed_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (closed[middle].period < first)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < closed_count && closed[low].period <= last; low++) {
        sum.calls += closed[low].calls;
        sum.heap_last = closed[low].heap_last;
        if (sum.heap_max < closed[low].heap_max)
            sum.heap_max = closed[low].heap_max;
        if (sum.stack_max < closed[low].stack_max)
            sum.stack_max = closed[low].stack_max;
    }
    return sum;
}

/* Each slot agrees with the model, and none is missing, unless the recorder is short of
   memory.  Where levels meet a slot may be cut: so are its calls, but its maxima are
   still those of the whole slot. */
static void
check_recorded(bool complete)
{
    struct reader *reader;
    struct recorded *recorded;
    size_t count;
    uint64_t calls = 0, heap_max = 0, all_calls = 0, all_max = 0;
    unsigned cut = 0;

    assert_int_equal(0, reader_open(scratch_path, getuid(), geteuid(), &reader));
    assert_int_equal(0, reader_recorded(reader, &recorded, &count));
    reader_close(reader);
    for (size_t i = 0; i < count; i++) {
        struct recorder_slot sum = model(recorded[i].begin_ns, recorded[i].end_ns);
        assert_true(recorded[i].begin_ns < recorded[i].end_ns);
        assert_true(i == 0 || recorded[i].begin_ns >= recorded[i - 1].end_ns);
        assert_int_equal(sum.calls, recorded[i].calls);
        assert_true(recorded[i].heap_max >= sum.heap_max);
        assert_true(recorded[i].stack_max >= sum.stack_max);
        cut += sum.heap_max != recorded[i].heap_max
               || sum.heap_last != recorded[i].heap_last
               || sum.stack_max != recorded[i].stack_max;
        calls += recorded[i].calls;
        heap_max = heap_max < recorded[i].heap_max ? recorded[i].heap_max : heap_max;
    }
    assert_in_range(cut, 0, RECORDER_LEVELS - 1);
    for (size_t i = 0; i < closed_count; i++) {
        all_calls += closed[i].calls;
        all_max = all_max < closed[i].heap_max ? closed[i].heap_max : all_max;
    }
    if (complete) {
        assert_int_equal(all_max, heap_max);
        assert_int_equal(all_calls, calls);
    }
    free(recorded);
}

static void
check(void)
{
    check_recorded(true);
}

/* ---- runs ---- */

#define MS UINT64_C(1000000)
#define HOUR (3600 * 1000 * MS)

static void
test_first_seconds(void **state)
{
    (void)state;
    check();
    for (int i = 0; i < 1000; i++) {
        step(4 * MS, 100, 1000 + random_below(100), 500 + random_below(100));
        check();
    }
    assert_in_range(closed_count, 25, 30);
}

/* Three weeks of a server, with nights when nothing happens. */
static void
test_weeks(void **state)
{
    uint64_t end = clock_ns + 21 * 24 * HOUR, next_check = 0;

    (void)state;
    step(10 * MS, 7, 77777777, 9999); /* the highest peak, in the first slot */
    while (clock_ns < end) {
        uint64_t pause = random_below(20) == 0 ? random_below(60000) : random_below(1000);
        if (random_below(20000) == 0)
            pause = 8 * HOUR / MS;
        step(pause * MS, 1 + random_below(5000), random_below(1000000),
             random_below(8000));
        if (closed_count >= next_check) {
            check();
            next_check = closed_count + closed_count / 4 + 100;
        }
    }
    check();
    assert_true(closed_count > 100000);
}

/* The blocks of the file do not become more by being read. */
static void
check_untouched(bool complete)
{
    struct stat before, after;

    assert_int_equal(0, stat(scratch_path, &before));
    check_recorded(complete);
    assert_int_equal(0, stat(scratch_path, &after));
    assert_int_equal(before.st_blocks, after.st_blocks);
}

/* Each level gets memory when the one below it is full, and not before. */
static void
test_grows(void **state)
{
    static const uint64_t begins[RECORDER_LEVELS] = {0, 512, 1024, 2048, 4096, 8192};
    const uint32_t *reach = mt_segment.process->recorder_reach;

    (void)state;
    while (closed_count < 9000) {
        step(RECORDER_SLOT_NS, 5, random_below(1000000), 100);
        assert_int_equal(closed_count <= RECORDER_PAGE_SLOTS ? RECORDER_PAGE_SLOTS
                                                             : RECORDER_SLOTS,
                         reach[0]);
        for (unsigned level = 1; level < RECORDER_LEVELS; level++)
            if (closed_count <= begins[level])
                assert_int_equal(0, reach[level]);
            else if (closed_count > begins[level] + (UINT64_C(2) << level))
                assert_int_equal(RECORDER_SLOTS, reach[level]);
        if (closed_count % 250 == 0)
            check_untouched(true);
    }
}

/* With memory for some pages only, or in a sandbox, what is kept is right, and the pages
   that are not there are not touched. */
static void
test_little_memory(void **state)
{
    static const size_t pages[] = {0, 1, 4, 5, 6, 7, 9, 10, 12};

    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        if (i > 0) {
            tear_down(state);
            set_up(state);
        }
        memory_left = pages[i] * SEGMENT_PAGE;
        while (closed_count < 20000) {
            step(RECORDER_SLOT_NS / 2 + random_below(RECORDER_SLOT_NS), 5,
                 random_below(1000000), random_below(1000));
            if (random_below(10000) == 0)
                step(HOUR, 1, 1, 1);
            if (closed_count % 1000 == 1)
                check_untouched(false);
        }
    }
}

/* What was made ready before the sandbox closed is used. */
static void
test_sandboxed(void **state)
{
    (void)state;
    mt_recorder_complete();
    memory_left = 0;
    mt_sandboxed = true;
    for (int i = 0; i < 20000; i++)
        step(RECORDER_SLOT_NS, 5, random_below(1000000), 100);
    mt_sandboxed = false;
    check();
}

/* Awake for an hour, asleep for a day, a hundred times: at every level of detail, the
   time asleep is marked as such, and nothing is measured in it. */
static void
test_sleeps(void **state)
{
    uint64_t begin[100], end[100], slept = 0;
    struct reader *reader;
    struct recorded *recorded;
    size_t count;

    (void)state;
    for (int i = 0; i < 100; i++) {
        for (int j = 0; j < 3600; j++)
            step(1000 * MS, 10, 1000, 100);
        begin[i] = clock_ns - scratch_header()->created_ns;
        assert_true(mt_recorder_take());
        mt_recorder_sleep(clock_ns);
        mt_recorder_give();
        clock_ns += 24 * HOUR;
        assert_true(mt_recorder_take());
        mt_recorder_wake(clock_ns);
        mt_recorder_give();
        end[i] = clock_ns - scratch_header()->created_ns;
    }
    step(1000 * MS, 10, 1000, 100);
    step(1000 * MS, 10, 1000, 100);
    assert_int_equal(0, reader_open(scratch_path, getuid(), geteuid(), &reader));
    assert_int_equal(0, reader_recorded(reader, &recorded, &count));
    reader_close(reader);
    for (size_t i = 0; i < count; i++) {
        const struct recorded *slot = &recorded[i];
        uint64_t within = 0;

        assert_true(slot->begin_ns < slot->end_ns);
        assert_true(i == 0 || slot->begin_ns >= recorded[i - 1].end_ns);
        for (int k = 0; k < 100; k++)
            within |= begin[k] <= slot->end_ns && slot->begin_ns <= end[k];
        if (slot->asleep) {
            assert_true(within);
            assert_int_equal(0, slot->calls + slot->heap_max + slot->heap_last);
            slept += slot->end_ns - slot->begin_ns;
        } else {
            assert_int_equal(1000, slot->heap_last);
            assert_int_equal(1000, slot->heap_max);
        }
    }
    /* A slot of the overview is five hours long, and both ends of a sleep are in slots
       with measurements. */
    assert_true(slept > 100 * 14 * HOUR);
    assert_true(slept <= 100 * 24 * HOUR);
    assert_true(recorded[count - 1].end_ns > end[99]);
    free(recorded);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_first_seconds),
        TEST(test_weeks),
        TEST(test_grows),
        TEST(test_little_memory),
        TEST(test_sandboxed),
        TEST(test_sleeps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
