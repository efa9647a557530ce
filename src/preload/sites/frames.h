/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stack of a sample: that of the program's machine code, and in it, instead of the
 * frames of a Python interpreter's loop, those of the Python functions that it runs.
 */
#ifndef MEMTOP_FRAMES_H
#define MEMTOP_FRAMES_H

#include <stddef.h>

/*
 * The calling thread's stack, innermost first: return addresses, at most depth of them,
 * and marked numbers of places (site_place_word()); at most limit of both.  The tables of
 * sites.h are there.  No system call but those that let tables grow; allocates nothing.
 */
size_t mt_frames(const void **frames, size_t depth, size_t limit);

#endif
