/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The system-wide list: every process of this user (for root: of everybody) that runs
   under the library, whoever started it. */
#ifndef MEMTOP_SYSTEM_LIST_H
#define MEMTOP_SYSTEM_LIST_H

#include <stdint.h>

#include "monitor/process-list.h"

struct system_list;

/* Removes what dead processes have left behind on the way.  Returns NULL if memory is
   short. */
struct system_list *system_list_new(void);
void system_list_free(struct system_list *systemwide);

/* Reads everything once; now_ns is CLOCK_MONOTONIC. */
void system_list_poll(struct system_list *systemwide, int64_t now_ns);

const struct process_list *system_list_processes(const struct system_list *systemwide);

#endif
