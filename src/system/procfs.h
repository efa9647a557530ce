/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What /proc says about a process.  All sizes are in bytes; every function returns 0 or
   -errno and leaves *out untouched on error. */
#ifndef MEMTOP_PROCFS_H
#define MEMTOP_PROCFS_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "system/smaps.h"

struct procfs_memory {
    uint64_t rss;          /* VmRSS */
    uint64_t rss_anon;     /* RssAnon */
    uint64_t rss_file;
    uint64_t rss_shmem;
    uint64_t rss_peak;     /* VmHWM */
    uint64_t stack_size;   /* VmStk: the main thread's stack mapping */
    unsigned threads;
    char state;            /* R S D T t Z X */
};

int procfs_memory(pid_t pid, struct procfs_memory *out);

/* The file it executes, untrusted and cut to size; the kernel appends " (deleted)" if the
   file was replaced. */
int procfs_program(pid_t pid, char *out, size_t size);

/* Does it execute that file, whose path is as the process itself sees it?  Its root may
   differ from ours.  Returns 0 or 1, or -errno if that is unknown. */
int procfs_executes(pid_t pid, const char *program);

/* The kernel's start time in clock ticks since boot; pid and start time together identify
   a process. */
int procfs_start(pid_t pid, uint64_t *out);

/* The same as CLOCK_BOOTTIME. */
uint64_t procfs_boottime_ns(uint64_t ticks);

struct procfs_stat {
    char state;
    pid_t parent;
    uint64_t start_ticks;
    uint64_t rss;         /* bytes */
};
int procfs_stat(pid_t pid, struct procfs_stat *out);

/* The command line, arguments separated by blanks and the program without its path, cut
   to size; without arguments, its short name in brackets.  Unsanitised. */
int procfs_command(pid_t pid, char *buffer, size_t size);

/* Calls visit for every process that /proc lists. */
int procfs_each(void (*visit)(void *context, pid_t pid), void *context);

/* Stores descendants of pid in pids, at most limit; *count is how many there are (a lower
   bound if it exceeds limit).  A child whose parent has ended belongs to init and is not
   found. */
int procfs_descendants(pid_t pid, pid_t *pids, unsigned limit, unsigned *count);

/* Bytes of the main thread's stack from the deepest page ever touched to its base, from
   /proc/PID/pagemap and maps. */
int procfs_stack_touched(pid_t pid, uint64_t *out);

/*
 * For each stack that begins at base: the size of its mapping (not for the main thread's,
 * which grows) and how much of it has been touched, down to its deepest page; 0 if
 * unknown.  Reads /proc/PID/maps once, and pagemap.
 */
struct procfs_stack {
    uint64_t base;
    uint64_t size, touched;
};
int procfs_stacks(pid_t pid, struct procfs_stack *stacks, size_t count);

/* The default size of a thread's stack: RLIMIT_STACK, 0 if unlimited. */
int procfs_stack_limit(pid_t pid, uint64_t *out);

/* Resident memory by kind of mapping: /proc/PID/smaps (see smaps.h). */
int procfs_resident(pid_t pid, const struct smaps_hints *hints, struct resident *out);

/* Real and effective uid. */
int procfs_uids(pid_t pid, uid_t *real, uid_t *effective);

/* A thread's name, at most 15 bytes and unsanitised, and its state. */
int procfs_thread(pid_t pid, pid_t tid, char name[16], char *state);

/* The parsers of the text of /proc/PID/status and of /proc/PID/stat. */
int procfs_parse_status(FILE *file, struct procfs_memory *out);
int procfs_parse_stat(const char *text, struct procfs_stat *out);

#endif
