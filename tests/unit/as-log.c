/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recorded calls as lines of a log, also if some of their events are lost. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "files/as-log.h"

static const uint64_t threads[] = {7, 0};
static const struct trace_process process = {.pid = 7, .threads = 2, .thread = threads};
static const struct trace_info info = {.process = &process, .processes = 1};

/* Takes an event and expects that line; "" for none. */
static void
take(struct as_log *log, unsigned thread, unsigned kind, uint64_t address, uint64_t size,
     const char *expected)
{
    const struct trace_event event = {
        .kind = (uint8_t)kind, .thread = thread, .address = address, .size = size};
    char text[LOGALLOC_LINE_MAX] = "";
    struct logalloc_line line;
    int made = as_log_line(log, &info, &event, &line);

    assert_in_range(made, 0, 1);
    if (made > 0)
        text[logalloc_format(text, LOGALLOC_RAW, &line)] = '\0';
    text[strcspn(text, "\n")] = '\0';
    assert_string_equal(text, expected);
}

static void
test_calls(void **state)
{
    struct as_log *log = as_log_new();

    (void)state;
    take(log, 0, FN_MALLOC, 0x10, 5, "7 7 malloc(5)=0x10");
    take(log, 0, EVENT_REALLOC_FROM, 0x10, 5, "");
    take(log, 1, EVENT_REALLOC_FROM, 0x90, 5, "");
    take(log, 0, EVENT_REALLOC_TO, 0x20, 8, "7 7 realloc(0x10,8)=0x20");
    take(log, 1, EVENT_REALLOC_FREED, 0x90, 5, "7 7 realloc(0x90,0)=0x0");
    take(log, 0, FN_FREE, 0x20, 8, "7 7 free(0x20)");
    take(log, 0, EVENT_CUSTOM_MADE, 0x20, 8, "");
    take(log, 0, TRACE_LOST, 0, 8, "");
    as_log_free(log);
}

/* A realloc() does not use the block of an earlier one. */
static void
test_beginnings_that_are_missing(void **state)
{
    struct as_log *log = as_log_new();

    (void)state;
    take(log, 0, EVENT_REALLOC_TO, 0x20, 8, "7 7 realloc(0x0,8)=0x20");
    for (unsigned kind = EVENT_REALLOC_TO; kind <= EVENT_REALLOC_KEPT; kind++) {
        take(log, 0, EVENT_REALLOC_FROM, 0x10, 5, "");
        take(log, 0, kind, 0x20, 8,
             kind == EVENT_REALLOC_TO      ? "7 7 realloc(0x10,8)=0x20"
             : kind == EVENT_REALLOC_FREED ? "7 7 realloc(0x10,0)=0x0"
                                           : "");
        take(log, 0, EVENT_REALLOC_FREED, 0x30, 5, "");
        take(log, 0, EVENT_REALLOC_TO, 0x20, 8, "7 7 realloc(0x0,8)=0x20");
    }
    as_log_free(log);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_beginnings_that_are_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
