/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals to processes that are not our children. */
#ifndef MEMTOP_SEND_H
#define MEMTOP_SEND_H

#include <stdbool.h>

#include "monitor/roster.h"

/* Sends it to the process of the entry, and never to another that has got its number.
   0 or -errno; -ESRCH: it has ended. */
int send_signal(const struct roster_entry *entry, int signal_number);

/* Is it stopped, as the kernel says? */
bool send_is_stopped(const struct roster_entry *entry);

#endif
