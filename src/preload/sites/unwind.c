/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walks call stacks: by what is kept of a return address (steps.h), else by the unwind
 * tables of its object (cfi.h), else by the frame pointer, frame by frame.
 *
 * What is read of the stack lies between the stack pointer and the base of the thread's
 * stack.  On another stack (a coroutine's, a signal handler's) the base is not known.
 * There nothing is believed but unwind tables: each frame must be of an object that has
 * them, and is not longer than OTHER_REACH.
 *
 * Between two stacks leads only a frame of the kernel's, in which a signal handler runs:
 * its code is compared with what the C library must have there.
 */
#include "config.h"

#include "preload/sites/unwind.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "preload/lookup.h"
#include "preload/real.h"
#include "preload/sites/cfi.h"
#include "preload/sites/objects.h"
#include "preload/sites/steps.h"
#include "preload/state.h"

static enum site_unwinder unwinder;

#ifdef ARCH_COLUMNS

/* Our own frames, and those whose addresses are not wanted: so many more are walked. */
#define OWN_FRAMES 64u

/* A frame pointer further up than this is not believed. */
#define FRAME_MAX (UINT64_C(1) << 20)

/* The longest frame that is believed on a stack whose base is not known. */
#define OTHER_REACH (UINT64_C(1) << 16)

/* Handlers that interrupt handlers. */
#define SIGNALS_MAX 8u

#define WORD sizeof(uintptr_t)
#define BIT(column) (1u << (column))
#define FEW_KNOWN (BIT(ARCH_FRAME) | BIT(ARCH_STACK) | BIT(ARCH_RETURN))

extern const ElfW(Ehdr) __ehdr_start HIDDEN;

static bool by_tables, by_pointers; /* what leads on from the program's frames */
static struct cfi_range own;

struct walk {
    struct cfi_registers at; /* of the frame; its RETURN is where its code goes on */
    struct cfi_range stack;  /* what may be read */
    bool is_other;           /* not this thread's stack */
    bool is_interrupted;     /* the frame's code was interrupted, it has called nobody */
    bool with_steps;         /* those that are kept may be used */
    bool has_used_steps;     /* so some registers are not known */
    unsigned signals;
    struct code_object object; /* the last one */
};

/* How to go on after a step. */
enum result {
    RESULT_ON,
    RESULT_END,
    RESULT_AGAIN /* from the start, without kept steps: a register is needed */
};

static bool
lies_in(uintptr_t address, const struct cfi_range *range)
{
    return address - range->start < range->end - range->start;
}

/* ---- one step ---- */

/* The stack pointer has changed. */
static void
set_stack(struct walk *walk)
{
    const uintptr_t here = walk->at.values[ARCH_STACK], base = mt_thread.stack_base;

    walk->is_other = here > base || base - here > mt_thread.stack_limit;
    walk->stack = (struct cfi_range){here, walk->is_other ? here + OTHER_REACH : base};
}

/* Goes on to a frame whose stack pointer is cfa, that has called at pc. */
static void
go_to(struct walk *walk, uintptr_t cfa, uintptr_t pc, uintptr_t frame)
{
    walk->at.values[ARCH_STACK] = cfa;
    walk->at.values[ARCH_RETURN] = pc;
    walk->at.values[ARCH_FRAME] = frame;
    walk->at.known &= FEW_KNOWN;
    walk->is_interrupted = false;
    walk->stack.start = cfa;
    if (walk->is_other)
        walk->stack.end = cfa + OTHER_REACH;
}

/* A frame pointer leads to the caller's one and, above it, to the return address. */
static enum result
go_by_pointer(struct walk *walk)
{
    const uintptr_t pointer = walk->at.values[ARCH_FRAME], lowest = walk->stack.start;
    const uintptr_t *frame = (const void *)pointer;

    if (walk->is_other || (walk->at.known & BIT(ARCH_FRAME)) == 0 || pointer % WORD != 0
        || pointer < lowest || pointer - lowest > FRAME_MAX || pointer > walk->stack.end
        || walk->stack.end - pointer < 2 * WORD)
        return RESULT_END;
    go_to(walk, pointer + 2 * WORD, frame[1], frame[0]);
    return RESULT_ON;
}

