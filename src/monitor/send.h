/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends signals to processes that are not our children. */
#ifndef MEMTOP_SEND_H
#define MEMTOP_SEND_H

#include <stdbool.h>

#include "monitor/process-list.h"

/* Sends the signal to the process of the entry, never to another that has reused its pid.
   Returns 0 or -errno; -ESRCH if it has ended. */
int send_signal(const struct process_entry *entry, int signal_number);

/* Does the kernel say that it is stopped? */
bool send_is_stopped(const struct process_entry *entry);

#endif
