/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compressed streams: what goes in comes out; damaged data does not. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "files/pack.h"

#define LENGTH 300000

static char text[LENGTH];
static char *packed;
static size_t packed_size;

static int
pack_text(void **state)
{
    FILE *out = open_memstream(&packed, &packed_size);
    FILE *stream = pack_writer(out);
    unsigned seed = 1;

    (void)state;
    for (size_t i = 0; i < LENGTH; i++) {
        seed = seed * 1103515245 + 12345;
        text[i] = (char)('a' + (seed >> 16) % 8);
    }
    assert_non_null(stream);
    assert_int_equal(fwrite(text, 1, LENGTH, stream), LENGTH);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(fclose(out), 0);
    return 0;
}

static int
free_text(void **state)
{
    (void)state;
    free(packed);
    return 0;
}

/* Decompresses size bytes; returns the number of bytes that came out, errno in *error. */
static size_t
unpack(const char *bytes, size_t size, int *error)
{
    static char out[LENGTH + 1];
    FILE *in = fmemopen((void *)(uintptr_t)bytes, size, "r");
    FILE *stream = pack_reader(in);
    size_t got;

    assert_non_null(stream);
    errno = 0;
    got = fread(out, 1, sizeof out, stream);
    *error = ferror(stream) ? errno : 0;
    assert_memory_equal(out, text, got < LENGTH ? got : LENGTH);
    fclose(stream);
    fclose(in);
    return got;
}

static void
test_comes_out_as_it_went_in(void **state)
{
    int error;

    (void)state;
    assert_true(packed_size < LENGTH / 2);
    assert_int_equal(unpack(packed, packed_size, &error), LENGTH);
    assert_int_equal(error, 0);
}

static void
test_cut_short(void **state)
{
    int error;

    (void)state;
    for (size_t size = 1; size < packed_size; size += 1 + size / 3) {
        assert_true(unpack(packed, size, &error) <= LENGTH);
        assert_int_equal(error, EBADMSG);
    }
    unpack(packed, packed_size - 1, &error);
    assert_int_equal(error, EBADMSG);
}

static void
test_damaged(void **state)
{
    char *copy = malloc(packed_size);
    int error;

    (void)state;
    memcpy(copy, packed, packed_size);
    copy[packed_size - 1] ^= 1; /* of the checksum */
    unpack(copy, packed_size, &error);
    assert_int_equal(error, EBADMSG);
    memset(copy, 'x', packed_size);
    assert_int_equal(unpack(copy, packed_size, &error), 0);
    assert_int_equal(error, EBADMSG);
    free(copy);
}

/* A frame that needs 128 MiB of memory to read. */
static void
test_wants_too_much_memory(void **state)
{
    static const unsigned char frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3,
                                          0x01, 0x00, 0x00};
    int error;

    (void)state;
    assert_int_equal(unpack((const char *)frame, sizeof frame, &error), 0);
    assert_int_equal(error, EBADMSG);
}

static void
test_disk_full(void **state)
{
    FILE *out = fopen("/dev/full", "w");
    FILE *stream;

    (void)state;
    assert_non_null(out);
    setvbuf(out, NULL, _IONBF, 0);
    stream = pack_writer(out);
    fwrite(text, 1, LENGTH, stream);
    errno = 0;
    assert_int_not_equal(fclose(stream), 0);
    assert_int_equal(errno, ENOSPC);
    fclose(out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comes_out_as_it_went_in),
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_wants_too_much_memory),
        cmocka_unit_test(test_disk_full),
    };

    return cmocka_run_group_tests(tests, pack_text, free_text);
}
