/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why a running process has not loaded the library. */
#ifndef MEMTOP_BLIND_H
#define MEMTOP_BLIND_H

#include <stdbool.h>
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

#endif
