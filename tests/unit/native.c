/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memtop's own traces: what is written can be read, and damaged or missing parts are
   skipped. */
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

#include "scratch-file.h"
#include "files/eventblock.h"
#include "files/native-format.h"
#include "files/native.h"
#include "files/pack.h"
#include "files/trace.h"
#include "files/varint.h"

#define EPOCH INT64_C(1700000000000000000)
#define MANY  100000u /* more than a block holds */

static struct trace_event *made, *seen;

static int
prepare(void **state)
{
    made = calloc(MANY, sizeof *made);
    seen = calloc(2 * MANY, sizeof *seen);
    return file_make(state) != 0 || made == NULL || seen == NULL;
}

static int
clean(void **state)
{
    free(made);
    free(seen);
    return file_remove(state);
}

static uint64_t
chance(void)
{
    static uint64_t state = 88172645463325252; /* xorshift64 */

    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* ---- blocks of events ---- */

static const uint8_t kinds[] = {
    FN_MALLOC, FN_REALLOC, FN_CALLOC, FN_FREE, FN_POSIX_MEMALIGN, FN_ALIGNED_ALLOC,
    FN_MEMALIGN, FN_VALLOC, FN_PVALLOC, EVENT_REALLOC_FROM, EVENT_REALLOC_TO,
    EVENT_REALLOC_FREED, EVENT_REALLOC_KEPT, EVENT_CUSTOM_MADE, EVENT_CUSTOM_FREED,
    TRACE_LOST, 100,
};

/* Random events, with few addresses and sizes, so that some of them match. */
static void
make_anything(size_t count, unsigned width)
{
    uint64_t mask = (UINT64_C(1) << width % 64) - 1;
    uint64_t time_ns = chance() >> 2;

    memset(made, 0, count * sizeof *made);
    for (size_t i = 0; i < count; i++) {
        struct trace_event *event = &made[i];

        event->kind = kinds[chance() % sizeof kinds];
        event->address = chance() & mask;
        event->size = chance() % 4 ? chance() % 100 : chance() & mask;
        event->thread = (uint32_t)(chance() % 3 ? chance() % 4 : chance());
        event->depth = (uint32_t)(chance() & mask);
        event->time_ns = time_ns += chance() % 1000;
        event->process = 7;
        if (event->kind > FN_FREE && event->kind < FN_COUNT)
            event->alignment = (uint8_t)(chance() % 64);
    }
}

/* Member by member, because padding may differ. */
static void
assert_events_equal(const struct trace_event *got, const struct trace_event *wanted,
                    size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(got[i].time_ns, wanted[i].time_ns);
        assert_int_equal(got[i].address, wanted[i].address);
        assert_int_equal(got[i].size, wanted[i].size);
        assert_int_equal(got[i].process, wanted[i].process);
        assert_int_equal(got[i].thread, wanted[i].thread);
        assert_int_equal(got[i].depth, wanted[i].depth);
        assert_int_equal(got[i].kind, wanted[i].kind);
        assert_int_equal(got[i].alignment, wanted[i].alignment);
    }
}

static void
test_blocks_of_anything(void **state)
{
    static unsigned char bytes[EVENTBLOCK_BYTES];
    struct eventblock *writer = eventblock_new(), *reader = eventblock_new();

    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        size_t count = round % 50 == 0 ? EVENTBLOCK_EVENTS : 1 + chance() % 200;
        size_t size;

        make_anything(count, 4 + round % 61);
        size = eventblock_encode(writer, made, count, bytes);
        assert_true(size <= sizeof bytes);
        memset(seen, 0, count * sizeof *seen);
        assert_int_equal(eventblock_decode(reader, bytes, size, seen), count);
        assert_events_equal(seen, made, count);
        /* A block that is cut is refused. */
        assert_int_equal(eventblock_decode(reader, bytes, size - 1, seen), -EBADMSG);
    }
    eventblock_free(writer);
    eventblock_free(reader);
}

