/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the readings of a session come from.  session.c has a source for a program that
 * lives and one for a saved session; tests bring one of made-up processes.
 */
#ifndef MEMTOP_SOURCE_H
#define MEMTOP_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile_namer;
struct process_list;
struct session;
struct tracked;
struct thread;

/* What a source can do; a member may be NULL: it has nothing of the kind. */
struct source_class {
    /* Reads everything once into root, digested (tracked_digest()); not called any more
       when that has ended. */
    void (*poll)(void *state, struct session *session, struct tracked *root,
                 int64_t now_ns, bool with_sizes);
    /* The threads of the process shown, as session_threads(). */
    size_t (*threads)(void *state, struct thread *out, size_t capacity);
    /* The processes, or NULL. */
    const struct process_list *(*processes)(const void *state);
    /* Who names functions of the process shown, or NULL: their files do. */
    const struct profile_namer *(*namer)(void *state);
    /* The root's command, borrowed. */
    const char *(*command)(const void *state);
    void (*free)(void *state);
};

struct session_source {
    const struct source_class *class; /* NULL: nothing is read yet */
    void *state;
};

#endif
