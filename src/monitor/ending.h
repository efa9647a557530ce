/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Notices that a process has ended, without waiting, and reports it. */
#ifndef MEMTOP_ENDING_H
#define MEMTOP_ENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/session.h"

/* Has our child ended?  If so, takes its status and sets ended, state and wait_status. */
bool ending_notice_child(struct process *process);

/* The same for another process, whose status is not available.  It is watched by its
   pidfd, or if that is -1 by its pid, which may have been reused by a process younger
   than created_boottime_ns. */
bool ending_notice(struct process *process, int pidfd, uint64_t created_boottime_ns);

/* Adds a message about how it ended; name is the program's. */
void ending_say(struct session *session, const struct process *process, const char *name);

#endif
