/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Dormant mode (the word "dormant"): mt_guard.mode has MODE_ASLEEP set while
 * nobody watches, and the wrappers then pass all calls on.
 */
#ifndef MEMTOP_DORMANT_H
#define MEMTOP_DORMANT_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/state.h"

/* Called once in a process that is to be dormant, after its segment is mapped and the
   recorder started.  Returns MODE_ASLEEP, or 0 if the process begins awake. */
uint32_t mt_dormant_start(void);

/* Makes the child of an awake process begin awake; call it before mt_dormant_start(). */
void mt_dormant_inherit(const struct mt_segment *parent);

/* While asleep: wakes the process if there is a new lease.  Returns true if it is
   awake. */
bool mt_dormant_wake(void);

/* While awake: falls asleep if the lease is over. */
void mt_dormant_look(uint64_t now);

/* Is the process of a segment dormant and asleep? */
static inline bool
mt_dormant_asleep(const struct mt_segment *segment)
{
    const struct segment_process *process = segment->process;

    return (segment->header->flags & SEGMENT_FLAG_DORMANT) != 0
           && (process->wakes == 0 || process->asleep_since_ns != 0);
}

#endif
