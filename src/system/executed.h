/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs that were executed and did not load the library. */
#ifndef MEMTOP_EXECUTED_H
#define MEMTOP_EXECUTED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Why PATH, as named in a call of exec, did not load the library: a translated phrase,
 * valid forever, or NULL if no reason is found.  pid: the process that runs it, or 0 if
 * it has ended: then its file is examined, if it still exists.  preload_removed: its
 * environment was made without the library.
 */
const char *executed_reason(const char *path, bool preload_removed, pid_t pid);

/* Writes "BEFORE executed PATH, which did not load libmemtop (REASON)", translated;
   reason may be NULL.  The names are untrusted and not cleaned here. */
void executed_text(char *text, size_t size, const char *before, const char *path,
                   const char *reason);

#endif
