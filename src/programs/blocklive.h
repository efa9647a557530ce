/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blocks counted by size while the program runs: for the report at the end, for the
   display, and for whoever asks meanwhile (blockask.h). */
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
    struct blocklog *log[RECORD_BLOCKS]; /* of what is reported, or NULL */
    bool params_created;                 /* the file for the effective ones */
    int listener;                        /* for those who ask; -1: none */
};

/* Before the program starts: reads the parameters, writes the effective ones,
   prepares the log.  0 or the exit status, having said why. */
int blocklive_open(struct run *run);

/* The recorder's blocks(); context is the struct run. */
struct blocksizes *blocklive_make(void *run, pid_t pid, enum record_blocks which);

/* The display's: what is counted of a process, NULL if nothing is; and its time. */
const struct blocksizes *blocklive_of(void *run, pid_t pid, uint64_t *now_ns);

/* Writes the reports that options ask for of a process (0: as they say) to out, as
   things stand.  False, having said why. */
bool blocklive_write(const struct run *run, const struct report_options *options,
                     const struct blockparams *params, pid_t pid, FILE *out);

/* The reports at the end, if they were asked for. */
void blocklive_report(struct run *run);

void blocklive_close(struct run *run);

/* The program was not started: what has been written goes, too. */
void blocklive_discard(struct run *run);

#endif