static void
test_blocks_that_are_none(void **state)
{
    static unsigned char bytes[EVENTBLOCK_BYTES];
    struct eventblock *block = eventblock_new();
    size_t size;

    (void)state;
    make_anything(1000, 12);
    size = eventblock_encode(block, made, 1000, bytes);
    for (unsigned round = 0; round < 20000; round++) {
        size_t at = chance() % size;
        unsigned char before = bytes[at];
        long got;

        bytes[at] = (unsigned char)chance();
        got = eventblock_decode(block, bytes, size, seen);
        assert_true(got == -EBADMSG || (got > 0 && got <= EVENTBLOCK_EVENTS));
        bytes[at] = before;
    }
    eventblock_free(block);
}

/* ---- files ---- */

static struct native_writer *
create(void)
{
    struct native_writer *writer;

    assert_int_equal(native_create(path, true, EPOCH, &writer), 0);
    return writer;
}

static const struct trace_process python = {
    .pid = 41, .parent = 40, .program = (char *)"/usr/bin/python3",
    .args = (char *)"python3\0-c\0", .args_size = 11,
    .allocator = (char *)"/lib/libc.so.6", .accounting = 1, .began_ns = 5};

static struct trace_event
event_at(uint64_t time_ns, unsigned kind, uint64_t address, uint64_t size)
{
    return (struct trace_event){
        .time_ns = time_ns, .address = address, .size = size, .kind = (uint8_t)kind};
}

/* Reads all events of the file. */
static size_t
read_all(struct trace **out)
{
    size_t count = 0;
    long got;

    assert_int_equal(trace_open(path, NULL, out), 0);
    while ((got = trace_read(*out, seen + count, 777)) > 0)
        count += (size_t)got;
    assert_int_equal(got, 0);
    assert_int_equal(trace_about(*out)->events, count);
    return count;
}

static void
test_a_trace(void **state)
{
    struct native_writer *writer = create();
    const struct trace_event events[] = {
        event_at(10, FN_MALLOC, 0x1000, 24),
        event_at(20, EVENT_REALLOC_FROM, 0x1000, 24),
        event_at(21, EVENT_REALLOC_TO, 0x1000, 40),
        event_at(22, TRACE_LOST, 0, 3),
        event_at(30, FN_FREE, 0x1000, 40),
    };
    const struct trace_info *info;
    struct trace *trace;

    (void)state;
    assert_int_equal(native_process(writer, &python), 0);
    assert_int_equal(native_thread(writer, 0, 41), 0);
    assert_int_equal(native_events(writer, 0, events, 5), 0);
    assert_int_equal(native_ended(writer, 0, 100), 0);
    assert_int_equal(native_close(writer, 120), 0);

    assert_int_equal(read_all(&trace), 7);
    info = trace_about(trace);
    assert_int_equal(info->kind, KIND_TRACE);
    assert_true(info->has_time && info->has_depth && info->sizes_of_freed);
    assert_int_equal(info->began_epoch_ns, EPOCH);
    assert_int_equal(info->ended_ns, 120);
    assert_int_equal(info->lost, 3);
    assert_int_equal(info->damaged, 0);
    assert_false(info->cut);
    assert_int_equal(info->processes, 1);
    assert_int_equal(info->process[0].pid, 41);
    assert_int_equal(info->process[0].parent, 40);
    assert_int_equal(info->process[0].threads, 1);
    assert_int_equal(info->process[0].thread[0], 41);
    assert_string_equal(info->process[0].program, "/usr/bin/python3");
    assert_int_equal(info->process[0].args_size, 11);
    assert_string_equal(info->process[0].args + 8, "-c");
    assert_string_equal(info->process[0].allocator, "/lib/libc.so.6");
    assert_int_equal(info->process[0].accounting, 1);
    assert_true(info->process[0].ended);
    assert_int_equal(info->process[0].ended_ns, 100);
    assert_int_equal(seen[0].kind, TRACE_BEGAN);
    assert_events_equal(seen + 1, events, sizeof events / sizeof *events);
    assert_int_equal(seen[6].kind, TRACE_ENDED);
    trace_close(trace);
}

