/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of functions as they are written in the source. */
#ifndef MEMTOP_DEMANGLE_H
#define MEMTOP_DEMANGLE_H

/*
 * Returns the readable name of C++ (Itanium ABI), Rust (legacy and v0) and D functions,
 * without parameters and without the suffixes that compilers add to parts and copies of a
 * function (.cold, .constprop.0).  Other names are returned unchanged.  NULL if memory is
 * short; the caller frees it.
 */
char *demangle(const char *symbol);

#endif
