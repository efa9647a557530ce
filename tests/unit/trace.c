/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kind of a file of recorded calls, and bytes from a descriptor. */
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
#include "files/input.h"
#include "files/trace.h"

static void
test_what_is_no_trace(void **state)
{
    struct trace *trace = NULL;

    (void)state;
    file_holds("", 0);
    assert_int_equal(trace_open(path, NULL, &trace), -ENODATA);
    file_holds("\177ELF\2\1\1", 7);
    assert_int_equal(trace_open(path, NULL, &trace), -ENOEXEC);
    file_holds("Dear diary,\n", 12);
    assert_int_equal(trace_open(path, NULL, &trace), -ENOEXEC);
    assert_int_equal(trace_open("/", NULL, &trace), -EISDIR);
    assert_int_equal(trace_open("/nowhere/at/all", NULL, &trace), -ENOENT);
    assert_null(trace);
}

/* A file that grows while it is read ends where it ended when it was opened. */
static void
test_a_file_that_grows(void **state)
{
    static const char line[] = "7 7 malloc(10)=0x10\n";
    struct trace_event events[8];
    struct trace *trace;
    FILE *file;

    (void)state;
    file_holds(line, sizeof line - 1);
    assert_int_equal(trace_open(path, NULL, &trace), 0);
    file = fopen(path, "a");
    assert_non_null(file);
    assert_true(fputs(line, file) >= 0 && fclose(file) == 0);
    while (trace_read(trace, events, 8) > 0)
        ;
    assert_int_equal(trace_about(trace)->process[0].pid, 7);
    assert_int_equal(trace_about(trace)->refused, 0);
    assert_int_equal(trace_about(trace)->events, 1);
    trace_close(trace);
}

/* Bytes and lines come from the same input, whichever is read first. */
static void
test_bytes_after_a_look(void **state)
{
    static struct input input;
    const char *text;
    char bytes[8];
    size_t size;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "one\ntwo\nthree", 13), 13);
    close(ends[1]);
    input_init(&input, ends[0]);
    assert_int_equal(input_peek(&input, INPUT_LINE_MAX, &text, &size), 0);
    assert_int_equal(size, 13);
    assert_memory_equal(text, "one\n", 4);
    assert_int_equal(input_line(&input, &text, &size), 1);
    assert_int_equal(size, 3);
    assert_int_equal(input_bytes(&input, bytes, 4), 4);
    assert_memory_equal(bytes, "two\n", 4);
    assert_int_equal(input.taken, 8);
    assert_int_equal(input_bytes(&input, bytes, 8), 5);
    assert_memory_equal(bytes, "three", 5);
    assert_int_equal(input_bytes(&input, bytes, 8), 0);
    close(ends[0]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_no_trace),
        cmocka_unit_test(test_a_file_that_grows),
        cmocka_unit_test(test_bytes_after_a_look),
    };

    return cmocka_run_group_tests(tests, file_make, file_remove);
}
