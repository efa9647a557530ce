/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The maximum usage of the processes of a tree, each on its own or all together; limits
 * are applied to it.  Every image of a process counts, even one that ended between two
 * polls: its figures are read when its segment is about to be removed, or at the end.
 */
#ifndef MEMTOP_USAGE_H
#define MEMTOP_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "monitor/tree.h"
#include "segment/reader.h"

enum usage_kind {
    USAGE_HEAP,         /* bytes, the heap's peak */
    USAGE_LIVE_AT_EXIT, /* bytes not freed at the end */
    USAGE_ALLOCS,       /* calls that returned a block */
    USAGE_STACK,        /* bytes, the stack's peak at calls */
    USAGE_KINDS
};

/* The value for one process; USAGE_LIVE_AT_EXIT as if it ended now. */
uint64_t usage_of(enum usage_kind kind, const struct snapshot *now);

/* The highest value of a kind, and its process. */
struct usage_most {
    uint64_t value;
    pid_t pid;       /* 0: no process was measured */
    char name[64];   /* of the program, without its path; untrusted */
};

struct usage_result {
    struct usage_most most[USAGE_KINDS];
    /* For heap and stack: the greatest sum over processes that lived at the same time;
       for other kinds the sum over all. */
    uint64_t sum[USAGE_KINDS];
    unsigned processes;    /* measured */
    unsigned running;      /* how many of these are still running */
    unsigned unmeasured;   /* programs that count but were not measured */
    char why[256];         /* of one of these, translated: "sh executed ./a, which ..." */
};

struct usage;

struct usage_options {
    bool sum;          /* compute sums: living processes are read at each poll */
    const char *only;  /* -n: programs of another name do not count; or NULL */
};

/* For the tree of the launched program root; the tree must outlive it.  Returns NULL if
   memory is short. */
struct usage *usage_new(struct tree *tree, pid_t root,
                        const struct usage_options *options);
void usage_free(struct usage *usage);

/* Call after each scan of the tree.  For sums, a process whose peak has risen since the
   last poll counts with that peak.  A process that lived only between two polls counts
   alone. */
void usage_poll(struct usage *usage);

/* Reads everything that is left; call once, when the root has ended. */
void usage_finish(struct usage *usage, struct usage_result *result);

#endif
