/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recorded texts of /proc/PID/smaps by kind of mapping, and the resident memory by its
   use: the bands always add up to all of it, and none is negative. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "monitor/proc-reader.h"
#include "monitor/rss-breakdown.h"
#include "monitor/session.h"

#define KIB(n) (UINT64_C(1024) * (n))
#define MIB(n) (UINT64_C(1048576) * (n))

static struct resident resident;
static struct process process;
static struct rss_breakdown breakdown;

/* ---- kinds of mappings ---- */

static int
read_text(const char *text, const struct smaps_hints *hints)
{
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    int result;

    assert_non_null(file);
    memset(&resident, 0, sizeof resident);
    result = smaps_read(file, hints, &resident);
    assert_int_equal(fclose(file), 0);
    return result;
}

/* Reads tests/data/smaps/NAME. */
static void
read_recorded(const char *name, const struct smaps_hints *hints)
{
    const char *directory = getenv("srcdir");
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/tests/data/smaps/%s",
             directory != NULL ? directory : ".", name);
    file = fopen(path, "r");
    assert_non_null(file);
    memset(&resident, 0, sizeof resident);
    assert_int_equal(smaps_read(file, hints, &resident), 0);
    assert_int_equal(fclose(file), 0);
}

/* In KiB, for each region in order. */
static void
expect_regions(const uint64_t (*kib)[REGION_COUNT])
{
    uint64_t sum = 0;

    for (int i = 0; i < REGION_COUNT; i++) {
        assert_int_equal(resident.rss[i] / 1024, (*kib)[i]);
        sum += resident.rss[i];
    }
    assert_int_equal(sum, resident.total);
}

#define EXPECT_REGIONS(...) \
    expect_regions(&(const uint64_t[REGION_COUNT]){__VA_ARGS__})

/* A C program: three threads with arenas of their own, one of them with a stack of
   300 KiB; 10 MiB of malloc and 5 MiB of mmap; shared memory; static arrays. */
static void
threads_of_glibc(void **state)
{
    static const uint64_t pointer = 0x7f02ec520640;
    struct smaps_hints hints = {.segment = "8337.0", .stack_size = MIB(8)};

    (void)state;
    read_recorded("threads", &hints);
    assert_int_equal(resident.mappings, 47);
    /* The small stack is not recognised yet. */
    EXPECT_REGIONS(15396 + 104, 20004 + 3 * 2504, 20 + 104 + 108, 2012, 3072, 244, 4);
    /* With four threads known, each guard page is a thread's. */
    hints.threads = 4;
    read_recorded("threads", &hints);
    EXPECT_REGIONS(15396, 27516, 336, 2012, 3072, 244, 4);
    hints.threads = 3;
    read_recorded("threads", &hints);
    EXPECT_REGIONS(15396 + 104, 27516, 336 - 104, 2012, 3072, 244, 4);
    hints.stacks = &pointer;
    hints.stack_count = 1;
    read_recorded("threads", &hints);
    EXPECT_REGIONS(15396, 27516, 336, 2012, 3072, 244, 4);
    assert_int_equal(resident.total, KIB(48580));
    assert_int_equal(resident.swap, 0);
    /* Without its name the segment counts as shared memory. */
    hints.segment = "8337.1";
    read_recorded("threads", &hints);
    EXPECT_REGIONS(15396, 27516, 336, 2012, 3072 + 172, 244 - 172, 4);
}

/* python3 with PYTHONMALLOC=malloc; node; redis-server, whose jemalloc has neither
   [heap] nor arenas; a static program without libmemtop.so. */
static void
other_programs(void **state)
{
    struct smaps_hints hints = {.segment = "14864.0", .stack_size = MIB(8)};

    (void)state;
    read_recorded("python", &hints);
    EXPECT_REGIONS(672, 13260, 36, 7996, 156, 124, 4);
    hints.segment = "14866.0";
    read_recorded("node", &hints);
    EXPECT_REGIONS(26312, 5940, 128, 38836, 0, 332, 4);
    hints.segment = "30752.1";
    read_recorded("jemalloc", &hints);
    EXPECT_REGIONS(1364, 0, 60, 10444, 32, 128, 4);
    hints.segment = NULL;
    read_recorded("static", &hints);
    EXPECT_REGIONS(15472, 26272, 228, 1368, 3072, 0, 4);
}

