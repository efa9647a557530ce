/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The segments in a directory: those of a program and its descendants, whose keeper is
 * this memtop, or everybody's.  Finds new ones, counts them, and unlinks those it keeps.
 */
#ifndef MEMTOP_TREE_H
#define MEMTOP_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "segment/reader.h"

struct tree;

/* The segment of one image of a process. */
struct tree_segment {
    pid_t pid;          /* in our namespace; 0: unknown, in another one */
    pid_t own_pid;      /* in its own pid namespace: part of the file's name */
    uint64_t pid_namespace;
    uint32_t generation;
    uint64_t created_boottime_ns;
    bool counts;        /* it has counters, and -n does not exclude it */
    bool alien;         /* of another version: only the pid is known */
};

static inline bool
tree_same_process(const struct tree_segment *a, const struct tree_segment *b)
{
    return a->pid > 0 && b->pid > 0
               ? a->pid == b->pid
               : a->own_pid == b->own_pid && a->pid_namespace == b->pid_namespace;
}

/* Tracks segments kept by this memtop from now on.  directory may be "": then there are
   none.  Returns NULL if memory is short. */
struct tree *tree_new(const char *directory, pid_t root);

/* Tracks segments of all processes that are visible, in any pid namespace, whose files
   belong to one of the uids; unlinks nothing. */
struct tree *tree_new_all(const char *directory, uid_t owner_real, uid_t owner_effective);
void tree_free(struct tree *tree);

/* Scans the directory if it may have changed; returns whether it did. */
bool tree_scan(struct tree *tree);

/* Unlinks the segments of dead children beyond those worth keeping, oldest first.  Call
   after a scan, on one tree only: other users of these segments must have opened them. */
void tree_prune(struct tree *tree);

/* From now on calls leave for each segment just before tree_prune() removes it;
   off_removal ends that.  At most TREE_LISTENERS at a time. */
#define TREE_LISTENERS 2
typedef void tree_leave(void *context, const struct tree_segment *segment);
void tree_on_removal(struct tree *tree, tree_leave *leave, void *context);
void tree_off_removal(struct tree *tree, tree_leave *leave, void *context);

/* The number of scans so far. */
unsigned tree_looks(const struct tree *tree);

/* Calls visit for each segment of the tree that the last scan found, in the order in
   which they were made. */
void tree_each(const struct tree *tree,
               void (*visit)(void *context, const struct tree_segment *segment),
               void *context);

/* The segment of a process's newest image, or NULL; valid until the next scan. */
const struct tree_segment *tree_newest(const struct tree *tree, pid_t pid);

/* Opens a segment of the tree; returns as reader_open(). */
int tree_open(const struct tree *tree, const struct tree_segment *segment,
              struct reader **out);

/* Did the last scan find nothing? */
bool tree_empty(const struct tree *tree);

/* The tree's directory, valid as long as the tree; "" for none. */
const char *tree_directory(const struct tree *tree);

/* The number of processes, other than the root, that were counted. */
unsigned tree_seen(const struct tree *tree);

/*
 * Unlinks the segments of processes that have ended (root_ended says so for the root,
 * whose pid may have been reused) and of earlier images.  Those of living processes stay,
 * for a later memtop.
 */
void tree_unlink(struct tree *tree, bool root_ended);

#endif
