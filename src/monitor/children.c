/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Children are not followed while they run: what is to be said of one is read
 * from its segment, which outlives it, when it is asked for.
 */
#include "config.h"

#include "monitor/children.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "segment/names.h"
#include "segment/reader.h"

struct child {
    pid_t pid;
    uint32_t generation;
    uint64_t born_ns; /* CLOCK_BOOTTIME */
};

struct family {
    pid_t root;
    struct child *children;
    size_t count, room;
};

/* Keeps the last image of each. */
static void
note_child(void *context, const struct tree_segment *segment)
{
    struct family *family = context;
    const pid_t pid = segment->pid;
    const uint32_t generation = segment->generation;

    if (pid == family->root)
        return;
    for (size_t i = 0; i < family->count; i++)
        if (family->children[i].pid == pid) {
            if (family->children[i].generation < generation)
                family->children[i].generation = generation;
            return;
        }
    if (family->count == family->room) {
        size_t room = family->room * 2 + 64;
        struct child *grown = reallocarray(family->children, room, sizeof *grown);

        if (grown == NULL)
            return;
        family->children = grown;
        family->room = room;
    }
    family->children[family->count++] =
        (struct child){.pid = pid, .generation = generation};
}

static bool
read_child(const char *directory, const struct child *child, struct process *process)
{
    char path[SEGMENT_PATH_MAX + 32], name[24];
    struct reader *reader;
    bool good;

    segment_name(name, child->pid, child->generation);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (reader_open(path, getuid(), geteuid(), &reader) != 0)
        return false;
    *process = (struct process){.pid = child->pid, .state = STATE_GONE, .ended = true,
                                .measured = true, .generations = 1};
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
    const struct child *a = left, *b = right;

    return a->born_ns < b->born_ns ? -1 : a->born_ns > b->born_ns;
}

void
children_each(struct tree *tree, const char *directory, pid_t root,
              void (*visit)(void *context, const struct process *process), void *context)
{
    static struct process process; /* with a histogram: not for the stack */
    struct family family = {.root = root};

    tree_scan(tree);
    tree_each(tree, note_child, &family);
    for (size_t i = 0; i < family.count; i++)
        if (read_child(directory, &family.children[i], &process))
            family.children[i].born_ns = process.identity.created_boottime_ns;
    if (family.count > 1)
        qsort(family.children, family.count, sizeof *family.children, by_birth);
    for (size_t i = 0; i < family.count; i++)
        if (read_child(directory, &family.children[i], &process))
            visit(context, &process);
    free(family.children);
}
