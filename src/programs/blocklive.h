/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blocks counted by size while the program runs: for the report at the end, for the
   display, and for requests meanwhile (blockask.h). */
#ifndef MEMTOP_BLOCKLIVE_H
#define MEMTOP_BLOCKLIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "report/blocklog.h"
#include "report/blockparams.h"
#include "record/record.h"

struct report_options;
struct run;

struct blocklive {
    struct blockparams params;
    struct blocklog *log[RECORD_BLOCKS]; /* of the reported process, or NULL */
    bool params_created;                 /* params_out did not exist before */
    int listener;                        /* socket for requests (blockask.h); -1: none */
};

/* Call it before the program starts.  Reads the parameters, writes the effective ones
   and prepares the log.  Returns 0, or reports an error and returns the exit status. */
int blocklive_open(struct run *run);

/* The blocks() callback of the recorder; run is the struct run. */
struct blocksizes *blocklive_make(void *run, pid_t pid, enum record_blocks which);

/* The blocks() callback of the display: the counts of a process, NULL if there are none.
   *now_ns is the time of the counts; now_ns may be NULL. */
const struct blocksizes *blocklive_of(void *run, pid_t pid, uint64_t *now_ns);

/* Writes the reports that options ask for, as of now, to out. pid 0: the process that
   options name.  Reports an error and returns false on failure. */
bool blocklive_write(const struct run *run, const struct report_options *options,
                     const struct blockparams *params, pid_t pid, FILE *out);

/* Writes the reports at the end, if they were asked for. */
void blocklive_report(struct run *run);

void blocklive_close(struct run *run);

/* Like blocklive_close(), if the program could not be started: also removes files that
   were created. */
void blocklive_discard(struct run *run);

#endif
