/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Traces as sessions: figures, sizes and threads at the end and at earlier moments, and
   all processes. */
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
#include "monitor/checkpoints.h"
#include "files/native.h"
#include "monitor/timeline.h"
#include "files/open.h"

#define EPOCH INT64_C(1700000000000000000)
#define SLOTS 8192u
#define MS UINT64_C(1000000)

static struct trace_event
event_at(uint64_t ms, unsigned kind, uint64_t address, uint64_t size, unsigned thread)
{
    return (struct trace_event){.time_ns = ms * MS, .kind = (uint8_t)kind,
                                .address = address, .size = size, .thread = thread,
                                .depth = 100 + thread};
}

static struct trace_process
process_of(uint64_t pid, uint64_t parent, uint32_t generation, const char *program,
           uint64_t began_ms)
{
    return (struct trace_process){
        .pid = pid, .parent = parent, .generation = generation,
        .program = (char *)program, .args = (char *)program,
        .args_size = strlen(program) + 1, .accounting = 1, .began_ns = began_ms * MS};
}

static struct session *
opened(void)
{
    struct saved *saved = NULL;
    struct session *session;

    assert_int_equal(trace_session(path, NULL, &saved), 0);
    session = session_new_saved(saved);
    assert_non_null(session);
    return session;
}

/* "sh" runs for 10 ms, forks "ls", and becomes "cat" with two threads. */
static void
write_family(void)
{
    const struct trace_process sh = process_of(10, 1, 0, "/bin/sh", 5);
    const struct trace_process ls = process_of(11, 10, 0, "ls", 7);
    const struct trace_process cat = process_of(10, 1, 1, "cat", 15);
    const struct trace_event of_sh[] = {event_at(6, FN_MALLOC, 0x10, 1000, 0)};
    const struct trace_event of_ls[] = {event_at(8, FN_MALLOC, 0x10, 70, 0),
                                        event_at(9, FN_FREE, 0x10, 70, 0)};
    const struct trace_event of_cat[] = {
        event_at(16, FN_MALLOC, 0x10, 100, 0),
        event_at(20, FN_CALLOC, 0x200, 50, 1),
        event_at(30, EVENT_REALLOC_FROM, 0x10, 100, 0),
        event_at(30, EVENT_REALLOC_TO, 0x10, 300, 0),
        event_at(40, EVENT_REALLOC_FROM, 0x10, 300, 0),
        event_at(40, EVENT_REALLOC_TO, 0x400, 200, 0),
        event_at(50, EVENT_REALLOC_FROM, 0x400, 200, 0),
        event_at(50, EVENT_REALLOC_KEPT, 0x400, 200, 0),
        event_at(60, EVENT_REALLOC_FROM, 0x400, 200, 0),
        event_at(60, EVENT_REALLOC_FREED, 0x400, 200, 0),
        event_at(65, TRACE_LOST, 0, 7, 0),
        event_at(70, FN_REALLOC, 0x600, 8, 1),
    };
    struct native_writer *writer;

    assert_int_equal(native_create(path, true, EPOCH, &writer), 0);
    assert_int_equal(native_process(writer, &sh), 0);
    assert_int_equal(native_thread(writer, 0, 10), 0);
    assert_int_equal(native_events(writer, 0, of_sh, 1), 0);
    assert_int_equal(native_process(writer, &ls), 1);
    assert_int_equal(native_thread(writer, 1, 11), 0);
    assert_int_equal(native_events(writer, 1, of_ls, 2), 0);
    assert_int_equal(native_ended(writer, 1, 10 * MS), 0);
    assert_int_equal(native_ended(writer, 0, 15 * MS), 0);
    assert_int_equal(native_process(writer, &cat), 2);
    assert_int_equal(native_thread(writer, 2, 10), 0);
    assert_int_equal(native_thread(writer, 2, 12), 1);
    assert_int_equal(native_events(writer, 2, of_cat, sizeof of_cat / sizeof *of_cat), 0);
    assert_int_equal(native_ended(writer, 2, 105 * MS), 0);
    assert_int_equal(native_close(writer, 200 * MS), 0);
}

static void
check_counts(const struct snapshot *now)
{
    assert_int_equal(now->calls[FN_MALLOC], 1);
    assert_int_equal(now->calls[FN_CALLOC], 1);
    assert_int_equal(now->calls[FN_REALLOC], 5);
    assert_int_equal(now->bytes[FN_MALLOC], 100);
    assert_int_equal(now->bytes[FN_REALLOC], 208); /* bytes by which blocks grew */
    assert_int_equal(now->bytes[FN_FREE], 200);
    assert_int_equal(now->realloc_inplace, 1);
    assert_int_equal(now->realloc_dec, 1);
    assert_int_equal(now->realloc_freed, 1);
    assert_int_equal(now->failed[FN_REALLOC], 1);
    assert_int_equal(now->live_bytes, 58);
    assert_int_equal(now->live_blocks, 2);
    assert_int_equal(now->peak_bytes, 350);
    assert_int_equal(now->total_bytes, 358);
    assert_int_equal(now->threads, 2);
    assert_int_equal(now->stack_peak, 101);
}

