/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds programs of a tree that ran without the library, from the segments of the others:
 * what they executed (layout.h, struct segment_exec) is compared with the images that
 * exist.  So even a program that ran too briefly to be seen in /proc is found.  Pure.
 */
#ifndef MEMTOP_UNSEEN_H
#define MEMTOP_UNSEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "segment/reader.h"

/* The image of a segment, which may be gone by now.  Pids are in the process's own
   namespace. */
struct image {
    pid_t pid, parent;
    uint32_t generation;
    bool forked;     /* began as a copy of its parent, not by exec */
    bool elsewhere;  /* in another pid namespace than memtop: parent is meaningless */
    char name[28];   /* of the program, without its path; untrusted */
    struct executed executed;
};

/* A program that was executed and has no segment. */
struct unseen {
    const struct image *by;  /* the image that executed it */
    pid_t pid;               /* in the namespace of by; 0 unknown */
    const char *path;        /* as named in the call, maybe cut; "" unknown */
    bool preload_removed;
};

/* Calls visit for every program that is missing among the images, which include the root
   (its own start is not expected in any).  Sorts the images.  Doubtful cases are not
   reported. */
void unseen_find(struct image *images, size_t count, pid_t root,
                 void (*visit)(void *context, const struct unseen *unseen),
                 void *context);

#endif