/* Mappings that are named, joined, or similar to others. */
static void
neighbours(void **state)
{
    static const uint64_t pointer = 0x7f0000bff700;
    const struct smaps_hints hints = {
        .stacks = &pointer, .stack_count = 1, .stack_size = MIB(8)};

    (void)state;
    /* A stack joined with 4 MiB above it: more is resident than can belong to the
       stack. */
    assert_int_equal(read_text("7f0000800000-7f0001000000 rw-p 00000000 00:00 0 \n"
                               "Rss: 6144 kB\n",
                               &hints),
                     0);
    EXPECT_REGIONS(2048, 0, 4096, 0, 0, 0, 0);
    assert_int_equal(read_text("7f1000000000-7f1000001000 ---p 00000000 00:00 0 \n"
                               "Rss: 0 kB\n"
                               "7f1000001000-7f1000900000 rw-p 00000000 00:00 0 \n"
                               "Rss: 64 kB\n"
                               "7f1000900000-7f1000a00000 rw-p 00000000 00:00 0 "
                               "[anon: glibc: pthread stack: 17]\nRss: 8 kB\n"
                               "7f1004000000-7f1008000000 rw-p 00000000 00:00 0 "
                               "[anon: glibc: malloc arena]\nRss: 4 kB\n"
                               "7f1008000000-7f100c000000 rw-p 00000000 00:00 0 \n"
                               "Rss: 2 kB\n",
                               &hints),
                     0);
    EXPECT_REGIONS(66, 4, 8, 0, 0, 0, 0);
    /* A data file that is not executable; a library followed by its bss; the same with a
       gap. */
    assert_int_equal(read_text("7f1000000000-7f1000001000 rw-p 00000000 08:01 5 /a b\n"
                               "Rss: 1 kB\n"
                               "7f1000001000-7f1000002000 r-xp 00000000 08:01 6 /lib\n"
                               "Rss: 2 kB\n"
                               "7f1000002000-7f1000003000 rw-p 00000000 08:01 6 /lib\n"
                               "Rss: 4 kB\n"
                               "7f1000003000-7f1000004000 rw-p 00000000 00:00 0 \n"
                               "Rss: 8 kB\n"
                               "7f1000005000-7f1000006000 rw-p 00000000 00:00 0 \n"
                               "Rss: 16 kB\n"
                               "7f1000007000-7f1000008000 rwxs 00000000 08:01 7 "
                               "/memfd:jit (deleted)\nRss: 32 kB\n",
                               &hints),
                     0);
    EXPECT_REGIONS(16, 0, 0, 14, 33, 0, 0);
}

static void
texts_that_are_none(void **state)
{
    const struct smaps_hints hints = {0};
    struct resident before;

    (void)state;
    memset(&before, 0, sizeof before);
    assert_int_equal(read_text("Rss: 12 kB\n\nnonsense\n12-11 rw-p 0 0:0 0\n", &hints),
                     -ESRCH);
    assert_memory_equal(&resident, &before, sizeof before);
    assert_int_equal(read_text("1000-2000 rw-p 00000000 00:00 0\n"
                               "Rss: 99999999999999999999999 kB\nPss: -1 kB\n"
                               "Swap: 4 kB\nRssx: 7 kB\nRss:\n",
                               &hints),
                     0);
    assert_int_equal(resident.total, 0);
    assert_int_equal(resident.swap, KIB(4));
}

/* ---- bands ---- */

static void
divide(void)
{
    uint64_t sum = 0;

    rss_divide(&resident, &process, &breakdown);
    assert_true(breakdown.known);
    for (int i = 0; i < BAND_COUNT; i++)
        if (breakdown.bytes[i] != BAND_UNKNOWN) {
            assert_true(breakdown.bytes[i] <= breakdown.rss);
            sum += breakdown.bytes[i];
        }
    assert_int_equal(sum, breakdown.rss);
}

static void
set_resident(uint64_t heap, uint64_t anon, uint64_t heap_size, uint64_t anon_size)
{
    memset(&resident, 0, sizeof resident);
    resident.rss[REGION_HEAP] = heap;
    resident.size[REGION_HEAP] = heap_size;
    resident.rss[REGION_ANON] = anon;
    resident.size[REGION_ANON] = anon_size;
    resident.rss[REGION_PROGRAM] = MIB(1);
    resident.total = heap + anon + MIB(1);
}

static int
measured_with_glibc(void **state)
{
    (void)state;
    memset(&process, 0, sizeof process);
    process.measured = true;
    process.run_ns = 5;
    process.identity.accounting = ACCOUNTING_REQUESTED;
    strcpy(process.identity.allocator, "/lib/x86_64-linux-gnu/libc.so.6");
    return 0;
}

