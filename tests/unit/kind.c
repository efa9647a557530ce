/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kinds of files, recognised by their first bytes, however these arrive. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "scratch-file.h"
#include "files/kind.h"
#include "files/native-format.h"
#include "files/pack.h"

static void
expect(enum file_kind wanted, const void *bytes, size_t size)
{
    enum file_kind kind = KINDS;

    assert_int_equal(kind_of_bytes(bytes, size, true), wanted);
    file_holds(bytes, size);
    assert_int_equal(kind_of_file(path, &kind), 0);
    assert_int_equal(kind, wanted);
}

static void
expect_text(enum file_kind wanted, const char *text)
{
    expect(wanted, text, strlen(text));
}

static void
test_texts(void **state)
{
    (void)state;
    expect_text(KIND_EMPTY, "");
    expect_text(KIND_TEXT, "\n\n");
    expect_text(KIND_TEXT, "root:x:0:0:root:/root:/bin/sh\n");
    expect_text(KIND_TEXT, "Größe: 3 µs\n");
    expect_text(KIND_BINARY, "\177ELF\2\1\1");
    expect(KIND_BINARY, "a\0b", 3);
    expect_text(KIND_CSV, "t_ms,op,addr,size\r\n");
    expect_text(KIND_CSV, "t_ms,op,addr,size");
    expect_text(KIND_TEXT, "t_ms,op,addr,sizes\n");
    expect_text(KIND_LOG, "7 7 malloc(5)=0x10\n");
    expect_text(KIND_LOG, "\r\n\n7 free(0x10)");
    expect_text(KIND_LOG, "what a program prints\n7 7 malloc(5)=0x10\n");
    expect_text(KIND_LOG, "1 1 jemalloc_stats()\n");
    expect_text(KIND_MUNGED, "1 1 jemalloc_stats()\n1 1 malloc(5)=#1\n");
    expect_text(KIND_MUNGED, "1 1 malloc(5)=#1\n7 7 malloc(5)=0x10\n");
    expect_text(KIND_TEXT, "1 1 brk(5)=0x10\n");
}

static void
test_sessions(void **state)
{
    (void)state;
    expect_text(KIND_SESSION, "{\"v\":1,\"type\":\"session\"}\n{");
    expect_text(KIND_SESSION, "{\"v\":2,\"type\":\"session\"}"); /* a later version */
    expect_text(KIND_TEXT, "{\"v\":1,\"type\":\"trace\"}\n\"session\"\n");
    expect_text(KIND_TEXT, "{}");
    expect(KIND_SESSION, "\x28\xb5\x2f\xfd", 4); /* cut before anything can be read */
}

/* Compresses a text; returns its size. */
static size_t
compress(const char *text, char *bytes, size_t size)
{
    FILE *out = fmemopen(bytes, size, "w"), *pack = pack_writer(out);
    long length;

    assert_non_null(pack);
    assert_true(fputs(text, pack) >= 0);
    assert_int_equal(fclose(pack), 0);
    length = ftell(out);
    fclose(out);
    return (size_t)length;
}

static void
test_compressed(void **state)
{
    char bytes[1024];
    size_t size = compress("{\"v\":1,\"type\":\"session\"}\n", bytes, sizeof bytes);

    (void)state;
    expect(KIND_SESSION, bytes, size);
    expect(KIND_SESSION, bytes, size / 2); /* cut */
    size = compress("a letter\n", bytes, sizeof bytes);
    expect(KIND_BINARY, bytes, size);
}

static void
test_traces(void **state)
{
    char bytes[64] = NATIVE_MAGIC;

    (void)state;
    expect(KIND_TRACE, bytes, sizeof bytes);
    bytes[8] = 99; /* a later version */
    expect(KIND_TRACE, bytes, sizeof bytes);
    expect(KIND_TRACE, bytes, NATIVE_MAGIC_SIZE);
    expect(KIND_TEXT, "mtrace\n", 7);
}

/* ---- data files ---- */

struct raw {
    uint64_t heap, stack, time;
};

static void
expect_data(enum file_kind wanted, struct raw first, struct raw second)
{
    const struct raw records[] = {first, second, {5, 5, 5}};

    expect(wanted, records, sizeof records);
}