/* Is the frame's code what a signal handler returns to? */
static bool
is_signal_code(const struct walk *walk)
{
    static const char code[] = ARCH_SIGNAL_CODE;
    const uintptr_t pc = walk->at.values[ARCH_RETURN];

    return walk->object.mapped.end - pc >= sizeof code - 1
           && memcmp((const void *)pc, code, sizeof code - 1) == 0;
}

/* To the frame that a signal handler has interrupted, on whatever stack. */
static enum result
go_by_signal(struct walk *walk, const struct cfi_frame *frame)
{
    if (walk->signals++ == SIGNALS_MAX || !is_signal_code(walk)
        || cfi_step(&walk->object.tables, frame, &walk->stack, &walk->at) != CFI_STEPPED)
        return RESULT_END;
    walk->is_interrupted = true;
    set_stack(walk);
    return RESULT_ON;
}

static enum result
go_by_frame(struct walk *walk, const struct cfi_frame *frame)
{
    const uintptr_t before = walk->stack.start, pc = walk->at.values[ARCH_RETURN];

    if (!walk->is_interrupted)
        mt_step_keep(pc, frame);
    switch (cfi_step(&walk->object.tables, frame, &walk->stack, &walk->at)) {
    case CFI_STEPPED:
        break;
    case CFI_NEEDS:
        return walk->has_used_steps ? RESULT_AGAIN : RESULT_END;
    default:
        return RESULT_END;
    }
    if (walk->at.values[ARCH_STACK] <= before
        || walk->at.values[ARCH_STACK] > walk->stack.end)
        return RESULT_END;
    walk->is_interrupted = false;
    walk->stack.start = walk->at.values[ARCH_STACK];
    if (walk->is_other)
        walk->stack.end = walk->stack.start + OTHER_REACH;
    return RESULT_ON;
}

/* By the tables of the object that holds pc, if it has any. */
static enum result
go_by_tables(struct walk *walk, uintptr_t pc)
{
    struct cfi_frame frame;

    switch (cfi_find(&walk->object.tables, pc, &frame)) {
    case CFI_FOUND:
        return frame.is_signal ? go_by_signal(walk, &frame) : go_by_frame(walk, &frame);
    case CFI_NONE:
        return by_pointers ? go_by_pointer(walk) : RESULT_END;
    default:
        return RESULT_END;
    }
}

static bool
find_object(struct walk *walk, uintptr_t pc)
{
    return lies_in(pc, &walk->object.mapped) || mt_objects_find(pc, &walk->object);
}

/* Goes on to the caller of a frame. */
static enum result
go_on(struct walk *walk)
{
    /* What follows a call may be another function. */
    const uintptr_t pc = walk->at.values[ARCH_RETURN],
                    inside = walk->is_interrupted ? pc : pc - 1;

    if ((by_tables || lies_in(inside, &own)) && find_object(walk, inside)
        && walk->object.tables.header != 0)
        return go_by_tables(walk, inside);
    return by_pointers ? go_by_pointer(walk) : RESULT_END;
}

/* ---- the walk ---- */

struct found {
    const void **frames;
    size_t count, limit;
};

/* Adds a frame; false if it is none, or the last one wanted. */
static bool
add(struct found *found, uintptr_t pc)
{
    if (pc < SEGMENT_PAGE || found->count == found->limit)
        return false;
    if (!lies_in(pc, &own))
        found->frames[found->count++] = (const void *)pc;
    return found->count < found->limit;
}

/* Adds the frames whose steps are kept, and leaves them.  Returns false at the outermost
   frame, at the limit, or where a step leads off the stack. */
