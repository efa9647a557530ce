/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records every call of a program and its children while they run.  Empties their event
 * rings into memusage's data files, one per process, continued over the images that it
 * becomes by exec; or into one trace (trace.h); or both.
 */
#ifndef MEMTOP_RECORD_H
#define MEMTOP_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/blocksizes.h"
#include "system/launch.h"
#include "monitor/tree.h"
#include "files/dat.h"

struct record;

/* Which blocks are counted by size: malloc's, or those of the program's own pools. */
enum record_blocks { RECORD_BLOCKS_MALLOC, RECORD_BLOCKS_POOL, RECORD_BLOCKS };

struct record_options {
    /* The file of the first process that is measured, normally the program itself; others
       write to PATH.PID.  NULL: no files. */
    const char *path;
    const char *trace;  /* the file of the trace, or NULL */
    bool replace;       /* empty existing files; otherwise they are an error */
    size_t buffered;    /* as for dat_create() */
    /* Called for every record of that first process; or NULL. */
    void (*watch)(void *context, const struct dat_record *record);
    /* Called once for each file that is given up, or that record_new() could not create;
       or NULL. */
    void (*failed)(void *context, const char *path, int error);
    /* Returns what counts a process's blocks (blocksizes_new(), freed by the recorder);
       pid 0 is for all processes together.  A result of NULL means they are not counted.
       The function may be NULL. */
    struct blocksizes *(*blocks)(void *context, pid_t pid, enum record_blocks which);
    uint64_t blocks_until_ns; /* later calls do not count; since the first image; or 0 */
    void *context;      /* for all the functions */
};

/* Call before the program starts: creates the files.  Returns 0 and *out, or -errno; what
   options point to must outlive it. */
int record_new(const struct record_options *options, struct record **out);

/* Follows the launched program.  Its tree (the session's) must outlive record_finish();
   record_poll() removes from it what is no longer needed (tree_prune). */
void record_start(struct record *record, const struct launched *launched,
                  struct tree *tree);

/* Takes what the rings hold.  Returns how soon to call again, in ns: a program whose ring
   is full waits. */
int64_t record_poll(struct record *record);

/* Takes the rest and completes the files.  Call before the segments are unlinked
   (session_free()).  root_ended: the program itself has ended, and its pid may have been
   reused. */
void record_finish(struct record *record, bool root_ended);

/* Number of events that did not reach their file because a ring was full. */
uint64_t record_lost(const struct record *record);

/* Number of processes that have been recorded. */
unsigned record_processes(const struct record *record);

/* The counts of a process by its pid (0: of all together); NULL if there are none.
   Borrowed until the next call of a function without const. */
const struct blocksizes *record_blocks(const struct record *record, pid_t pid,
                                       enum record_blocks which);

/* The time in a process's counts, in ns; once it has ended, that of its end.  0 if
   nothing is counted. */
uint64_t record_blocks_now(const struct record *record, pid_t pid);

/* Frees it.  discard: nothing was started; the files it created are removed too. */
void record_free(struct record *record, bool discard);

#endif