/* A process reports its arguments after its first calls. */
static void
test_late_arguments(void **state)
{
    struct native_writer *writer = create();
    const struct trace_process early = {.pid = 41};
    const struct trace_event event = event_at(10, FN_MALLOC, 0x1000, 24);
    struct trace *trace;

    (void)state;
    assert_int_equal(native_process(writer, &early), 0);
    assert_int_equal(native_thread(writer, 0, 41), 0);
    assert_int_equal(native_events(writer, 0, &event, 1), 0);
    assert_int_equal(native_arguments(writer, 0, &python), 0);
    assert_int_equal(native_close(writer, 120), 0);
    assert_int_equal(read_all(&trace), 2);
    assert_string_equal(trace_about(trace)->process[0].program, "/usr/bin/python3");
    assert_int_equal(trace_about(trace)->process[0].args_size, 11);
    trace_close(trace);
}

/* Events of processes that write in turns come out in order of time, and each process's
   in its order. */
static void
test_processes_in_one_order(void **state)
{
    struct native_writer *writer = create();
    struct trace *trace;
    uint64_t next[3] = {0}, last_ns = 0;
    size_t count;

    (void)state;
    for (unsigned process = 0; process < 3; process++) {
        assert_int_equal(native_process(writer, &python), process);
        assert_int_equal(native_thread(writer, process, 41), 0);
    }
    for (unsigned round = 0; round < 60; round++)
        for (unsigned process = 0; process < 3; process++) {
            for (unsigned i = 0; i < 500; i++)
                made[i] = event_at(1000 + round * 500 + i, FN_MALLOC,
                                   (round * 500 + i + 1) * 16, process);
            assert_int_equal(native_events(writer, process, made, 500), 0);
        }
    assert_int_equal(native_close(writer, 120), 0);

    count = read_all(&trace);
    assert_int_equal(count, 3 * 60 * 500 + 3);
    for (size_t i = 0; i < count; i++) {
        assert_true(seen[i].time_ns >= last_ns);
        last_ns = seen[i].time_ns;
        if (seen[i].kind != TRACE_BEGAN) {
            assert_int_equal(seen[i].size, seen[i].process);
            assert_int_equal(seen[i].address, ++next[seen[i].process] * 16);
        }
    }
    /* The order holds within groups, too. */
    assert_true(seen[4].process != seen[5].process || seen[5].process != seen[6].process);
    trace_close(trace);
}

/* Writes a trace of some groups; returns its size. */
static long
write_groups(void)
{
    struct native_writer *writer = create();
    FILE *file;
    long size;

    assert_int_equal(native_process(writer, &python), 0);
    assert_int_equal(native_thread(writer, 0, 41), 0);
    for (unsigned i = 0; i < 400; i++)
        made[i] = event_at(1000 + i, i % 2 ? FN_FREE : FN_MALLOC, 16 * (i / 2 + 1), 10);
    for (unsigned group = 0; group < 4; group++) {
        assert_int_equal(native_events(writer, 0, made + group * 100, 100), 0);
        assert_int_equal(native_tick(writer, (group + 1) * UINT64_C(2000000000)), 0);
    }
    assert_int_equal(native_close(writer, UINT64_C(9000000000)), 0);
    file = fopen(path, "r");
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size = ftell(file);
    fclose(file);
    return size;
}

/* Wherever the file is cut, the events of complete groups are there, in order. */
static void
test_cut(void **state)
{
    long size = write_groups();
    size_t before = 401;

    (void)state;
    for (long end = size - 1; end >= (long)NATIVE_HEADER_SIZE; end--) {
        struct trace *trace;
        size_t count;

        assert_int_equal(truncate(path, end), 0);
        count = read_all(&trace);
        assert_true(trace_about(trace)->cut);
        assert_int_equal(trace_about(trace)->damaged, 0);
        assert_true(count <= before && (count == 0 || (count - 1) % 100 == 0));
        for (size_t i = 1; i < count; i++)
            assert_int_equal(seen[i].time_ns, 1000 + i - 1);
        trace_close(trace);
        before = count;
    }
    assert_int_equal(before, 0);
}

/* A wrong byte damages only the frame it is in, which is counted; the rest is read. */
static void
test_damaged(void **state)
{
    long size = write_groups();
    unsigned full = 0;

    (void)state;
    for (long at = NATIVE_HEADER_SIZE; at < size; at++) {
        FILE *file = fopen(path, "r+");
        struct trace *trace;
        size_t count;
        int byte;

        fseek(file, at, SEEK_SET);
        byte = getc(file);
        fseek(file, at, SEEK_SET);
        putc(byte ^ 0x41, file);
        fclose(file);
        count = read_all(&trace);
        assert_true(trace_about(trace)->damaged > 0 || trace_about(trace)->cut);
        full += count >= 301;
        trace_close(trace);
        file = fopen(path, "r+");
        fseek(file, at, SEEK_SET);
        putc(byte, file);
        fclose(file);
    }
    assert_true(full > (unsigned)size / 2);
}

