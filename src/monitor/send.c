/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pidfd refers to one process forever.  It is opened first and the process's start
 * compared afterwards, so it is certain to be the intended process.
 */
#include "config.h"

#include "monitor/send.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/procfs.h"

static bool
is_it(const struct process_entry *entry, char *state)
{
    struct procfs_stat stat;

    if (entry->ended || procfs_stat(entry->pid, &stat) || stat.state == 'Z'
        || stat.state == 'X')
        return false;
    *state = stat.state;
    return entry->start_ns == 0
           || procfs_boottime_ns(stat.start_ticks) <= entry->start_ns;
}

int
send_signal(const struct process_entry *entry, int signal_number)
{
    int pidfd = (int)syscall(SYS_pidfd_open, entry->pid, 0), error = 0;
    char state;

    if (pidfd < 0)
        return -errno;
    if (!is_it(entry, &state))
        error = -ESRCH;
    else if (syscall(SYS_pidfd_send_signal, pidfd, signal_number, NULL, 0) < 0)
        error = -errno;
    close(pidfd);
    return error;
}

bool
send_is_stopped(const struct process_entry *entry)
{
    char state;

    return is_it(entry, &state) && (state == 'T' || state == 't');
}
