/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Running processes: listing them, choosing one, attaching to it. */
#ifndef MEMTOP_ATTACH_H
#define MEMTOP_ATTACH_H

#include "programs/options.h"
#include "monitor/session.h"

/* Writes the list of processes with the library to the standard output; returns the exit
   status. */
int attach_list(const struct options *options);

/* Lets the user choose one of them on the terminal.  Returns its pid, 0 if none was
   chosen, or reports an error and returns -1. */
pid_t attach_pick(const struct options *options);

/* Finds the process that word names: a pid, or the name of a program.  Reports an error
   and returns -1 if there is none or more than one. */
pid_t attach_find(const char *word);

/* Attaches the session.  Returns 0, or reports an error and returns the exit status. */
int attach_session(struct session *session, pid_t pid);

#endif
