/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of functions as they stand in the source. */
#ifndef MEMTOP_DEMANGLE_H
#define MEMTOP_DEMANGLE_H

/*
 * The name for people: of C++ (Itanium ABI), Rust (legacy and v0) and D without
 * parameters, and without what compilers append to parts and copies of a function
 * (.cold, .constprop.0).  Any other name as it is.  NULL if memory is short; free it.
 */
char *demangle(const char *symbol);

#endif
