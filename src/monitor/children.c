/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Children are not followed while they run: their figures are read from their segments,
 * which outlive them, when they are asked for.
 */
#include "config.h"

#include "monitor/children.h"

#include <stdlib.h>

#include "base/array.h"
#include "segment/reader.h"

struct family {
    pid_t root;
    struct tree_segment *children; /* the last image of each child */
    size_t count, room;
};

static void
note_child(void *context, const struct tree_segment *segment)
{
    struct family *family = context;

    if (segment->pid == family->root)
        return;
    for (size_t i = 0; i < family->count; i++)
        if (tree_same_process(&family->children[i], segment)) {
            if (family->children[i].generation < segment->generation)
                family->children[i] = *segment;
            return;
        }
    if (ARRAY_GROW(family->children, family->room, family->count + 1))
        family->children[family->count++] = *segment;
}

static bool
read_child(const struct tree *tree, const struct tree_segment *child,
           struct process *process)
{
    struct reader *reader;
    bool good;

    if (tree_open(tree, child, &reader) != 0)
        return false;
    *process = (struct process){.pid = child->pid > 0 ? child->pid : child->own_pid,
                                .state = STATE_GONE,
                                .ended = true,
                                .measured = true,
                                .generations = 1};
    good = reader_identity(reader, &process->identity) == 0
           && process->identity.reason == REASON_NONE
           && process->identity.state != SEGMENT_PASSIVE
           && reader_snapshot(reader, &process->now) == 0
           && reader_histogram(reader, &process->sizes) == 0;
    reader_close(reader);
    return good;
}

static int
by_birth(const void *left, const void *right)
{
    const struct tree_segment *a = left, *b = right;

    return (a->created_boottime_ns > b->created_boottime_ns)
           - (a->created_boottime_ns < b->created_boottime_ns);
}

void
children_each(struct tree *tree, pid_t root,
              void (*visit)(void *context, const struct process *process), void *context)
{
    static struct process process; /* contains a histogram, too large for the stack */
    struct family family = {.root = root};

    tree_scan(tree);
    tree_each(tree, note_child, &family);
    if (family.count > 1)
        qsort(family.children, family.count, sizeof *family.children, by_birth);
    for (size_t i = 0; i < family.count; i++)
        if (read_child(tree, &family.children[i], &process))
            visit(context, &process);
    free(family.children);
}
