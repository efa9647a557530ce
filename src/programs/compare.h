/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replays a log in processes of their own, each with another allocator. */
#ifndef MEMTOP_COMPARE_H
#define MEMTOP_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "programs/replay-run.h"

/* memtop-replay ends with this where it was given --expect and its allocator is
   another one. */
#define COMPARE_ABSENT 3

/* The allocators everybody knows; NULL ends them. */
extern const char *const compare_known[];

enum compare_verdict {
    COMPARE_DONE,
    COMPARE_MISSING, /* there is no such library, or it is no allocator */
    COMPARE_NAME,    /* a name that cannot be preloaded */
    COMPARE_FAILED,  /* *status is that of waitpid() */
    COMPARE_ERROR,   /* no process or pipe could be made; errno says why */
};

/*
 * Runs memtop-replay anew on the log fd, which must be a regular file, from its
 * beginning.  allocator: a name of compare_known, or a library as LD_PRELOAD takes
 * it.  words: more arguments, up to a NULL.
 */
enum compare_verdict compare_run(const char *allocator, int fd, char *const words[],
                                 struct replay_result *result, int *status);

#endif
