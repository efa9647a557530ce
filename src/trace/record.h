/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records every call of a program and its children while they run: empties
 * their event rings into memusage's data files, one a process.  An image a
 * process becomes by exec goes on in the same file.
 */
#ifndef MEMTOP_RECORD_H
#define MEMTOP_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/launch.h"
#include "trace/dat.h"

struct record;

struct record_options {
    /* The file of the first process that is measured, normally the program
       itself; others write to PATH.PID.  NULL: no files. */
    const char *path;
    bool replace;       /* files that exist are emptied, else they are an error */
    size_t buffered;    /* as dat_create() takes it */
    /* Gets every record of that first process, or NULL. */
    void (*watch)(void *context, const struct dat_record *record);
    /* A file that is given up, or could not be created: once each.  Or NULL. */
    void (*failed)(void *context, const char *path, int error);
    void *context;      /* of both */
};

/* Before the program starts: creates the file.  0 and *out, or -errno. */
int record_new(const struct record_options *options, struct record **out);

/* Follows the launched program.  0 or -ENOMEM. */
int record_start(struct record *record, const struct launched *launched);

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

/* Frees it.  discard: nothing was started, the file it created goes too. */
void record_free(struct record *record, bool discard);

#endif
