/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records of followed blocks on the host: a dormant process forgets all of them while a
 * call from an earlier awake period is just taking one (ld --wrap).
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hosted-library.h"
#include "preload/real.h"
#include "preload/sites/sites.h"
#include "preload/table.h"

struct mt_real mt_real;

bool
mt_object_of(const void *address, struct mt_object *found)
{
    (void)address;
    (void)found;
    return false;
}

static bool forget_then;

void __real_mt_table_release(struct mt_place place);
void __wrap_mt_table_release(struct mt_place place);

void
__wrap_mt_table_release(struct mt_place place)
{
    __real_mt_table_release(place);
    if (forget_then)
        mt_sites_forget();
    forget_then = false;
}

static unsigned
blocks_shown(void)
{
    const struct block_record *blocks =
        (const void *)(mt_segment.sites + SITES_BLOCKS_AT);
    unsigned shown = 0;

    for (unsigned i = 0; i < 10; i++)
        shown += blocks[i].address != 0;
    return shown;
}

static void
test_forgotten_while_taken(void **state)
{
    const struct mt_followed followed = {.size = 8, .samples = 1};
    struct mt_followed taken;
    static char blocks[4];

    (void)state;
    host_segment_with_sites();
    assert_true(mt_sites_start(1, 1));
    assert_true(mt_sites_made(&blocks[0], &followed, NULL, 0, false));
    forget_then = true;
    assert_false(mt_sites_take(&blocks[0], &taken));
    assert_int_equal(0, blocks_shown());
    for (unsigned i = 0; i < 4; i++)
        assert_true(mt_sites_made(&blocks[i], &followed, NULL, 0, false));
    assert_int_equal(4, blocks_shown());
    for (unsigned i = 0; i < 4; i++)
        assert_true(mt_sites_take(&blocks[i], &taken));
    assert_int_equal(0, blocks_shown());
    scratch_close();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forgotten_while_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
