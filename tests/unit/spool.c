/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A spool of 16 bytes, compared with what went in: complete, with a gap, in steps of any
   size. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "system/spool.h"

#define ROOM 16

struct read_back {
    char bytes[256];
    size_t used;
    uint64_t gap;
    size_t gap_at;
};

static int
take(void *context, const char *bytes, size_t count)
{
    struct read_back *back = context;

    assert_true(back->used + count <= sizeof back->bytes);
    memcpy(back->bytes + back->used, bytes, count);
    back->used += count;
    return 0;
}

static int
take_gap(void *context, uint64_t bytes)
{
    struct read_back *back = context;

    assert_int_equal(back->gap, 0);
    back->gap = bytes;
    back->gap_at = back->used;
    return 0;
}

static int
refuse(void *context, const char *bytes, size_t count)
{
    (void)context;
    (void)bytes;
    (void)count;
    return -7;
}

static void
test_all_lengths(void **state)
{
    char all[200];

    (void)state;
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (char)(i * 37 + i / 16);
    for (size_t length = 0; length <= 100; length++) {
        for (size_t step = 1; step <= 40; step += 3) {
            struct spool *spool = spool_new(ROOM);
            struct read_back back = {0};
            const struct spool_reader reader = {take, take_gap, &back};
            size_t tail = length > ROOM ? length - ROOM / 2 : ROOM / 2;

            for (size_t at = 0; at < length; at += step)
                spool_append(spool, all + at, length - at < step ? length - at : step);
            assert_int_equal(0, spool_read(spool, &reader));
            if (length <= ROOM) {
                assert_int_equal(back.used, length);
                assert_memory_equal(back.bytes, all, length);
                assert_int_equal(back.gap, 0);
            } else {
                assert_int_equal(back.used, ROOM);
                assert_memory_equal(back.bytes, all, ROOM / 2);
                assert_memory_equal(back.bytes + ROOM / 2, all + tail, ROOM / 2);
                assert_int_equal(back.gap, length - ROOM);
                assert_int_equal(back.gap_at, ROOM / 2);
            }
            spool_free(spool);
        }
    }
}

static void
test_failed_write_is_passed_on(void **state)
{
    struct spool *spool = spool_new(ROOM);
    const struct spool_reader reader = {refuse, take_gap, NULL};

    (void)state;
    assert_int_equal(0, spool_read(spool, &reader));
    spool_append(spool, "x", 1);
    assert_int_equal(-7, spool_read(spool, &reader));
    spool_free(spool);
    spool_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_lengths),
        cmocka_unit_test(test_failed_write_is_passed_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
