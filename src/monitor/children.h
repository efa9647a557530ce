/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counters of a program's children, from their segments. */
#ifndef MEMTOP_CHILDREN_H
#define MEMTOP_CHILDREN_H

#include "monitor/session.h"
#include "monitor/tree.h"

/*
 * Calls visit for the last image of every process of the tree except root that is or was
 * counted, ordered by start; its argument is valid during the call.  If very many have
 * ended, the first may be missing (tree.c).
 */
void children_each(struct tree *tree, pid_t root,
                   void (*visit)(void *context, const struct process *process),
                   void *context);

#endif
