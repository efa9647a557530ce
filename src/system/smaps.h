/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a process's mappings are for, and how much of them is resident: the text of
 * /proc/PID/smaps, summed up by kind.  Pure but for reading the given file.
 */
#ifndef MEMTOP_SMAPS_H
#define MEMTOP_SMAPS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum region {
    REGION_ANON,     /* anonymous, and none of the following */
    REGION_HEAP,     /* the allocator's: [heap], glibc's further arenas */
    REGION_STACK,    /* of the main thread and of others, also of ended ones */
    REGION_PROGRAM,  /* the program and its libraries: code, data, bss */
    REGION_FILE,     /* other files, shared memory */
    REGION_MEMTOP,   /* libmemtop.so and the segment */
    REGION_OTHER,    /* the kernel's: [vdso] and the like */
    REGION_COUNT
};

/* Bytes. */
struct resident {
    uint64_t rss[REGION_COUNT];
    uint64_t size[REGION_COUNT];  /* of address space that can be accessed */
    uint64_t total;               /* the sum of rss */
    uint64_t pss, swap;
    unsigned mappings;
};

/* What the text does not tell. */
struct smaps_hints {
    const char *segment;          /* file name of the process's segment, or NULL */
    const uint64_t *stacks;       /* where stacks of threads begin */
    size_t stack_count;
    uint64_t stack_size;          /* of a thread's stack by default, 0 unknown */
    size_t threads;               /* how many there are, 0 unknown */
};

/* Returns 0, or -ENOMEM, -EIO, -ESRCH if there is nothing (the process is gone);
   *out is untouched then. */
int smaps_read(FILE *file, const struct smaps_hints *hints, struct resident *out);

#endif