/* Damages the frame with that number, from 0, among those of its kind. */
static void
damage_frame(enum native_frame kind, unsigned number)
{
    FILE *file = fopen(path, "r+");
    unsigned char head[NATIVE_FRAME_SIZE];

    assert_int_equal(fseek(file, NATIVE_HEADER_SIZE, SEEK_SET), 0);
    for (;;) {
        assert_int_equal(fread(head, 1, sizeof head, file), sizeof head);
        if (native_get32(head) == kind && number-- == 0)
            break;
        assert_int_equal(fseek(file, native_get32(head + 4), SEEK_CUR), 0);
    }
    assert_int_equal(fseek(file, 6, SEEK_CUR), 0);
    putc(0xA5, file);
    putc(0x5A, file);
    fclose(file);
}

/* Processes 0 to 2, each with an idle thread and one that allocates a block of as many
   bytes as the process's number. */
static void
write_three(void)
{
    struct native_writer *writer = create();

    for (unsigned i = 0; i < 3; i++) {
        const struct trace_process process = {.pid = 50 + i};
        struct trace_event event = event_at(10 + i, FN_MALLOC, 0x1000, i);

        event.thread = 1;
        assert_int_equal(native_process(writer, &process), i);
        assert_int_equal(native_thread(writer, i, 60 + i), 0);
        assert_int_equal(native_thread(writer, i, 70 + i), 1);
        assert_int_equal(native_events(writer, i, &event, 1), 0);
    }
    assert_int_equal(native_close(writer, 120), 0);
}

/* If the frame of a process or thread is damaged, only its own data are lost: neither
   the numbers of others nor their events. */
static void
test_damaged_names(void **state)
{
    const struct trace_info *info;
    struct trace *trace;
    size_t count;

    (void)state;
    write_three();
    damage_frame(NATIVE_PROCESS, 1);
    damage_frame(NATIVE_THREAD, 4); /* the first thread of the last process */
    count = read_all(&trace);
    info = trace_about(trace);
    assert_true(info->damaged > 0);
    assert_int_equal(info->processes, 3);
    assert_int_equal(info->process[1].pid, 0);
    assert_int_equal(info->process[2].pid, 52);
    assert_int_equal(info->process[2].threads, 2);
    assert_int_equal(info->process[2].thread[0], 0);
    assert_int_equal(info->process[2].thread[1], 72);
    for (size_t i = 0; i < count; i++)
        assert_true(seen[i].kind == TRACE_BEGAN || seen[i].size == seen[i].process);
    assert_int_equal(count, 6);
    trace_close(trace);
}

/* Numbers far beyond the last process allocate no memory. */
static void
test_numbers_from_nowhere(void **state)
{
    const uint64_t numbers[] = {1, 2, UINT64_C(1) << 23, UINT64_MAX};
    struct frame_packer *frame_packer = frame_packer_new();
    struct trace *trace;

    (void)state;
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        unsigned char raw[64] = {41}, packed[NATIVE_FRAME_SIZE + 200];
        unsigned char *end = varint_put(raw + 9, numbers[i]);
        FILE *file;
        size_t stored;

        assert_int_equal(native_close(create(), 0), 0);
        assert_int_equal(truncate(path, NATIVE_HEADER_SIZE), 0);
        stored =
            frame_pack(frame_packer, raw, (size_t)(end - raw), packed + NATIVE_FRAME_SIZE,
                       sizeof packed - NATIVE_FRAME_SIZE);
        native_put32(packed, NATIVE_PROCESS);
        native_put32(packed + 4, (uint32_t)stored);
        native_put32(packed + 8, (uint32_t)(end - raw));
        native_put32(packed + 12, native_check(NATIVE_PROCESS, (uint32_t)stored,
                                               (uint32_t)(end - raw)));
        file = fopen(path, "a");
        assert_int_equal(fwrite(packed, 1, NATIVE_FRAME_SIZE + stored, file),
                         NATIVE_FRAME_SIZE + stored);
        fclose(file);
        assert_int_equal(read_all(&trace), 0);
        assert_int_equal(trace_about(trace)->processes, 0);
        assert_true(trace_about(trace)->damaged > 0);
        trace_close(trace);
    }
    frame_packer_free(frame_packer);
}

