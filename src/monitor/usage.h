/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the processes of a tree use at most, each on its own or all together: what limits
 * judge.  Every image of a process counts, also one that ended between two polls: its
 * figures are read when its segment is about to be removed, or at the end.
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
    USAGE_LIVE_AT_EXIT, /* bytes never freed */
    USAGE_ALLOCS,       /* calls that gave a block */
    USAGE_STACK,        /* bytes, the stack's peak at calls */
    USAGE_KINDS
};

/* That of one process, USAGE_LIVE_AT_EXIT as if it ended now. */
uint64_t usage_of(enum usage_kind kind, const struct snapshot *now);

/* The most of a kind, and whose. */
struct usage_most {
    uint64_t value;
    pid_t pid;       /* 0: nobody was measured */
    char name[64];   /* of the program, without its path; untrusted */
};

struct usage_result {
    struct usage_most most[USAGE_KINDS];
    /* Of all together: the greatest sum over those that lived at the same time, for heap
       and stack; else the sum over all. */
    uint64_t sum[USAGE_KINDS];
    unsigned processes;    /* measured */
    unsigned running;      /* of them, that run still */
    unsigned unmeasured;   /* programs, of those that count */
    char why[256];         /* of one of these, translated: "sh executed ./a, which ..." */
};

struct usage;

struct usage_options {
    bool sum;          /* the sums are wanted: living processes are read at each poll */
    const char *only;  /* -n: programs of another name do not count; or NULL */
};

/* Of the tree of the launched program root, which must outlive it.  NULL if memory is
   short. */
struct usage *usage_new(struct tree *tree, pid_t root, const struct usage_options *options);
void usage_free(struct usage *usage);

/* After each scan of the tree.  Sums between two polls are not missed: a process whose
   peak has risen since the last poll counts with that.  A process that lived between two
   polls counts alone. */
void usage_poll(struct usage *usage);

/* Reads all that is left; once, when the root has ended. */
void usage_finish(struct usage *usage, struct usage_result *result);

#endif