static bool
go_by_steps(struct walk *walk, struct found *found)
{
    const struct cfi_range ours = own;
    const void **to = found->frames + found->count, **end = found->frames + found->limit;
    uintptr_t *registers = walk->at.values;
    uintptr_t stack = registers[ARCH_STACK], pc = registers[ARCH_RETURN];
    uintptr_t frame =
        walk->at.known & BIT(ARCH_FRAME) ? registers[ARCH_FRAME] : 0; /* 0: not known */
    uintptr_t top = walk->stack.end;
    uint64_t step;

    while ((step = step_find(pc)) != 0 && to < end) {
        uintptr_t cfa = (step & STEP_BY_FRAME ? frame : stack) + (step & STEP_LENGTH);
        uintptr_t size = cfa - stack, saved = step_saved(step);

        if (!lies_in(pc, &ours))
            *to++ = (const void *)pc;
        if (size - 1 >= top - stack || size % WORD != 0)
            break;
        if (saved > 0)
            frame = saved <= size ? *(const uintptr_t *)(cfa - saved) : 0;
        pc = *(const uintptr_t *)(cfa + ARCH_RETURN_AT);
        stack = cfa;
        if (walk->is_other)
            top = cfa + OTHER_REACH;
    }
    found->count = (size_t)(to - found->frames);
    if (step != 0)
        return false;
    if (stack != registers[ARCH_STACK]) {
        walk->has_used_steps = true;
        walk->at.known |= BIT(ARCH_FRAME);
        go_to(walk, stack, pc, frame);
    }
    return true;
}

/* Returns RESULT_AGAIN or RESULT_END. */
static enum result
walk_on(struct walk *walk, struct found *found)
{
    enum result result = RESULT_ON;

    for (size_t steps = found->limit + OWN_FRAMES; steps > 0; steps--) {
        if (walk->with_steps && !walk->is_interrupted && !go_by_steps(walk, found))
            break;
        if (!add(found, walk->at.values[ARCH_RETURN]))
            break;
        result = go_on(walk);
        if (result != RESULT_ON)
            break;
    }
    return result;
}

static __attribute__((noinline)) enum result
walk_from_here(struct found *found, bool with_steps)
{
    struct walk walk;

    arch_registers(walk.at.values);
    walk.at.known = ARCH_PRESERVED | FEW_KNOWN;
    walk.is_interrupted = walk.has_used_steps = false;
    walk.with_steps = with_steps;
    walk.signals = 0;
    walk.object.mapped = (struct cfi_range){0, 0};
    set_stack(&walk);
    return walk_on(&walk, found);
}

size_t
mt_unwind(const void **frames, size_t limit)
{
    struct found found = {frames, 0, limit};

    if (mt_unwinder() == UNWIND_NONE || limit == 0)
        return 0;
    if (walk_from_here(&found, true) == RESULT_AGAIN) {
        found.count = 0;
        walk_from_here(&found, false);
    }
    return found.count;
}

/* ---- starting ---- */

/* This library.  The first page of its file is mapped first. */
static struct cfi_range
measure_own(void)
{
    const uintptr_t start = (uintptr_t)&__ehdr_start;
    const ElfW(Phdr) *headers = (const void *)(start + __ehdr_start.e_phoff);
    uintptr_t end = start;

    for (unsigned i = 0; i < __ehdr_start.e_phnum; i++)
        if (headers[i].p_type == PT_LOAD)
            end = start + headers[i].p_vaddr + headers[i].p_memsz;
    return (struct cfi_range){start, end};
}

void
mt_unwind_start(enum unwind_choice choice)
{
    if (mt_unwinder() != UNWIND_NONE || choice == UNWIND_CHOICE_NONE)
        return;
    own = measure_own();
    mt_objects_start();
    by_tables = choice != UNWIND_CHOICE_FRAMES;
    by_pointers = choice != UNWIND_CHOICE_DWARF;
    __atomic_store_n(&unwinder, by_tables ? UNWIND_TABLES : UNWIND_FRAMES,
                     __ATOMIC_RELEASE);
}

#else

void
mt_unwind_start(enum unwind_choice choice)
{
    (void)choice;
}

size_t
mt_unwind(const void **frames, size_t limit)
{
    (void)frames;
    (void)limit;
    return 0;
}

#endif

enum site_unwinder
mt_unwinder(void)
{
    return __atomic_load_n(&unwinder, __ATOMIC_ACQUIRE);
}