static void
test_family(void **state)
{
    static struct thread threads[4];
    struct session *session;
    const struct process *process;
    struct process before;
    size_t moment;

    (void)state;
    write_family();
    session = opened();
    process = session_process(session);
    assert_string_equal(session_command(session), "cat");
    assert_true(process->measured && process->ended);
    assert_int_equal(process->missing, PART_USABLE | PART_VAIN);
    assert_int_equal(process->pid, 10);
    assert_int_equal(process->generations, 2);
    assert_int_equal(process->run_ns, 100 * MS);
    check_counts(&process->now);
    assert_int_equal(process->sizes.allocated[histogram_cell(300)], 1);
    assert_int_equal(process->sizes.live[histogram_coarse(300)], 0);
    assert_int_equal(process->sizes.live[histogram_coarse(50)], 1);
    assert_int_equal(session_threads(session, threads, 4), 2);
    assert_int_equal(threads[1].counters.tid, 12);
    assert_int_equal(threads[1].counters.calls, 2);
    assert_int_equal(threads[1].counters.allocated, 58);

    /* Until 30 ms of the run nothing had shrunk. */
    before = *process;
    assert_true(checkpoints_find(session_root(session)->checkpoints, 34 * (int64_t)MS,
                                 &moment));
    checkpoints_restore(session_root(session)->checkpoints, moment, &before);
    assert_int_equal(before.now.live_bytes, 350);
    assert_int_equal(before.now.realloc_dec, 0);

    assert_int_equal(process_list_count(session_processes(session)), 2);
    assert_int_equal(process_list_at(session_processes(session), 0)->pid, 10);
    assert_string_equal(process_list_at(session_processes(session), 0)->before, "sh");
    assert_int_equal(process_list_at(session_processes(session), 1)->pid, 11);
    assert_int_equal(process_list_at(session_processes(session), 1)->heap_peak, 70);
    assert_int_equal(process_list_at(session_processes(session), 1)->run_ns, 3 * MS);
    assert_int_equal(session_message_count(session), 2); /* what it is; that 7 are lost */
    session_free(session);
}

/* Only a header. */
static void
test_nothing(void **state)
{
    struct native_writer *writer;
    struct session *session;

    (void)state;
    assert_int_equal(native_create(path, true, EPOCH, &writer), 0);
    assert_int_equal(native_close(writer, 5), 0);
    session = opened();
    assert_string_equal(session_command(session), path);
    assert_int_equal(session_process(session)->now.peak_bytes, 0);
    session_free(session);
}

/* However long the run becomes, no peak is lost and all slots have the same length. */
static void
test_timeline(void **state)
{
    struct timeline *timeline = timeline_new(SLOTS, 16384);
    struct history *history;
    uint64_t peak;
    int64_t when;

    (void)state;
    for (uint64_t i = 0; i < 50000; i++) {
        timeline_reach(timeline, i * MS);
        timeline_add(timeline, i * MS, i == 31234 ? 1000000 : i, 5, true);
    }
    assert_true(timeline->count <= SLOTS && timeline->count > SLOTS / 3);
    history = timeline_history(timeline, 60000 * MS, true, true);
    assert_true(history_peak(history, SERIES_HEAP, 0, 60000 * (int64_t)MS, &peak, &when));
    assert_int_equal(peak, 1000000);
    assert_in_range(when, 31234 * MS, 31250 * MS);
    assert_true(
        history_peak(history, SERIES_CALLS, 0, 40000 * (int64_t)MS, &peak, &when));
    assert_in_range(peak, 900, 1300);
    history_free(history);
    timeline_free(timeline);
}

/* A log has no depths of stacks: they are not known, rather than 0. */
static void
test_log(void **state)
{
    static const char log[] = "7 7 malloc(100)=0x10\n7 7 free(0x10)\n";
    const struct history *history;
    struct session *session;
    uint64_t peak;
    int64_t when;

    (void)state;
    file_holds(log, sizeof log - 1);
    session = opened();
    assert_int_equal(session_process(session)->missing,
                     PART_USABLE | PART_VAIN | PART_CLOCK | PART_STACK);
    history = session_history(session);
    assert_true(history_peak(history, SERIES_HEAP, 0, INT64_MAX, &peak, &when));
    assert_int_equal(peak, 100);
    assert_false(history_peak(history, SERIES_STACK, 0, INT64_MAX, &peak, &when));
    session_free(session);
}

/* Whatever a file says, runs are limited to the longest that can be shown. */
static void
test_times_without_end(void **state)
{
    static const uint64_t times[] = {
        PROCESS_RUN_MAX_NS, INT64_MAX - 1, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX - 1,
        UINT64_MAX};
    static const char table[] = "t_ms,op,addr,size\n9223372036854,alloc,1,5\n"
                                "9223372036855,alloc,2,5\n18446744073709,alloc,3,5\n";

    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const struct trace_process process = process_of(10, 1, 0, "sh", 5);
        struct trace_event event = event_at(6, FN_MALLOC, 0x10, 1000, 0);
        struct native_writer *writer;
        struct session *session;

        assert_int_equal(native_create(path, true, EPOCH, &writer), 0);
        assert_int_equal(native_process(writer, &process), 0);
        assert_int_equal(native_thread(writer, 0, 10), 0);
        assert_int_equal(native_events(writer, 0, &event, 1), 0);
        event.time_ns = times[i];
        assert_int_equal(native_events(writer, 0, &event, 1), 0);
        assert_int_equal(native_ended(writer, 0, times[i]), 0);
        assert_int_equal(native_close(writer, times[i]), 0);
        session = opened();
        assert_true(session_process(session)->run_ns > 0);
        assert_true((uint64_t)session_process(session)->run_ns <= PROCESS_RUN_MAX_NS);
        assert_int_equal(session_process(session)->now.live_bytes, 2000);
        session_free(session);
    }
    file_holds(table, sizeof table - 1);
    struct session *session = opened();
    assert_int_equal(session_process(session)->now.live_bytes, 5);
    assert_true((uint64_t)session_process(session)->run_ns <= PROCESS_RUN_MAX_NS);
    session_free(session);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_family),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_timeline),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_times_without_end),
    };

    return cmocka_run_group_tests(tests, file_make, file_remove);
}