static void
blocks_divide_the_heap(void **state)
{
    (void)state;
    set_resident(MIB(10), MIB(7), MIB(10), MIB(7));
    process.now.live_bytes = MIB(5);
    process.now.usable_bytes = MIB(6);
    process.now.mapped_bytes = MIB(2);
    process.now.live_blocks = 1024;
    divide();
    assert_int_equal(breakdown.run_ns, 5);
    assert_int_equal(breakdown.bytes[BAND_REQUESTED], MIB(5));
    assert_int_equal(breakdown.bytes[BAND_SLACK], MIB(1) + 8 * 1024);
    assert_int_equal(breakdown.bytes[BAND_HELD], MIB(6) - 8 * 1024);
    assert_int_equal(breakdown.bytes[BAND_MMAP], MIB(5));
    assert_int_equal(breakdown.bytes[BAND_HEAP], 0);
    assert_int_equal(breakdown.bytes[BAND_PROGRAM], MIB(1));
    assert_int_equal(breakdown.absent, 0);
    assert_int_equal(breakdown.unsure, 0);
    assert_false(breakdown.with_reserve);
}

/* The library's bytes beside the heap are memtop's, not mappings of the program's. */
static void
shadow_of_the_heap(void **state)
{
    (void)state;
    set_resident(MIB(32), MIB(3), MIB(32), MIB(3));
    process.now.live_bytes = process.now.usable_bytes = MIB(30);
    process.identity.flags = SEGMENT_FLAG_SHADOW;
    divide();
    assert_int_equal(breakdown.bytes[BAND_MMAP], MIB(2));
    assert_int_equal(breakdown.bytes[BAND_MEMTOP], MIB(1));
    set_resident(MIB(32), KIB(4), MIB(32), KIB(4));
    divide();
    assert_int_equal(breakdown.bytes[BAND_MMAP], 0);
    assert_int_equal(breakdown.bytes[BAND_MEMTOP], KIB(4));
}

static void
untouched_blocks_are_not_resident(void **state)
{
    (void)state;
    /* 40 MiB in a separate mapping, of which 1 MiB was touched, beside 3 MiB that the
       program mapped: these may belong to the block. */
    set_resident(MIB(1), MIB(4), MIB(1), MIB(43));
    process.now.live_bytes = process.now.usable_bytes = MIB(40);
    process.now.mapped_bytes = MIB(40);
    divide();
    assert_int_equal(breakdown.bytes[BAND_REQUESTED], MIB(4));
    assert_int_equal(breakdown.bytes[BAND_MMAP], 0);
    assert_int_equal(breakdown.bytes[BAND_HELD], MIB(1));
    assert_int_equal(breakdown.absent, MIB(36));
    assert_int_equal(breakdown.unsure, MIB(3));
}

/* The recorded program, whose figures are known: see threads_of_glibc(). */
static void
a_real_program(void **state)
{
    const struct smaps_hints hints = {.segment = "8337.0", .stack_size = MIB(8)};
    const uint64_t small = 10500 * UINT64_C(1000) + 30000 * UINT64_C(100);

    (void)state;
    read_recorded("threads", &hints);
    process.now.live_bytes = small + MIB(50);
    process.now.live_blocks = 40502;
    process.now.mapped_bytes = 52436992 - 2 * 16;
    /* What malloc_stats() reported as in use, without the headers. */
    process.now.usable_bytes =
        67049152 - 52436992 - 8 * 40502 + process.now.mapped_bytes;
    divide();
    assert_int_equal(breakdown.bytes[BAND_REQUESTED] + breakdown.bytes[BAND_SLACK],
                     67049152 - 52436992 + KIB(15396 + 104));
    assert_true(breakdown.bytes[BAND_REQUESTED] > small + MIB(10));
    assert_int_equal(breakdown.bytes[BAND_HELD], KIB(27516) - (67049152 - 52436992));
    assert_true(breakdown.absent > MIB(34) && breakdown.absent < MIB(40));
    /* Of the 40 MiB 4 KiB are touched, and 5 MiB were mapped by the program. */
    assert_true(breakdown.unsure >= MIB(5));
}

/* Usable sizes come from the allocator, and what it holds back is in another band. */
static void
other_allocators(void **state)
{
    (void)state;
    strcpy(process.identity.allocator, "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2");
    process.identity.accounting = ACCOUNTING_USABLE;
    set_resident(KIB(100), MIB(4), KIB(100), MIB(8));
    process.now.live_bytes = process.now.usable_bytes = MIB(3);
    process.now.mapped_bytes = MIB(1); /* not used here */
    divide();
    assert_int_equal(breakdown.bytes[BAND_REQUESTED], MIB(3));
    assert_int_equal(breakdown.bytes[BAND_SLACK], BAND_UNKNOWN);
    assert_int_equal(breakdown.bytes[BAND_HELD], BAND_UNKNOWN);
    assert_int_equal(breakdown.bytes[BAND_MMAP], MIB(1) + KIB(100));
    assert_true(breakdown.with_reserve);
}

