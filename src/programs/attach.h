/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes that run already: listed, chosen, attached to. */
#ifndef MEMTOP_ATTACH_H
#define MEMTOP_ATTACH_H

#include "programs/options.h"
#include "monitor/session.h"

/* Lists the observed processes on the standard output; the exit status. */
int attach_list(const struct options *options);

/* Has the user choose one of them on the terminal: its pid, 0 if none was, -1, having
   said why, if that is not possible. */
pid_t attach_pick(const struct options *options);

/* The process that the word names: a pid, or the name of an observed process's
   program.  -1, having said why, if there is none or more than one. */
pid_t attach_find(const char *word);

/* Attaches the session; 0 or the exit status, having said why. */
int attach_session(struct session *session, pid_t pid);

#endif
