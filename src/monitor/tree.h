/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The segments in a directory: those of a program and its descendants, whose
 * keeper is this memtop, or everybody's.  Finds new ones, counts them, takes
 * away those it keeps.
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
    pid_t pid;          /* as we know it; 0: of another pid namespace, and we do not */
    pid_t own_pid;      /* in its own pid namespace: the segment is called so */
    uint64_t pid_namespace;
    uint32_t generation;
    uint64_t created_boottime_ns;
    bool counts;        /* it has counters, and -n does not leave it out */
    bool alien;         /* of another version: there is nothing but the pid */
};

static inline bool
tree_same_process(const struct tree_segment *a, const struct tree_segment *b)
{
    return a->pid > 0 && b->pid > 0
               ? a->pid == b->pid
               : a->own_pid == b->own_pid && a->pid_namespace == b->pid_namespace;
}

/* Of what this memtop keeps, from now on.  directory may be "": then there is
   nothing to find.  NULL if memory is short. */
struct tree *tree_new(const char *directory, pid_t root);

/* Of all processes that we know, in whatever pid namespace, whose files belong to one
   of the uids; nothing is taken away. */
struct tree *tree_new_all(const char *directory, uid_t owner_real, uid_t owner_effective);
void tree_free(struct tree *tree);

/* Looks at the directory if it may have changed; whether it did look. */
bool tree_scan(struct tree *tree);

/* Takes away the segments of dead children beyond those worth keeping, oldest
   first.  After a look, by one tree only: whoever else needs them must have
   opened them. */
void tree_prune(struct tree *tree);

/* From now on calls leave for each segment just before tree_prune() removes it; and no
   more.  For at most TREE_LISTENERS at a time. */
#define TREE_LISTENERS 2
typedef void tree_leave(void *context, const struct tree_segment *segment);
void tree_on_removal(struct tree *tree, tree_leave *leave, void *context);
void tree_off_removal(struct tree *tree, tree_leave *leave, void *context);

/* How many looks there have been. */
unsigned tree_looks(const struct tree *tree);

/* Calls visit for each segment of the tree that the last look has found, in the order
   of their making. */
void tree_each(const struct tree *tree,
               void (*visit)(void *context, const struct tree_segment *segment),
               void *context);

/* Of the newest image of a process, or NULL; good until the next look. */
const struct tree_segment *tree_newest(const struct tree *tree, pid_t pid);

/* Opens a segment of the tree; as reader_open(). */
int tree_open(const struct tree *tree, const struct tree_segment *segment,
              struct reader **out);

/* Has the last look found nothing? */
bool tree_empty(const struct tree *tree);

/* Where the tree looks, good as long as the tree; "" nowhere. */
const char *tree_directory(const struct tree *tree);

/* Processes other than the root that were counted. */
unsigned tree_seen(const struct tree *tree);

/*
 * Unlinks the segments of processes that have ended (root_ended tells about
 * the root, whose pid may belong to another by now) and of earlier images.
 * Those of living processes stay, for a later memtop.
 */
void tree_unlink(struct tree *tree, bool root_ended);

#endif
