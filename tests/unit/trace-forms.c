/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Logs and tables of events, read as recorded calls. */
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
#include "files/trace.h"

static int
open_text(const char *text, struct trace **trace)
{
    file_holds(text, strlen(text));
    return trace_open(path, NULL, trace);
}

/* Reads a whole file, at_once events at a time; adds one whose kind is 255. */
static struct trace *
read_text(const char *text, struct trace_event *events, size_t room, size_t at_once)
{
    struct trace *trace = NULL;
    size_t count = 0;
    long got;

    assert_int_equal(open_text(text, &trace), 0);
    while ((got = trace_read(trace, events + count, at_once)) > 0) {
        count += (size_t)got;
        assert_true(count + at_once < room);
    }
    assert_int_equal(got, 0);
    events[count].kind = 255;
    return trace;
}

static void
expect(const struct trace_event *event, int kind, uint64_t address, uint64_t size)
{
    assert_int_equal(event->kind, kind);
    assert_int_equal(event->address, address);
    assert_int_equal(event->size, size);
}

static void
test_table(void **state)
{
    struct trace_event events[32];
    struct trace *trace = read_text("t_ms,op,addr,size\r\n"
                                    "0,alloc,0xfF,10\n"
                                    "1.5,free,255,\n"
                                    "\n"
                                    "nonsense\n"
                                    "1,alloc,name,18446744073709551615\n"
                                    "2,free,name,7\n"
                                    "2,free,other,0\n"
                                    "3,alloc,x,\n"
                                    "3,alloc,x,99999999999999999999\n"
                                    "3,take,x,1\n"
                                    "3,alloc,,1\n"
                                    "18446744073709551615,alloc,x,1\n"
                                    "3,alloc,x,1,2\n",
                                    events, 32, 8);

    (void)state;
    expect(&events[0], FN_MALLOC, 255, 10);
    expect(&events[1], FN_FREE, 255, 0);
    assert_int_equal(events[1].time_ns, 1500000);
    assert_int_equal(events[2].size, UINT64_MAX);
    assert_int_equal(events[2].time_ns, 1500000); /* times never go back */
    assert_int_equal(events[3].time_ns, 2000000);
    assert_int_equal(events[3].address, events[2].address);
    assert_true(events[4].address != events[3].address);
    assert_int_equal(events[5].kind, 255);
    const struct trace_info *about = trace_about(trace);
    assert_int_equal(about->kind, KIND_CSV);
    assert_true(about->has_time);
    assert_int_equal(about->refused, 7);
    assert_int_equal(about->refused_first, 5);
    assert_int_equal(about->processes, 1);
    assert_int_equal(about->ended_ns, 2000000);
    trace_close(trace);
}

static void
test_log(void **state)
{
    static const char text[] = "7 7 malloc(10)=0x10\n"
                               "7 8 realloc(0x10,20)=0x20\n"
                               "9 9 calloc(3,5)=0x10\n"
                               "7 7 realloc(0x20,0)=0x0\n"
                               "7 7 realloc(0x30,5)=0x0\n"
                               "7 7 malloc(99)=0x0\n"
                               "7 7 free(0x0)\n"
                               "rubbish\n"
                               "7 7 memalign(64,100)=0x40\n"
                               "7 7 realloc(0x0,6)=0x50\n"
                               "7 7 free(0x40)\n"
                               "7 7 jemalloc_stats()\n";

    (void)state;
    for (size_t at_once = 1; at_once < 12; at_once++) {
        struct trace_event events[40];
        struct trace *trace = read_text(text, events, 40, at_once);
        const struct trace_info *about = trace_about(trace);

        expect(&events[0], FN_MALLOC, 0x10, 10);
        expect(&events[1], EVENT_REALLOC_FROM, 0x10, 0);
        expect(&events[2], EVENT_REALLOC_TO, 0x20, 20);
        assert_int_equal(events[2].thread, 1);
        expect(&events[3], FN_CALLOC, 0x10, 15);
        assert_int_equal(events[3].process, 1);
        expect(&events[4], EVENT_REALLOC_FROM, 0x20, 0);
        expect(&events[5], EVENT_REALLOC_FREED, 0, 0);
        expect(&events[6], EVENT_REALLOC_FROM, 0x30, 0);
        expect(&events[7], EVENT_REALLOC_KEPT, 0, 0);
        expect(&events[8], FN_MEMALIGN, 0x40, 100);
        assert_int_equal(events[8].alignment, 6);
        expect(&events[9], FN_REALLOC, 0x50, 6);
        expect(&events[10], FN_FREE, 0x40, 0);
        assert_int_equal(events[10].time_ns, 10); /* the number of the event */
        assert_int_equal(events[11].kind, 255);
        assert_int_equal(about->kind, KIND_LOG);
        assert_false(about->has_time);
        assert_int_equal(about->processes, 2);
        assert_int_equal(about->process[0].pid, 7);
        assert_int_equal(about->process[0].threads, 2);
        assert_int_equal(about->process[0].thread[1], 8);
        assert_int_equal(about->refused, 1);
        assert_int_equal(about->refused_first, 8);
        trace_close(trace);
    }
}

static void
test_munged_log(void **state)
{
    struct trace_event events[16];
    struct trace *trace = read_text("1 1 malloc(5)=#1\n1 1 realloc(#1,8)=#2\n"
                                    "1 1 free(#2)",
                                    events, 16, 8);

    (void)state;
    expect(&events[0], FN_MALLOC, 1, 5);
    expect(&events[2], EVENT_REALLOC_TO, 2, 8);
    expect(&events[3], FN_FREE, 2, 0);
    assert_int_equal(events[4].kind, 255);
    trace_close(trace);
}

static void
test_what_is_none(void **state)
{
    struct trace *trace;

    (void)state;
    assert_int_equal(open_text("", &trace), -ENODATA);
    assert_int_equal(open_text("t_ms,op,addr,sizes\n", &trace), -ENOEXEC);
    assert_int_equal(open_text("hello\n", &trace), -ENOEXEC);
    assert_int_equal(open_text("\n\n", &trace), -ENOEXEC);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_munged_log),
        cmocka_unit_test(test_what_is_none),
    };

    return cmocka_run_group_tests(tests, file_make, file_remove);
}