static void
test_data_files(void **state)
{
    static const char zeros[100];

    (void)state;
    expect_data(KIND_DAT, (struct raw){0, 9, 5}, (struct raw){9, 9, 99});
    expect_data(KIND_DAT, (struct raw){0, 0, 7}, (struct raw){0, 0, 7}); /* killed */
    expect_data(KIND_DAT, (struct raw){0, 7, 0}, (struct raw){5, 4, 3}); /* made from a
                                                                            log */
    /* memusage may count a heap below zero. */
    expect_data(KIND_DAT, (struct raw){0, 90, 5}, (struct raw){UINT64_MAX - 8, 96, 6});
    expect_data(KIND_BINARY, (struct raw){1, 9, 5}, (struct raw){9, 9, 99});
    expect_data(KIND_BINARY, (struct raw){0, 9, 50}, (struct raw){9, 9, 49});
    expect_data(KIND_BINARY, (struct raw){0, 1, 2}, (struct raw){3, 4, 5});
    expect_data(KIND_BINARY, (struct raw){0, 9, 5}, (struct raw){4, 4, 6});
    expect(KIND_BINARY, zeros, sizeof zeros);
    expect(KIND_BINARY, zeros, 30);
    expect(KIND_DAT, &(struct raw){0, 9, 5}, 20); /* cut */
    expect(KIND_BINARY, &(struct raw){0, 9, 5}, 7);
}

/* ---- not regular files, or in pieces ---- */

static void
test_no_file(void **state)
{
    enum file_kind kind;

    (void)state;
    assert_int_equal(kind_of_file("/nowhere/at/all", &kind), -ENOENT);
    assert_int_equal(kind_of_file("/", &kind), -EISDIR);
    assert_int_equal(kind_of_file("-", &kind), 0);
    assert_int_equal(kind, KIND_STREAM);
    assert_int_equal(kind_of_file("/dev/null", &kind), 0);
    assert_int_equal(kind, KIND_STREAM);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(kind_of_file(path, &kind), 0); /* without a writer, so it must not
                                                       be opened */
    assert_int_equal(kind, KIND_STREAM);
    unlink(path);
    file_holds("", 0);
}

static void
test_bytes_still_to_come(void **state)
{
    static const char session[] = "{\"v\":1,\"type\":\"session\"}\n";
    static const char data[48] = {[8] = 9, [16] = 5, [24] = 9, [32] = 9, [40] = 6};

    (void)state;
    for (size_t size = 0; size < sizeof session - 1; size++)
        assert_true(kind_of_bytes(session, size, false) < KIND_STREAM);
    assert_int_equal(kind_of_bytes(session, sizeof session - 1, false), KIND_SESSION);
    for (size_t size = 0; size < sizeof data; size++)
        assert_true(kind_of_bytes(data, size, false) < KIND_STREAM);
    assert_int_equal(kind_of_bytes(data, sizeof data, false), KIND_DAT);
    assert_true(kind_of_bytes("t_ms,op,addr,size", 17, false) < KIND_STREAM);
    assert_true(kind_of_bytes("7 7 malloc(5)=0x1", 17, false) < KIND_STREAM);
}

/* The writer keeps the pipe open, so its end must not be waited for. */
static void
test_a_pipe(void **state)
{
    static const char line[] = "7 7 malloc(5)=0x10\n";
    static struct input input;
    enum file_kind kind;
    const char *text;
    size_t length;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], line, sizeof line - 1), sizeof line - 1);
    input_init(&input, ends[0]);
    assert_int_equal(kind_of_input(&input, &kind), 0);
    assert_int_equal(kind, KIND_LOG);
    assert_int_equal(input_line(&input, &text, &length), 1);
    assert_int_equal(length, sizeof line - 2); /* the line was not taken */
    close(ends[1]);
    assert_int_equal(kind_of_input(&input, &kind), 0);
    assert_int_equal(kind, KIND_EMPTY);
    close(ends[0]);
}

static void
test_long_text(void **state)
{
    static char bytes[2 * KIND_BYTES];
    enum file_kind kind;

    (void)state;
    memset(bytes, 'x', sizeof bytes);
    file_holds(bytes, sizeof bytes);
    assert_int_equal(kind_of_file(path, &kind), 0);
    assert_int_equal(kind, KIND_TEXT);
    strcpy(bytes + KIND_BYTES - 100, "\n7 7 malloc(5)=0x10\n");
    file_holds(bytes, sizeof bytes);
    assert_int_equal(kind_of_file(path, &kind), 0);
    assert_int_equal(kind, KIND_LOG);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_sessions),
        cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_traces),
        cmocka_unit_test(test_data_files),
        cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_bytes_still_to_come),
        cmocka_unit_test(test_a_pipe),
        cmocka_unit_test(test_long_text),
    };

    return cmocka_run_group_tests(tests, file_make, file_remove);
}
