/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the recorder counts by block size of each process; for record.c. */
#ifndef MEMTOP_RECORD_BLOCKS_H
#define MEMTOP_RECORD_BLOCKS_H

#include "monitor/blocksizes.h"
#include "segment/drain.h"
#include "record/record.h"

struct blocks_files {
    const struct record_options *options;
    uint64_t began_ns;       /* CLOCK_MONOTONIC, of the first image; 0: none yet */
    struct blocksizes *all;  /* of all processes together, or NULL */
    uint32_t processes;
};

/* Of one process.  All zero: nothing is counted. */
struct process_blocks {
    struct blocksizes *of[RECORD_BLOCKS]; /* by enum record_blocks; or NULL */
    bool refused[RECORD_BLOCKS];          /* not to be asked for again */
    pid_t pid;
    uint32_t number;         /* among all */
    uint64_t created_ns;     /* the image, since the first one */
    uint64_t ended_ns;       /* the process, likewise; 0: it runs */
};

/* Begins, if anything is to be counted. */
void blocks_files_open(struct blocks_files *files, const struct record_options *options);

/* A new image; of a new process, or blocks of the one before are gone. */
void blocks_files_image(struct blocks_files *files, struct process_blocks *process,
                        pid_t pid, bool first, const struct drain_image *about);

void blocks_files_take(struct blocks_files *files, struct process_blocks *process,
                       const struct drained *events, size_t count);

/* The process has ended: among all its blocks are gone; root's stay. */
void blocks_files_ended(struct blocks_files *files, struct process_blocks *process,
                        bool root);

/* The process's time as its blocks have it: now, or its end; ns. */
uint64_t blocks_files_now(const struct blocks_files *files,
                          const struct process_blocks *process);

void process_blocks_free(struct process_blocks *process);
void blocks_files_free(struct blocks_files *files);

#endif
