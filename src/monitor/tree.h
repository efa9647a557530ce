/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The segments of a program and its descendants: those in the directory whose
 * keeper is this memtop.  Finds new ones, counts them, takes them away.
 */
#ifndef MEMTOP_TREE_H
#define MEMTOP_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tree;

/* directory may be "": then there is nothing to find.  first is the generation
   of the root's prepared segment.  NULL if memory is short. */
struct tree *tree_new(const char *directory, pid_t root, uint32_t first);
void tree_free(struct tree *tree);

/* Looks at the directory if it may have changed; whether it did look. */
bool tree_scan(struct tree *tree);

/* Takes away the segments of dead children beyond those worth keeping, oldest
   first.  After a look, by one tree only: whoever else needs them must have
   opened them. */
void tree_prune(struct tree *tree);

/* Calls visit for each segment of the tree that the last look has found. */
void tree_each(const struct tree *tree,
               void (*visit)(void *context, pid_t pid, uint32_t generation),
               void *context);

/* The newest generation of the root that counts. */
uint32_t tree_generation(const struct tree *tree);

/* Processes other than the root that were counted. */
unsigned tree_seen(const struct tree *tree);

/*
 * Unlinks the segments of processes that have ended (root_ended tells about
 * the root, whose pid may belong to another by now) and of earlier images.
 * Those of living processes stay, for a later memtop.
 */
void tree_unlink(struct tree *tree, bool root_ended);

#endif
