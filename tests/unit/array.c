/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Growing arrays, up to impossible sizes. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/array.h"

#define MANY 100000

/* AddressSanitizer would otherwise end the test when memory is refused. */
const char *__asan_default_options(void);
const char *
__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* Old elements stay, new ones are zero, and the array grows seldom. */
static void
test_growing(void **state)
{
    uint64_t *array = NULL;
    size_t room = 0, growths = 0;

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        size_t before = room;

        assert_true(ARRAY_GROW(array, room, i + 1));
        assert_true(room > i);
        if (room != before) {
            growths++;
            assert_true(room - before >= before / 2);
            for (size_t j = before; j < room; j++)
                assert_int_equal(array[j], 0);
        }
        array[i] = i + 1;
    }
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(array[i], i + 1);
    assert_true(growths < 32);
    free(array);
}

static void
test_many_at_once(void **state)
{
    char *array = NULL;
    size_t room = 0;

    (void)state;
    assert_true(ARRAY_GROW(array, room, 0));
    assert_null(array);
    assert_true(ARRAY_GROW(array, room, MANY));
    assert_true(room >= MANY);
    for (size_t i = 0; i < room; i++)
        assert_int_equal(array[i], 0);
    free(array);
}

/* More bytes than a size_t can hold, and more than there are. */
static void
test_refused(void **state)
{
    static const size_t counts[] = {
        SIZE_MAX,
        SIZE_MAX / sizeof(uint64_t) + 1,
        SIZE_MAX / sizeof(uint64_t) + 3, /* the product would overflow to 16 */
        PTRDIFF_MAX / sizeof(uint64_t) + 1,
    };
    uint64_t *array = NULL, *before;
    size_t room = 0, kept;

    (void)state;
    assert_true(ARRAY_GROW(array, room, 3));
    before = array;
    kept = room;
    array[2] = 7;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        assert_false(ARRAY_GROW(array, room, counts[i]));
        assert_ptr_equal(array, before);
        assert_int_equal(room, kept);
        assert_int_equal(array[2], 7);
    }
    free(array);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growing),
        cmocka_unit_test(test_many_at_once),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
