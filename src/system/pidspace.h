/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pids of processes in other pid namespaces.  A process knows itself, and names its
 * segment, by the pid in its own namespace; our /proc lists it under its pid here.
 */
#ifndef MEMTOP_PIDSPACE_H
#define MEMTOP_PIDSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* The inode of a process's pid namespace, 0 if unknown; comparable with
   segment_pid_namespace(). */
uint64_t pidspace_of(pid_t pid);

/* The last number of the line NSpid in the text of /proc/PID/status: the pid in its own
   namespace; 0 if there is no such line (before Linux 4.1). */
pid_t pidspace_parse_own(FILE *status);

/* All processes in pid namespaces other than ours, as far as we may look at them. */
struct pidspace;

/* Reads /proc once.  Returns NULL if memory is short. */
struct pidspace *pidspace_read(void);
void pidspace_free(struct pidspace *pidspace);

/* The pid, here, of the process that has the pid own in that namespace; 0 if unknown. */
pid_t pidspace_find(const struct pidspace *pidspace, uint64_t pid_namespace, pid_t own);

/* Of the processes with the pid own in any other namespace, the first for which is_it()
   returns true; 0 if there is none. */
pid_t pidspace_search(const struct pidspace *pidspace, pid_t own,
                      bool (*is_it)(void *context, pid_t pid), void *context);

/* The ids that the threads of a process have in its namespace and here, at most capacity
   of them; returns their number. */
struct pidspace_thread {
    pid_t own, here;
};
size_t pidspace_threads(pid_t pid, struct pidspace_thread *out, size_t capacity);

#endif
