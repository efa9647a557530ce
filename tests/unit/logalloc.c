/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines of an allocation log, read and written, and lines from a descriptor. */
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

#include "files/input.h"
#include "files/logalloc.h"

static enum logalloc_verdict
parse(const char *text, enum logalloc_form form, struct logalloc_line *line)
{
    return logalloc_parse(text, strlen(text), form, line);
}

/* A line that was read is written as it was, if spelt in the usual way. */
static void
check_round(enum logalloc_form form, const char *text)
{
    struct logalloc_line line;
    char written[LOGALLOC_LINE_MAX];
    size_t length;

    assert_int_equal(LOGALLOC_GOOD, parse(text, form, &line));
    length = logalloc_format(written, form, &line);
    assert_int_equal(strlen(written), length);
    assert_int_equal('\n', written[length - 1]);
    written[length - 1] = '\0';
    assert_string_equal(text, written);
}

static void
test_every_call(void **state)
{
    static const char *const raw[] = {
        "18545 18545 malloc(32)=0x7f90495120e0",
        "1 139776712345600 calloc(1,148)=0x7f9049537480",
        "1 2 realloc(0x7f90495120e0,64)=0x7f9049536680",
        "1 2 realloc(0x0,0)=0x0",
        "1 2 free(0x0)",
        "1 2 free(0xffffffffffffffff)",
        "1 2 memalign(64,18446744073709551615)=0x1",
        "1 2 posix_memalign(256,240)=0x7f9049583300",
        "1 2 aligned_alloc(256,240)=0xabcdef",
        "1 2 valloc(0)=0x1000",
        "1 2 malloc(7)",
        "1 2 jemalloc_stats()",
    };
    static const char *const munged[] = {
        "1 2 malloc(32)=#1",
        "1 2 realloc(#18446744073709551615,64)=#2",
        "1 2 posix_memalign(256,240)=#0",
        "1 2 free(#3)",
    };

    (void)state;
    for (size_t i = 0; i < sizeof raw / sizeof *raw; i++)
        check_round(LOGALLOC_RAW, raw[i]);
    for (size_t i = 0; i < sizeof munged / sizeof *munged; i++)
        check_round(LOGALLOC_MUNGED, munged[i]);
}

static void
test_fields(void **state)
{
    struct logalloc_line line;

    (void)state;
    assert_int_equal(LOGALLOC_GOOD,
                     parse(" \t7 9 realloc(0xAb,64)=cd\r", LOGALLOC_RAW, &line));
    assert_int_equal(7, line.pid);
    assert_int_equal(9, line.tid);
    assert_int_equal(LOGALLOC_REALLOC, line.call);
    assert_int_equal(0xab, line.block);
    assert_int_equal(64, line.size);
    assert_true(line.has_result);
    assert_int_equal(0xcd, line.result);

    assert_int_equal(LOGALLOC_GOOD, parse("7 calloc(3,5)=#8", LOGALLOC_MUNGED, &line));
    assert_int_equal(7, line.tid);
    assert_int_equal(3, line.other);
    assert_int_equal(5, line.size);
    assert_int_equal(8, line.result);

    assert_int_equal(LOGALLOC_GOOD, parse("1 2 stats()", LOGALLOC_RAW, &line));
    assert_int_equal(LOGALLOC_STATS, line.call);
}

static void
test_refused(void **state)
{
    static const char *const malformed[] = {
        "", " ", "1", "1 2", "malloc(1)=0x1", "1 2 malloc 1", "1 2 malloc(1=0x1",
        "1 2 malloc)1(=0x1", "1 2 malloc(1))=0x1", "1 2 malloc((1)=0x1",
        "1 2 malloc(1)=0x1)", "1 2 malloc(1)0x1", "1 2 malloc(1) =0x1",
        "x 2 malloc(1)=0x1",
        "1 x malloc(1)=0x1", "-1 2 malloc(1)=0x1", "1  malloc(1)=0x1",
        "1 2 3 malloc(1)=0x1", "18446744073709551616 1 malloc(1)=0x1",
    };
    static const char *const unknown[] = {
        "1 2 mmap(1)=0x1", "1 2 (1)=0x1",   "1 2 mallo(1)=0x1",
        "1 2 malloc2()",   "1 2 Free(0x1)",
    };
    static const char *const misfit[] = {
        "1 2 malloc()=0x1", "1 2 malloc(1,2)=0x1", "1 2 malloc(,)=0x1",
        "1 2 malloc(x)=0x1",
        "1 2 malloc(1)=", "1 2 malloc(1)=nil", "1 2 malloc(1)=#1", "1 2 malloc(0x1)=0x1",
        "1 2 malloc(18446744073709551616)=0x1", "1 2 malloc(1)=0x10000000000000000",
        "1 2 calloc(1)=0x1", "1 2 calloc(1,2,3)=0x1", "1 2 realloc(5)=0x1",
        "1 2 realloc(0x,1)=0x1", "1 2 free()", "1 2 free(0x1)=0x1", "1 2 free(-1)",
        "1 2 jemalloc_stats(1)", "1 2 jemalloc_stats()=0x1",
    };
    struct logalloc_line line;

    (void)state;
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        if (parse(malformed[i], LOGALLOC_RAW, &line) != LOGALLOC_MALFORMED)
            fail_msg("not malformed: %s", malformed[i]);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (parse(unknown[i], LOGALLOC_RAW, &line) != LOGALLOC_UNKNOWN || line.tid != 2)
            fail_msg("not unknown: %s", unknown[i]);
    for (size_t i = 0; i < sizeof misfit / sizeof *misfit; i++)
        if (parse(misfit[i], LOGALLOC_RAW, &line) != LOGALLOC_MISFIT || line.tid != 2)
            fail_msg("no misfit: %s", misfit[i]);
    assert_int_equal(LOGALLOC_MISFIT, parse("1 2 free(0x1)", LOGALLOC_MUNGED, &line));
}

