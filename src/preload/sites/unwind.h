/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Call stacks, by whichever unwinder the process has (layout.h, enum site_unwinder).
 */
#ifndef MEMTOP_UNWIND_H
#define MEMTOP_UNWIND_H

#include <stdbool.h>
#include <stddef.h>

#include "segment/sites-layout.h"

/* How to walk, from the word unwind=. */
enum unwind_choice {
    UNWIND_CHOICE_GLIBC = 0,
    UNWIND_CHOICE_FRAMES,
    UNWIND_CHOICE_NONE
};

/*
 * Finds the unwinder and tries it once, so that nothing is loaded later.  Calls the
 * loader: from our constructor, or from a function the program calls, never from one
 * of the malloc family.  Again: nothing happens.  What is allocated here is not counted.
 */
void mt_unwind_start(enum unwind_choice choice);

/* The one in use; UNWIND_NONE before it was started. */
enum site_unwinder mt_unwinder(void);

/*
 * The stack of the calling thread: return addresses, innermost first, at most limit,
 * without frames of this library.  0: there is no unwinder (yet), or none that may be
 * used here.  Holds no lock of ours, allocates nothing that is counted.  Keeps errno.
 *
 * caller: the address to which malloc() returns; NULL in other functions.  An unwinder
 * that allocates with a lock of its own held does it by malloc.
 */
size_t mt_unwind(const void *caller, const void **frames, size_t limit);

/* In a child: what other threads of the parent were in the midst of is lost. */
void mt_unwind_forked(bool had_threads);

#endif
