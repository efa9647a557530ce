/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libgcc's unwinder, and a walk that goes by what it has said before.
 *
 * From a return address on the stack to the next one it is as far, whenever a function
 * that has no frame pointer is left there: that is what unwind tables say of it.  libgcc
 * works it out anew each time, some hundred nanoseconds a frame.  Here it is asked once
 * about each return address, and the steps are kept: 64 bits each, for all threads.
 *
 * Not kept, so that libgcc is asked each time, are steps
 *   - over frames with a frame pointer: how long they are may depend on it (alloca,
 *     alignment);
 *   - from code that is not in a loaded object: it may be other code the next time;
 *   - of the loader, which aligns the stack by another register;
 *   - that do not lead to where the return address lies (signal frames).
 * Nothing is read but the stack that the thread is known to have.
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

/* Finds libgcc, which libc's backtrace() has loaded and keeps; false: it is not there. */
bool mt_libgcc_find(void);

#if defined __x86_64__ && defined __LP64__
#define MT_STEPS 1

/* As backtrace(): the return addresses, innermost first, of our own frames too. */
int mt_steps_walk(void **frames, int limit);
#endif

#endif