static void
without_counters(void **state)
{
    (void)state;
    process.measured = false;
    set_resident(MIB(3), MIB(4), MIB(3), MIB(4));
    divide();
    assert_int_equal(breakdown.bytes[BAND_REQUESTED], BAND_UNKNOWN);
    assert_int_equal(breakdown.bytes[BAND_SLACK], BAND_UNKNOWN);
    assert_int_equal(breakdown.bytes[BAND_HELD], BAND_UNKNOWN);
    assert_int_equal(breakdown.bytes[BAND_HEAP], MIB(3));
    assert_int_equal(breakdown.bytes[BAND_MMAP], MIB(4));
}

/* Counters are untrusted, and read at another time than the kernel's figures. */
static void
whatever_the_counters_say(void **state)
{
    static const uint64_t values[] = {0, 1, MIB(1), MIB(3), MIB(7), INT64_MAX};
    const size_t count = sizeof values / sizeof *values;

    (void)state;
    for (size_t i = 0; i < count * count * count * count; i++) {
        set_resident(values[i % 5], MIB(2), values[i % 5], MIB(3));
        process.now.live_bytes = values[i % count];
        process.now.usable_bytes = values[i / count % count];
        process.now.mapped_bytes = values[i / count / count % count];
        if (process.now.mapped_bytes > process.now.usable_bytes)
            process.now.mapped_bytes = process.now.usable_bytes; /* as reader.h
                                                                    guarantees */
        process.now.live_blocks = i % 7 == 0 ? UINT64_MAX : values[i / 216 % count];
        if (resident.total <= MIB(20))
            divide();
        assert_true(breakdown.unsure <= breakdown.rss);
    }
}

/* ---- when they are read ---- */

static void
readings_cost_little(void **state)
{
    const int64_t second = INT64_C(1000000000);
    struct rss_reader reader = {0};

    (void)state;
    assert_true(rss_reader_due(&reader, 0, false));
    reader = (struct rss_reader){true, 10 * second, second / 1000};
    assert_false(rss_reader_due(&reader, 11 * second - 1, true));
    assert_true(rss_reader_due(&reader, 11 * second, true));
    assert_true(rss_reader_due(&reader, 11 * second, false));
    reader.cost_ns = second / 10;
    assert_false(rss_reader_due(&reader, 14 * second, true));
    assert_true(rss_reader_due(&reader, 15 * second, true));
    assert_false(rss_reader_due(&reader, 109 * second, false));
    assert_true(rss_reader_due(&reader, 110 * second, false));
}

/* The bands of this process at present. */
static void
a_reading_of_this_process(void **state)
{
    struct rss_reader reader = {0};

    (void)state;
    process.measured = false;
    process.pid = getpid();
    rss_reader_read(&reader, 7, &process, NULL, 0);
    assert_true(process.breakdown.known && process.breakdown.rss > 0);
    assert_int_equal(process.breakdown.run_ns, 5);
    assert_int_equal(reader.read_ns, 7);
    assert_true(reader.tried && reader.cost_ns > 0);
    /* Without a process, the last result stays. */
    process.pid = -1;
    process.run_ns = 6;
    rss_reader_read(&reader, 8, &process, NULL, 0);
    assert_int_equal(process.breakdown.run_ns, 5);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_of_glibc),
        cmocka_unit_test(other_programs),
        cmocka_unit_test(neighbours),
        cmocka_unit_test(texts_that_are_none),
        cmocka_unit_test_setup(blocks_divide_the_heap, measured_with_glibc),
        cmocka_unit_test_setup(shadow_of_the_heap, measured_with_glibc),
        cmocka_unit_test_setup(untouched_blocks_are_not_resident, measured_with_glibc),
        cmocka_unit_test_setup(a_real_program, measured_with_glibc),
        cmocka_unit_test_setup(other_allocators, measured_with_glibc),
        cmocka_unit_test_setup(without_counters, measured_with_glibc),
        cmocka_unit_test(readings_cost_little),
        cmocka_unit_test_setup(a_reading_of_this_process, measured_with_glibc),
        cmocka_unit_test_setup(whatever_the_counters_say, measured_with_glibc),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
