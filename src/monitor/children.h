/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counters of a program's children, from their segments. */
#ifndef MEMTOP_CHILDREN_H
#define MEMTOP_CHILDREN_H

#include "monitor/session.h"
#include "monitor/tree.h"

/*
 * Calls visit for the last image of every process of the tree but root that is
 * or was counted, in the order of their starts; what it gets is good for the
 * call.  Of very many that have ended the first may be gone (tree.c).
 */
void children_each(struct tree *tree, pid_t root,
                   void (*visit)(void *context, const struct process *process),
                   void *context);

#endif
