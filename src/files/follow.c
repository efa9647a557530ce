/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Is this image one of the followed process?  A later image has the same pid and a
   higher generation; a new process with a reused pid does not. */
#include "config.h"

#include "files/follow.h"

static bool
is_it(const struct follow *follow, const struct trace_info *info, uint32_t number)
{
    const struct trace_process *process = &info->process[number];
    const struct trace_process *now = &info->process[follow->process];

    if (!follow->begun)
        return follow->pid == 0 || process->pid == follow->pid;
    return number > follow->process && process->pid == now->pid
           && process->generation > now->generation;
}

enum followed
follow_take(struct follow *follow, const struct trace_info *info,
            const struct trace_event *event)
{
    if (follow->begun && event->process == follow->process)
        return FOLLOW_ON;
    if (!is_it(follow, info, event->process))
        return FOLLOW_OTHER;
    follow->begun = true;
    follow->process = event->process;
    return FOLLOW_NEW;
}
