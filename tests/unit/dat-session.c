/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data files as sessions. */
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
#include "files/dat.h"
#include "files/open.h"

#define START UINT64_C(1700000000000000000) /* ns since the Epoch */
#define SECOND UINT64_C(1000000000)

static struct dat_writer *
create(uint64_t start)
{
    struct dat_writer *writer;

    assert_int_equal(dat_create(path, true, start, 100, &writer), 0);
    return writer;
}

static void
add(struct dat_writer *writer, uint64_t time, uint64_t heap, uint64_t stack)
{
    const struct dat_record record = {heap, stack, time};

    assert_int_equal(dat_write(writer, &record), 0);
}

static uint64_t told_done, told_all;

static void
tell(void *context, uint64_t done, uint64_t all)
{
    assert_ptr_equal(context, path);
    assert_true(done >= told_done && done < all);
    told_done = done;
    told_all = all;
}

static struct session *
opened(void)
{
    const struct trace_progress progress = {tell, path};
    struct saved *saved = NULL;
    struct session *session;

    told_done = told_all = 0;
    assert_int_equal(dat_session(path, &progress, &saved), 0);
    session = session_new_saved(saved);
    assert_non_null(session);
    return session;
}

static struct column
column_at(const struct session *session, enum series series, int64_t from, int64_t to)
{
    struct column column;

    history_columns(session_history(session), series, from, to, &column, 1);
    return column;
}

/* Ten seconds: a peak in the second one, then nothing, then a call at the end. */
static void
test_heap_over_time(void **state)
{
    struct dat_writer *writer = create(START);
    const struct process *process;
    struct session *session;
    static struct process then;
    size_t index;
    const struct checkpoints *moments;

    (void)state;
    for (unsigned i = 0; i < 1000; i++)
        add(writer, START + i * SECOND / 1000, 100 + i, 64);
    add(writer, START + SECOND + 500, 1000000, 128);
    add(writer, START + SECOND + 600, 5000, 128);
    add(writer, START + 9 * SECOND, 6000, 32);
    assert_int_equal(dat_close(writer, START + 10 * SECOND), 0);
    session = opened();
    process = session_process(session);
    assert_true(process->ended && process->measured);
    assert_int_equal(process->state, STATE_GONE);
    assert_int_equal(process->missing, PART_COUNTERS | PART_SIZES);
    assert_int_equal(process->run_ns, 10 * SECOND);
    assert_int_equal(process->now.live_bytes, 6000);
    assert_int_equal(process->now.peak_bytes, 1000000);
    assert_int_equal(process->now.stack_peak, 128);
    assert_string_equal(session_command(session), path);

    assert_int_equal(column_at(session, SERIES_HEAP, 0, SECOND * 10).max, 1000000);
    assert_in_range(column_at(session, SERIES_HEAP, 0, SECOND / 2).max, 598, 603);
    /* Nothing happened: the heap stayed the same and there were no calls. */
    assert_int_equal(column_at(session, SERIES_HEAP, 3 * SECOND, 8 * SECOND).max, 5000);
    assert_int_equal(column_at(session, SERIES_CALLS, 3 * SECOND, 8 * SECOND).max, 0);
    assert_true(column_at(session, SERIES_CALLS, 3 * SECOND, 8 * SECOND).known);
    /* Two or three calls in a slot of 2.4 ms. */
    assert_in_range(column_at(session, SERIES_CALLS, SECOND / 4, SECOND / 2).last, 700,
                    1300);
    assert_false(column_at(session, SERIES_RSS, 0, SECOND).known);
    assert_int_equal(column_at(session, SERIES_STACK, 9 * SECOND + 1, 10 * SECOND).last,
                     32);

    moments = session_shown(session)->checkpoints;
    assert_true(checkpoints_count(moments) > 40);
    assert_true(checkpoints_find(moments, SECOND / 2, &index));
    then = *process;
    checkpoints_restore(moments, index, &then);
    assert_in_range(then.now.live_bytes, 550, 602);
    assert_in_range(then.now.peak_bytes, 550, 602);
    assert_int_equal(then.missing, PART_COUNTERS | PART_SIZES);
    session_free(session);
}

/* Ticks of an unknown clock. */
static void
test_time_without_unit(void **state)
{
    struct dat_writer *writer = create(123456);
    struct session *session;

    (void)state;
    add(writer, 123456, 10, 1);
    add(writer, 123456 + 500, 20, 2);
    assert_int_equal(dat_close(writer, 123456 + 1000), 0);
    session = opened();
    assert_true(session_process(session)->missing & PART_CLOCK);
    assert_int_equal(session_process(session)->run_ns, PROCESS_RUN_PARTS);
    assert_int_equal(
        column_at(session, SERIES_HEAP, 0, PROCESS_RUN_PARTS * 4 / 10).max, 10);
    assert_int_equal(
        column_at(session, SERIES_HEAP, PROCESS_RUN_PARTS * 6 / 10, PROCESS_RUN_PARTS)
            .max,
        20);
    assert_false(column_at(session, SERIES_CALLS, 0, PROCESS_RUN_PARTS).known);
    assert_true(session_message_count(session) >= 2);
    session_free(session);
}

static void
test_empty_and_short(void **state)
{
    struct dat_writer *writer = create(START);
    struct saved *saved;
    struct session *session;
    int64_t first, last;
    FILE *file;

    (void)state;
    assert_int_equal(dat_close(writer, START + SECOND), 0);
    session = opened();
    assert_false(history_span(session_history(session), &first, &last));
    session_free(session);
    writer = create(START);
    add(writer, START, 7, 7);
    assert_int_equal(dat_close(writer, START), 0);
    session = opened();
    assert_int_equal(session_process(session)->now.live_bytes, 7);
    assert_true(history_span(session_history(session), &first, &last));
    session_free(session);
    file = fopen(path, "w");
    fputs("short", file);
    fclose(file);
    assert_int_equal(dat_session(path, NULL, &saved), -EBADMSG);
    assert_int_equal(dat_session("/no/such/file", NULL, &saved), -ENOENT);
}

/* So many that slots merge, with all values a file may hold. */
static void
test_many_and_wild(void **state)
{
    struct dat_writer *writer = create(START);
    struct session *session;
    uint64_t seed = 88172645463325252u, time = START, most = 0;

    (void)state;
    for (unsigned i = 0; i < 200000; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        time += seed % 1000000;
        add(writer, seed % 50 ? time : seed, seed >> 3, seed % 777777);
        most = seed >> 3 > most ? seed >> 3 : most;
    }
    assert_int_equal(dat_close(writer, time), 0);
    session = opened();
    assert_int_equal(session_process(session)->now.peak_bytes, most);
    assert_int_equal(column_at(session, SERIES_HEAP, 0, INT64_MAX - 1).max, most);
    assert_true(told_done > told_all * 9 / 10);
    session_free(session);
}

static void
test_recognises(void **state)
{
    (void)state;
    assert_true(dat_recognise("\0\0\0\0\0\0\0\0x", 9));
    assert_false(dat_recognise("\0\0\0\0\0\0\0\0", 7));
    assert_false(dat_recognise("\0\0\0\0\0\0\0x", 8));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heap_over_time),
        cmocka_unit_test(test_time_without_unit),
        cmocka_unit_test(test_empty_and_short),
        cmocka_unit_test(test_many_and_wild),
        cmocka_unit_test(test_recognises),
    };

    return cmocka_run_group_tests(tests, file_make, file_remove);
}
