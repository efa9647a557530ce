/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Steps from return address to return address, see steps.h. */
#include "config.h"

#include "preload/sites/steps.h"

#include <sys/auxv.h>

#include "preload/lookup.h"
#include "preload/real.h"
#include "segment/seqlock.h"

struct mt_libgcc mt_libgcc;

bool
mt_libgcc_find(void)
{
    struct mt_loaded library;

    if (!mt_lookup_loaded(LIBGCC, NULL, &library))
        return false;
    *(void **)&mt_libgcc.ip = mt_lookup_in(&library, "_Unwind_GetIP");
    *(void **)&mt_libgcc.cfa = mt_lookup_in(&library, "_Unwind_GetCFA");
    *(void **)&mt_libgcc.gr = mt_lookup_in(&library, "_Unwind_GetGR");
    *(void **)&mt_libgcc.backtrace = mt_lookup_in(&library, "_Unwind_Backtrace");
    return mt_libgcc.ip != NULL && mt_libgcc.cfa != NULL && mt_libgcc.gr != NULL
           && mt_libgcc.backtrace != NULL;
}

#ifdef MT_STEPS

#define FRAME_POINTER 6 /* rbp, System V ABI figure 3.36 */

/* ---- what is known ---- */

#define STEPS_BITS 12
#define STEP_BITS  16
#define STEP_END   0u /* there is no further frame */

/* Return address << 16 | words to the next return address.  It is one word, so that a
   step of one address is never taken for another's, whichever thread writes there. */
static uint64_t steps[1u << STEPS_BITS];

static uint64_t *
place_of(uintptr_t pc)
{
    return &steps[pc * UINT64_C(0x9e3779b97f4a7c15) >> (64 - STEPS_BITS)];
}

static void
keep_step(uintptr_t pc, uint64_t words)
{
    struct mt_object object;

    if (pc >> (64 - STEP_BITS) == 0 && words >> STEP_BITS == 0
        && mt_object_of((void *)pc, &object)
        && (uintptr_t)object.start != getauxval(AT_BASE))
        word_store(place_of(pc), pc << STEP_BITS | words);
}

/* ---- walking by known steps ---- */

/* Walks from where a return address lies; returns 0 if a step is not known. */
static int
go_known(uintptr_t slot, void **frames, int limit)
{
    int count = 0;

    while (slot < mt_thread.stack_base) {
        uintptr_t pc = *(const uintptr_t *)slot;
        uint64_t step = word_load(place_of(pc));

        if (step >> STEP_BITS != pc)
            return 0;
        frames[count++] = (void *)pc;
        step &= (1u << STEP_BITS) - 1;
        if (step == STEP_END || count == limit)
            return count;
        slot += step * sizeof(uintptr_t);
    }
    return 0;
}

/* ---- learning ---- */

struct learning {
    void **frames;
    int count, limit;
    uintptr_t pc, cfa, pointer; /* of the frame before */
};

/* Does the register hold a frame pointer?  One leads to the previous frame pointer and
   the return address behind it, or to a copy of them if the function has aligned the
   stack. */
static bool
has_frame_pointer(const struct learning *learning, uintptr_t pc, uintptr_t cfa)
{
    uintptr_t pointer = learning->pointer;

    return pointer >= learning->cfa && pointer <= cfa - 2 * sizeof pointer
           && (pointer % sizeof pointer != 0 || ((const uintptr_t *)pointer)[1] == pc);
}

/* cfa is the stack pointer before the frame's callee was called: the return address back
   into the frame lies just below. */
static void
learn_step(const struct learning *learning, uintptr_t pc, uintptr_t cfa)
{
    if (cfa <= learning->cfa || (cfa - learning->cfa) % sizeof(uintptr_t) != 0
        || ((const uintptr_t *)cfa)[-1] != pc || has_frame_pointer(learning, pc, cfa))
        return;
    keep_step(learning->pc, (cfa - learning->cfa) / sizeof(uintptr_t));
}

static int
visit(struct _Unwind_Context *context, void *argument)
{
    struct learning *learning = argument;
    uintptr_t pc = mt_libgcc.ip(context), cfa = mt_libgcc.cfa(context);

    if (pc == 0) { /* the tables say that this is the outermost frame */
        keep_step(learning->pc, STEP_END);
        return VISIT_STOP;
    }
    if (learning->count > 0)
        learn_step(learning, pc, cfa);
    learning->pc = pc;
    learning->cfa = cfa;
    learning->pointer = mt_libgcc.gr(context, FRAME_POINTER);
    learning->frames[learning->count++] = (void *)pc;
    return learning->count < learning->limit ? VISIT_GO_ON : VISIT_STOP;
}

int
mt_steps_walk(void **frames, int limit)
{
    struct learning learning = {.frames = frames, .limit = limit};
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    int count = 0;

    if (here < mt_thread.stack_base
        && mt_thread.stack_base - here <= mt_thread.stack_limit)
        count = go_known(here + sizeof(uintptr_t), frames, limit);
    if (count > 0)
        return count;
    mt_libgcc.backtrace(visit, &learning);
    return learning.count;
}

#endif