/* Nothing beyond the given length is read: each line ends at the end of memory. */
static void
test_any_bytes(void **state)
{
    static const char alphabet[] = "0123456789 (),=#xmallocfreealign_stats\n\t\0\377";
    struct logalloc_line line;

    (void)state;
    srand(1);
    for (int round = 0; round < 200000; round++) {
        size_t length = (size_t)rand() % 40;
        char *text = malloc(length + 1), *exact = text + 1;

        for (size_t i = 0; i < length; i++)
            exact[i] = alphabet[(size_t)rand() % (sizeof alphabet - 1)];
        logalloc_parse(exact, length, round % 2 ? LOGALLOC_RAW : LOGALLOC_MUNGED, &line);
        free(text);
    }
}

static void
test_longest(void **state)
{
    const struct logalloc_line line = {
        .pid = UINT64_MAX, .tid = UINT64_MAX, .call = LOGALLOC_POSIX_MEMALIGN,
        .other = UINT64_MAX, .size = UINT64_MAX, .has_result = true, .result = UINT64_MAX,
    };
    char text[LOGALLOC_LINE_MAX];

    (void)state;
    assert_true(logalloc_format(text, LOGALLOC_MUNGED, &line) < sizeof text);
    assert_true(logalloc_format(text, LOGALLOC_RAW, &line) < sizeof text);
}

/* ---- lines from a descriptor ---- */

static struct input input;

/* Makes a file without a name with these bytes. */
static int
file_with(const char *bytes, size_t size)
{
    char path[] = "/tmp/memtop-logalloc-XXXXXX";
    int fd = mkstemp(path);

    unlink(path);
    assert_int_equal(size, write(fd, bytes, size));
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static void
expect_line(const char *expected)
{
    const char *text;
    size_t length;

    assert_int_equal(1, input_line(&input, &text, &length));
    assert_int_equal(strlen(expected), length);
    assert_memory_equal(expected, text, length);
}

static void
expect_end(void)
{
    const char *text;
    size_t length;

    assert_int_equal(0, input_line(&input, &text, &length));
    assert_int_equal(0, input_line(&input, &text, &length));
    close(input.fd);
}

static void
test_lines(void **state)
{
    (void)state;
    input_init(&input, file_with("", 0));
    expect_end();
    input_init(&input, file_with("one\n\ntwo", 8));
    expect_line("one");
    expect_line("");
    expect_line("two");
    expect_end();
    input_init(&input, file_with("\n", 1));
    expect_line("");
    expect_end();
}

static void
test_long_lines(void **state)
{
    size_t size = 20 * INPUT_LINE_MAX, tail;
    char *bytes = malloc(size);
    const char *text;
    size_t length;

    (void)state;
    memset(bytes, 'x', size);
    bytes[3] = '\n';                            /* "xxx" */
    bytes[4 + INPUT_LINE_MAX] = '\n';           /* longest possible */
    bytes[6 + 2 * INPUT_LINE_MAX] = '\n';       /* one byte longer */
    bytes[size - 10] = '\n';                    /* much longer */
    tail = 9;
    input_init(&input, file_with(bytes, size));
    expect_line("xxx");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(1, input_line(&input, &text, &length));
        assert_int_equal(INPUT_LINE_MAX, length);
    }
    assert_int_equal(1, input_line(&input, &text, &length));
    assert_int_equal(tail, length);
    expect_end();
    free(bytes);
}

static void
test_pieces(void **state)
{
    int ends[2];
    const char *text;
    size_t length;

    (void)state;
    assert_int_equal(0, pipe(ends));
    input_init(&input, ends[0]);
    assert_int_equal(7, write(ends[1], "one\ntwo", 7));
    expect_line("one");
    assert_int_equal(4, write(ends[1], "ful\n", 4));
    expect_line("twoful");
    close(ends[1]);
    expect_end();

    input_init(&input, -1);
    assert_int_equal(-EBADF, input_line(&input, &text, &length));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call), cmocka_unit_test(test_fields),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_longest),    cmocka_unit_test(test_lines),
        cmocka_unit_test(test_long_lines), cmocka_unit_test(test_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
