/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Wrappers: functions that allocate for somebody else, such as xmalloc, operator new and
 * what std::vector consists of.  Whoever reads where memory was allocated looks for the
 * function that called them.  wrappers.list has those that memtop knows and says how
 * patterns are written; a user's file may add patterns, which then count in the whole
 * process.
 */
#ifndef MEMTOP_WRAPPERS_H
#define MEMTOP_WRAPPERS_H

#include <stdbool.h>
#include <stddef.h>

/* Is this function one?  module is the path of the file it lies in, source that of its
   source file, each NULL if unknown. */
bool wrappers_have(const char *function, const char *module, const char *source);

/* Told of a line that is no pattern; text is that line, unsanitised. */
struct wrappers_fault {
    void *context;
    void (*tell)(void *context, unsigned line, const char *text);
};

/* Adds the patterns of a file's text, one a line; a line counts more than those before
   it.  Returns false if memory is short. */
bool wrappers_add(const char *text, size_t length, const struct wrappers_fault *fault);

/* Forgets what was added. */
void wrappers_reset(void);

#endif
