/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a process ends: noticed without waiting, and said. */
#ifndef MEMTOP_ENDING_H
#define MEMTOP_ENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/session.h"

/* Of our child, whose status is taken: whether it has ended.  If so, ended, state and
   wait_status are set. */
bool ending_notice_child(struct process *process);

/* The same of another process, whose status nobody tells us: by its pidfd, or if that
   is -1 by its number, which may have passed to one younger than created_boottime_ns. */
bool ending_notice(struct process *process, int pidfd, uint64_t created_boottime_ns);

/* Says how it ended; name is the program's. */
void ending_say(struct session *session, const struct process *process, const char *name);

#endif
