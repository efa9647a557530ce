/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which allocator this process has, and its own figures. */
#ifndef MEMTOP_ALLOCATOR_H
#define MEMTOP_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALLOCATOR_NAME_MAX    64
#define ALLOCATOR_FIGURES_MAX 6

enum allocator_kind {
    ALLOCATOR_GLIBC,
    ALLOCATOR_JEMALLOC,
    ALLOCATOR_TCMALLOC,
    ALLOCATOR_MIMALLOC,
    ALLOCATOR_OTHER, /* has no figures */
};

struct allocator {
    enum allocator_kind kind;
    char name[ALLOCATOR_NAME_MAX]; /* "glibc"...; for others the file's name */
    void *ask;                     /* the function that gives figures */
    void *note;                    /* jemalloc_stats(), if a library has it */
};

/* A figure with the allocator's own name for it, in bytes. */
struct allocator_figure {
    const char *name;
    uint64_t bytes;
};

/* Looks at the libraries of this process.  May allocate. */
void allocator_find(struct allocator *allocator);

/* Gets the allocator's figures; returns how many there are, perhaps none.  Allocates
   nothing, except what an allocator needs for its own first answer. */
size_t allocator_ask(const struct allocator *allocator,
                     struct allocator_figure figures[ALLOCATOR_FIGURES_MAX]);

/* Calls jemalloc_stats(), as Mozilla's programs do where a log has a record: a library
   that logs calls logs this one. */
void allocator_note(const struct allocator *allocator);

/* Is this the allocator's name?  name is that of a kind, or of a library of this process,
   with or without directories. */
bool allocator_is(const struct allocator *allocator, const char *name);

#endif
