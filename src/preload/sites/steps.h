/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libgcc's unwinder, and a walk that reuses its earlier answers.
 *
 * The distance from one return address on the stack to the next is the same each time a
 * function without a frame pointer is left at that address; unwind tables say so.  libgcc
 * works it out again each time, some hundred nanoseconds a frame.  Here it is asked once
 * about each return address, and the steps are kept: 64 bits each, for all threads.
 *
 * Some steps are not kept, so that libgcc is asked each time:
 *   - over frames with a frame pointer: their length may depend on it (alloca,
 *     alignment);
 *   - from code that is not in a loaded object: other code may be there next time;
 *   - of the loader, which aligns the stack by another register;
 *   - that do not lead to where the return address lies (signal frames).
 * Nothing is read but the part of the stack that the thread is known to have.
 */
#ifndef MEMTOP_STEPS_H
#define MEMTOP_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/state.h"

struct _Unwind_Context;
typedef int (*mt_unwind_visit)(struct _Unwind_Context *context, void *argument);

struct mt_libgcc {
    int (*backtrace)(mt_unwind_visit visit, void *argument);
    uintptr_t (*ip)(struct _Unwind_Context *context);
    uintptr_t (*cfa)(struct _Unwind_Context *context);
    uintptr_t (*gr)(struct _Unwind_Context *context, int index);
};

/* What a visit returns. */
#define VISIT_GO_ON 0 /* _URC_NO_REASON */
#define VISIT_STOP  4 /* _URC_NORMAL_STOP */

HIDDEN extern struct mt_libgcc mt_libgcc;

#define LIBGCC "libgcc_s.so.1"

/* Finds libgcc, which libc's backtrace() has loaded and keeps.  Returns false if it is
   not there. */
bool mt_libgcc_find(void);

#if defined __x86_64__ && defined __LP64__
#define MT_STEPS 1

/* Like backtrace(): the return addresses, innermost first, including the library's
   own. */
int mt_steps_walk(void **frames, int limit);
#endif

#endif
