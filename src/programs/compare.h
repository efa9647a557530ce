/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replays a log in several child processes, each with another allocator. */
#ifndef MEMTOP_COMPARE_H
#define MEMTOP_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "programs/replay-run.h"

/* The exit status of memtop-replay if its allocator is not the one --expect names. */
#define COMPARE_ABSENT 3

/* Names of the well-known allocators, with NULL at the end. */
extern const char *const compare_known[];

enum compare_verdict {
    COMPARE_DONE,
    COMPARE_MISSING, /* the library does not exist, or is not an allocator */
    COMPARE_NAME,    /* the name cannot be preloaded */
    COMPARE_FAILED,  /* the child failed; *status as from waitpid() */
    COMPARE_ERROR,   /* cannot make a process or pipe; errno says why */
};

/*
 * Runs memtop-replay on the log fd, a regular file, from its beginning. allocator: a
 * name from compare_known, or a library as in LD_PRELOAD. words: more arguments, with
 * NULL at the end.
 */
enum compare_verdict compare_run(const char *allocator, int fd, char *const words[],
                                 struct replay_result *result, int *status);

#endif
