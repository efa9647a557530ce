/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walks call stacks with the unwinder the process has (layout.h, enum site_unwinder).
 */
#ifndef MEMTOP_UNWIND_H
#define MEMTOP_UNWIND_H

#include <stdbool.h>
#include <stddef.h>

#include "preload/options.h"
#include "segment/sites-layout.h"

/*
 * Finds the unwinder and tries it once, so that nothing is loaded later.  Calls the
 * loader, so call it from our constructor or from a function the program calls, never
 * from one of the malloc family.  Calling it again does nothing.  What it allocates is
 * not counted.
 */
void mt_unwind_start(enum unwind_choice choice);

/* The unwinder in use; UNWIND_NONE before mt_unwind_start(). */
enum site_unwinder mt_unwinder(void);

/*
 * The stack of the calling thread: return addresses, innermost first, at most limit of
 * them, without frames of this library.  Returns 0 if there is no unwinder (yet), or none
 * that may be used here.  Holds no lock of ours and allocates nothing that is counted.
 * Keeps errno.
 *
 * caller: the address malloc() returns to; NULL in other functions.  It tells whether the
 * unwinder itself, possibly with its lock held, called malloc.
 */
size_t mt_unwind(const void *caller, const void **frames, size_t limit);

/* In a child: whatever the parent's other threads were doing in the unwinder is lost. */
void mt_unwind_forked(bool had_threads);

#endif
