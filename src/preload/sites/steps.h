/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the unwind tables say about a return address, kept: looking there takes a thousand
 * instructions.  64 bits for each address, for all threads.
 *
 * Kept is what most functions do: the CFA is the stack pointer or the frame pointer and a
 * constant, the return address lies below it, and the caller's frame pointer is in its
 * register or at a fixed place.  Steps are kept for code in loaded objects only; all of
 * them are forgotten after dlclose().
 */
#ifndef MEMTOP_STEPS_H
#define MEMTOP_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/sites/cfi.h"
#include "preload/state.h"
#include "segment/seqlock.h"

#ifdef ARCH_COLUMNS

/*
 * A step is a word: what to do in the lower bits, and above it the address it is for, so
 * that the step of one address is never taken for another's, whichever thread writes it.
 * Of the address, multiplied by an odd number modulo 2^48 (which no two addresses share),
 * the upper bits are the place and the others are in the word.
 */
#define PC_BITS 48
#define PLACE_BITS 12
#define STEP_BITS (64 - (PC_BITS - PLACE_BITS))

/* The parts of a step: the CFA follows from the frame pointer, or else from the stack
   pointer; bytes from there to the CFA, 0 if there is no caller; the frame pointer is
   saved so many words below the CFA, or not (0). */
#define STEP_KEPT 1u /* not 0 */
#define STEP_BY_FRAME 2u
#define STEP_LENGTH 0x7fff8u
#define STEP_SAVED_SHIFT 19
#define STEP_SAVED_MAX 31u
_Static_assert(STEP_SAVED_SHIFT + 5 <= STEP_BITS, "a step is a word");

HIDDEN extern uint64_t mt_steps[1u << PLACE_BITS];

/* The address as place and tag, from the top. */
static inline uint64_t
step_mixed(uintptr_t pc)
{
    return pc * (UINT64_C(0x9e3779b97f4a7c15) << (64 - PC_BITS));
}

/* Finds the step from a return address; 0 if it is not kept. */
static inline uint64_t
step_find(uintptr_t pc)
{
    uint64_t mixed = step_mixed(pc),
             step = word_load(&mt_steps[mixed >> (64 - PLACE_BITS)]);

    return (step ^ mixed << PLACE_BITS) >> STEP_BITS == 0 && pc >> PC_BITS == 0 ? step
                                                                                : 0;
}

static inline uintptr_t
step_saved(uint64_t step)
{
    return (step >> STEP_SAVED_SHIFT & STEP_SAVED_MAX) * sizeof(uintptr_t);
}

/* Keeps what the tables say about a return address, if a step can say it.  Any thread
   may, at any time. */
void mt_step_keep(uintptr_t pc, const struct cfi_frame *frame);

#endif

/* An object was unloaded: other code may be where its code was. */
void mt_steps_forget(void);

#endif
