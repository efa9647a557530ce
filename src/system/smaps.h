/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums up what a process's mappings are for, and how much of each kind is resident, from
 * the text of /proc/PID/smaps.  Pure except for reading the given file.
 */
#ifndef MEMTOP_SMAPS_H
#define MEMTOP_SMAPS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum region {
    REGION_ANON,     /* anonymous, and none of the others */
    REGION_HEAP,     /* the allocator's: [heap], glibc's further arenas */
    REGION_STACK,    /* of the main thread and others, even ended ones */
    REGION_PROGRAM,  /* the program and its libraries: code, data, bss */
    REGION_FILE,     /* other files, shared memory */
    REGION_MEMTOP,   /* libmemtop.so and the segment */
    REGION_OTHER,    /* the kernel's: [vdso] etc. */
    REGION_COUNT
};

/* In bytes. */
struct resident {
    uint64_t rss[REGION_COUNT];
    uint64_t size[REGION_COUNT];  /* of accessible address space */
    uint64_t total;               /* the sum of rss */
    uint64_t pss, swap;
    unsigned mappings;
};

/* What the text does not say. */
struct smaps_hints {
    const char *segment;          /* file name of the process's segment, or NULL */
    const uint64_t *stacks;       /* where stacks of threads begin */
    size_t stack_count;
    uint64_t stack_size;          /* default size of a thread's stack, 0 unknown */
    size_t threads;               /* number of threads, 0 unknown */
};

/* Returns 0, or -ENOMEM, -EIO, -ESRCH if there is nothing (the process is gone); then
   *out is untouched. */
int smaps_read(FILE *file, const struct smaps_hints *hints, struct resident *out);

#endif
