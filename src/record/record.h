/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records every call of a program and its children while they run: empties
 * their event rings into memusage's data files, one a process, in which an image
 * that a process becomes by exec goes on; or into one trace (trace.h); or both.
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

/* Whose blocks are counted by size: malloc's, or those of the program's own pools. */
enum record_blocks { RECORD_BLOCKS_MALLOC, RECORD_BLOCKS_POOL, RECORD_BLOCKS };

struct record_options {
    /* The file of the first process that is measured, normally the program
       itself; others write to PATH.PID.  NULL: no files. */
    const char *path;
    const char *trace;  /* the file of the trace, or NULL */
    bool replace;       /* files that exist are emptied, else they are an error */
    size_t buffered;    /* as dat_create() takes it */
    /* Gets every record of that first process, or NULL. */
    void (*watch)(void *context, const struct dat_record *record);
    /* A file that is given up, or could not be created: once each, record_new()'s
       included.  Or NULL. */
    void (*failed)(void *context, const char *path, int error);
    /* What is to count a process's blocks (blocksizes_new(), freed by the recorder);
       pid 0: all processes' together.  NULL: they are not counted.  Or NULL. */
    struct blocksizes *(*blocks)(void *context, pid_t pid, enum record_blocks which);
    uint64_t blocks_until_ns; /* later calls do not count, since the first image; or 0 */
    void *context;      /* of all */
};

/* Before the program starts: creates the files.  0 and *out, or -errno; what options
   point to must outlive it. */
int record_new(const struct record_options *options, struct record **out);

/* Follows the launched program, whose tree (the session's) must outlive record_finish().
   Of that tree record_poll() removes what is not needed any more (tree_prune). */
void record_start(struct record *record, const struct launched *launched,
                  struct tree *tree);

/* Takes what the rings hold.  Returns how soon to call again, in ns: a program
   whose ring is full waits. */
int64_t record_poll(struct record *record);

/* Takes the rest and completes the files.  Call it before the segments are
   unlinked (session_free()).  root_ended: the program itself has ended and its
   pid may be another's. */
void record_finish(struct record *record, bool root_ended);

/* Events that did not reach their file because a ring was full. */
uint64_t record_lost(const struct record *record);

/* Processes that have been recorded. */
unsigned record_processes(const struct record *record);

/* What is counted of a process, by its pid (0: of all together); NULL if nothing is.
   Borrowed until the next call but those with const. */
const struct blocksizes *record_blocks(const struct record *record, pid_t pid,
                                       enum record_blocks which);

/* The time it is in what is counted of a process, in ns; once it has ended, that of its
   end.  0 if nothing is counted. */
uint64_t record_blocks_now(const struct record *record, pid_t pid);

/* Frees it.  discard: nothing was started, the files it created go too. */
void record_free(struct record *record, bool discard);

#endif
