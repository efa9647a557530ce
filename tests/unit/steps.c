/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Steps that are kept, each for its own return address only. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "preload/sites/steps.h"

#ifdef ARCH_COLUMNS

/* CFA: the stack pointer and 48, the frame pointer is in its register. */
static struct cfi_frame
plain(void)
{
    struct cfi_frame frame = {
        .row = {.cfa_kind = CFI_VALUE, .cfa_column = ARCH_STACK, .cfa_value = 48}};

    frame.row.kinds[ARCH_RETURN] = CFI_SAVED;
    frame.row.values[ARCH_RETURN] = ARCH_RETURN_AT;
    return frame;
}

static int
forget(void **state)
{
    (void)state;
    mt_steps_forget();
    return 0;
}

static void
test_kept(void **state)
{
    struct cfi_frame frame = plain();
    uint64_t step;

    (void)state;
    assert_true(step_find(0x401234) == 0);
    mt_step_keep(0x401234, &frame);
    step = step_find(0x401234);
    assert_int_equal(48, step & STEP_LENGTH);
    assert_true((step & STEP_BY_FRAME) == 0 && step_saved(step) == 0);
    assert_true(step_find(0x401235) == 0 && step_find(0) == 0);
    frame.row.cfa_column = ARCH_FRAME;
    frame.row.cfa_value = STEP_LENGTH;
    frame.row.kinds[ARCH_FRAME] = CFI_SAVED;
    frame.row.values[ARCH_FRAME] = -248;
    mt_step_keep(0x7fffffffffff, &frame);
    step = step_find(0x7fffffffffff);
    assert_int_equal(STEP_LENGTH, step & STEP_LENGTH);
    assert_true((step & STEP_BY_FRAME) != 0 && step_saved(step) == 248);
    mt_steps_forget();
    assert_true(step_find(0x401234) == 0 && step_find(0x7fffffffffff) == 0);
}

/* A step is found for its own address, or not at all. */
static void
test_tags(void **state)
{
    struct cfi_frame frame = plain();
    unsigned kept = 0;

    (void)state;
    for (uintptr_t pc = 1; pc < 100000; pc++) {
        frame.row.cfa_value = (int32_t)(pc % 60000 + 1) * 8;
        mt_step_keep(pc << 20, &frame);
    }
    for (uintptr_t pc = 1; pc < 100000; pc++) {
        uint64_t step = step_find(pc << 20);
        if (step != 0)
            assert_int_equal((pc % 60000 + 1) * 8, step & STEP_LENGTH);
        kept += step != 0;
        assert_true(step_find(pc << 20 | 5) == 0);
    }
    assert_in_range(kept, 3000, 1u << PLACE_BITS);
    assert_true(step_find((uintptr_t)1 << 20 | (uintptr_t)1 << PC_BITS) == 0);
}

static void
test_outermost(void **state)
{
    struct cfi_frame frame = {.row = {.cfa_kind = CFI_UNDEFINED}};

    (void)state;
    frame.row.kinds[ARCH_RETURN] = CFI_UNDEFINED;
    mt_step_keep(0x401234, &frame);
    assert_true(step_find(0x401234) != 0 && (step_find(0x401234) & STEP_LENGTH) == 0);
}

static void
assert_not_kept(const struct cfi_frame *frame)
{
    mt_step_keep(0x401234, frame);
    assert_true(step_find(0x401234) == 0);
}

/* What a step cannot say. */
static void
test_others(void **state)
{
    struct cfi_frame frame;

    (void)state;
#define WITH(change) (frame = plain(), frame.change, assert_not_kept(&frame))
    WITH(is_signal = true);
    WITH(row.cfa_kind = CFI_VALUE_BY);
    WITH(row.cfa_column = 3);
    WITH(row.cfa_value = 44);
    WITH(row.cfa_value = 0);
    WITH(row.cfa_value = -8);
    WITH(row.cfa_value = STEP_LENGTH + 8);
    WITH(row.kinds[ARCH_RETURN] = CFI_SAME);
    WITH(row.values[ARCH_RETURN] = -16);
    WITH(row.kinds[ARCH_STACK] = CFI_SAVED);
    WITH(row.kinds[ARCH_FRAME] = CFI_UNDEFINED);
    WITH(row.kinds[ARCH_FRAME] = CFI_SAVED); /* at the CFA */
    frame = plain();
    mt_step_keep((uintptr_t)1 << PC_BITS, &frame);
    assert_true(step_find((uintptr_t)1 << PC_BITS) == 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_kept, forget),
        cmocka_unit_test_setup(test_tags, forget),
        cmocka_unit_test_setup(test_outermost, forget),
        cmocka_unit_test_setup(test_others, forget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int
main(void)
{
    return 77; /* steps are kept on x86-64 only */
}

#endif