/* However many processes a small file names, the memory for names is limited. */
static void
test_names_are_bounded(void **state)
{
    static char name[16384];
    const struct trace_process process = {
        .pid = 41, .program = name, .args = name, .args_size = sizeof name,
        .allocator = name};
    struct native_writer *writer = create();
    const struct trace_info *info;
    struct trace *trace;
    size_t kept = 0;

    (void)state;
    memset(name, 'a', sizeof name - 1);
    for (unsigned i = 0; i < 2000; i++) {
        assert_int_equal(native_process(writer, &process), i);
        assert_int_equal(native_arguments(writer, i, &process), 0);
    }
    assert_int_equal(native_close(writer, 120), 0);
    read_all(&trace);
    info = trace_about(trace);
    assert_int_equal(info->processes, 2000);
    for (unsigned i = 0; i < 2000; i++)
        kept += info->process[i].program != NULL ? 3 * sizeof name : 0;
    assert_true(kept > 60 << 20 && kept <= 65 << 20);
    assert_int_equal(info->process[1999].pid, 41);
    assert_null(info->process[1999].args);
    trace_close(trace);
}

/* Differences of times do not overflow. */
static void
test_times_without_end(void **state)
{
    const struct trace_process late = {.pid = 41, .began_ns = UINT64_MAX - 7};
    const struct trace_event event = event_at(UINT64_MAX - 3, FN_MALLOC, 0x1000, 24);
    struct native_writer *writer = create();
    struct trace *trace;
    size_t count;

    (void)state;
    assert_int_equal(native_process(writer, &late), 0);
    assert_int_equal(native_thread(writer, 0, 41), 0);
    assert_int_equal(native_events(writer, 0, &event, 1), 0);
    assert_int_equal(native_ended(writer, 0, UINT64_MAX - 1), 0);
    assert_int_equal(native_close(writer, UINT64_MAX), 0);
    count = read_all(&trace);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++)
        assert_true(seen[i].time_ns <= TRACE_TIME_MAX);
    assert_int_equal(trace_about(trace)->ended_ns, TRACE_TIME_MAX);
    assert_int_equal(trace_about(trace)->process[0].began_ns, TRACE_TIME_MAX);
    assert_int_equal(trace_about(trace)->process[0].ended_ns, TRACE_TIME_MAX);
    trace_close(trace);
}

static void
test_other_versions(void **state)
{
    struct trace *trace;
    FILE *file;

    (void)state;
    write_groups();
    file = fopen(path, "r+");
    fseek(file, 8, SEEK_SET);
    putc(NATIVE_VERSION + 1, file);
    fclose(file);
    assert_int_equal(trace_open(path, NULL, &trace), -EPROTONOSUPPORT);
    assert_int_equal(truncate(path, 20), 0);
    assert_int_equal(trace_open(path, NULL, &trace), -ENODATA);
}

static void
test_a_file_that_is_there(void **state)
{
    struct native_writer *writer;

    (void)state;
    assert_int_equal(native_create(path, false, EPOCH, &writer), -EEXIST);
    assert_int_equal(native_create("/nowhere/x", false, EPOCH, &writer), -ENOENT);
    if (access("/dev/full", W_OK) == 0)
        assert_int_equal(native_create("/dev/full", false, EPOCH, &writer), -ENOSPC);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_of_anything),
        cmocka_unit_test(test_blocks_that_are_none),
        cmocka_unit_test(test_a_trace),
        cmocka_unit_test(test_late_arguments),
        cmocka_unit_test(test_processes_in_one_order),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_damaged_names),
        cmocka_unit_test(test_numbers_from_nowhere),
        cmocka_unit_test(test_names_are_bounded),
        cmocka_unit_test(test_times_without_end),
        cmocka_unit_test(test_other_versions),
        cmocka_unit_test(test_a_file_that_is_there),
    };

    return cmocka_run_group_tests(tests, prepare, clean);
}
