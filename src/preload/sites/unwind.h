/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walks call stacks (layout.h, enum site_unwinder).
 */
#ifndef MEMTOP_UNWIND_H
#define MEMTOP_UNWIND_H

#include <stdbool.h>
#include <stddef.h>

#include "preload/options.h"
#include "segment/sites-layout.h"

/*
 * Stacks can be walked from now on.  Where glibc is older than 2.35 this calls the loader
 * (objects.h), so call it from our constructor or from a function the program calls.
 * With a newer one it may be called in an allocation.  Calling it again does nothing.
 */
void mt_unwind_start(enum unwind_choice choice);

/* The unwinder in use; UNWIND_NONE before mt_unwind_start(). */
enum site_unwinder mt_unwinder(void);

/*
 * The stack of the calling thread: return addresses, innermost first, at most limit of
 * them, without frames of this library.  Returns 0 if there is no unwinder (yet).  Takes
 * no lock, makes no system call, allocates nothing, and may be interrupted or left by a
 * jump anywhere.
 */
size_t mt_unwind(const void **frames, size_t limit);

#endif
