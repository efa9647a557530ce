/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Steps from return address to return address, see steps.h. */
#include "config.h"

#include "preload/sites/steps.h"

#ifdef ARCH_COLUMNS

#define WORD (int32_t)sizeof(uintptr_t)

uint64_t mt_steps[1u << PLACE_BITS];
static bool any;

/* Makes a step without its address; 0 if there is none. */
static uint64_t
step_of(const struct cfi_row *row)
{
    const int32_t length = row->cfa_value, saved = -row->values[ARCH_FRAME];
    const uint64_t base =
        row->cfa_column == ARCH_FRAME ? STEP_BY_FRAME | STEP_KEPT : STEP_KEPT;

    if (row->kinds[ARCH_RETURN] == CFI_UNDEFINED)
        return STEP_KEPT;
    if (row->cfa_kind != CFI_VALUE || length <= 0 || (length & ~(int32_t)STEP_LENGTH) != 0
        || (row->cfa_column != ARCH_STACK && row->cfa_column != ARCH_FRAME)
        || row->kinds[ARCH_STACK] != CFI_SAME || row->kinds[ARCH_RETURN] != CFI_SAVED
        || row->values[ARCH_RETURN] != ARCH_RETURN_AT)
        return 0;
    if (row->kinds[ARCH_FRAME] == CFI_SAME)
        return base | (uint64_t)length;
    if (row->kinds[ARCH_FRAME] != CFI_SAVED || saved <= 0 || saved % WORD != 0
        || saved / WORD > (int32_t)STEP_SAVED_MAX)
        return 0;
    return base | (uint64_t)length | (uint64_t)(saved / WORD) << STEP_SAVED_SHIFT;
}

void
mt_step_keep(uintptr_t pc, const struct cfi_frame *frame)
{
    uint64_t mixed = step_mixed(pc), step = step_of(&frame->row);

    if (step == 0 || frame->is_signal || pc >> PC_BITS != 0)
        return;
    word_store(&mt_steps[mixed >> (64 - PLACE_BITS)],
               (mixed << PLACE_BITS & ~UINT64_C(0) << STEP_BITS) | step);
    if (!__atomic_load_n(&any, __ATOMIC_RELAXED))
        __atomic_store_n(&any, true, __ATOMIC_RELAXED);
}

void
mt_steps_forget(void)
{
    if (!__atomic_load_n(&any, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&any, false, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < 1u << PLACE_BITS; i++)
        word_store(&mt_steps[i], 0);
}

#else

void
mt_steps_forget(void)
{
}

#endif
