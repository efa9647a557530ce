/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why a running process has not loaded the library. */
#ifndef MEMTOP_NOT_LOADED_H
#define MEMTOP_NOT_LOADED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* Returns one translated line with the most certain reason, valid forever; NULL if none
   is known, or memtop may not look. */
const char *not_loaded_reason(pid_t pid);

/* Which loader started the program, by the text of /proc/PID/maps. */
enum not_loaded_loader { LOADER_UNKNOWN, LOADER_NONE, LOADER_GLIBC, LOADER_OTHER };
enum not_loaded_loader not_loaded_parse_loader(FILE *maps);

/* Is libmemtop.so among the preloaded libraries in the text of /proc/PID/environ? */
bool not_loaded_parse_environment(FILE *environment);

/* Is the loader in secure-execution mode, by /proc/PID/auxv? */
bool not_loaded_parse_secure(FILE *auxv);

/* ---- programs that were executed and did not load the library ---- */

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
