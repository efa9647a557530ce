/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers of processes in other pid namespaces.  A process knows itself, and names its
 * segment, by its own number; in /proc it stands under the one it has here.
 */
#ifndef MEMTOP_PIDSPACE_H
#define MEMTOP_PIDSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* The inode of a process's pid namespace, 0 unknown; comparable with
   segment_pid_namespace(). */
uint64_t pidspace_of(pid_t pid);

/* The last number of the line NSpid in the text of /proc/PID/status: its own; 0 there is
   none (before Linux 4.1). */
pid_t pidspace_parse_own(FILE *status);

/* All processes that live in another pid namespace than we, as far as we may look at
   them. */
struct pidspace;

/* Goes through /proc once.  NULL if memory is short. */
struct pidspace *pidspace_read(void);
void pidspace_free(struct pidspace *pidspace);

/* Our number of the process that is called own in that namespace; 0: none is known. */
pid_t pidspace_find(const struct pidspace *pidspace, uint64_t pid_namespace, pid_t own);

/* Of those called own in whatever other namespace the first for which is_it() is true;
   0: none. */
pid_t pidspace_search(const struct pidspace *pidspace, pid_t own,
                      bool (*is_it)(void *context, pid_t pid), void *context);

/* The numbers that the threads of a process have in its namespace and here, at most
   capacity; how many. */
struct pidspace_thread {
    pid_t own, here;
};
size_t pidspace_threads(pid_t pid, struct pidspace_thread *out, size_t capacity);

#endif
