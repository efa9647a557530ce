/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs of a tree that ran without the library, found from the segments of the others:
 * what they have executed (layout.h, struct segment_exec) is compared with the images that
 * there are.  So a program is found that ran too short to be seen in /proc.  Pure.
 */
#ifndef MEMTOP_UNSEEN_H
#define MEMTOP_UNSEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "segment/reader.h"

/* A segment, which may be gone by now.  Pids are those of the process's own namespace. */
struct image {
    pid_t pid, parent;
    uint32_t generation;
    bool forked;     /* it began as a copy of its parent, not by exec */
    bool elsewhere;  /* in another pid namespace than memtop: its parent's pid means nothing */
    char name[28];   /* of the program, without its path; untrusted */
    struct executed executed;
};

/* A program that was executed and has no segment. */
struct unseen {
    const struct image *by;  /* who executed it */
    pid_t pid;               /* in the namespace of that, 0 unknown */
    const char *path;        /* as named in the call, maybe cut; "" unknown */
    bool preload_removed;
};

/* Calls visit for every program that is missing among the images, the root (whose own
   start is nobody's) included.  Sorts them.  What cannot be told is not missing. */
void unseen_find(struct image *images, size_t count, pid_t root,
                 void (*visit)(void *context, const struct unseen *unseen), void *context);

#endif
