/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Part of record.c: counts each process's blocks by size. */
#ifndef MEMTOP_RECORD_BLOCKS_H
#define MEMTOP_RECORD_BLOCKS_H

#include "monitor/blocksizes.h"
#include "segment/drain.h"
#include "record/record.h"

struct blocks_files {
    const struct record_options *options;
    uint64_t began_ns;       /* CLOCK_MONOTONIC, start of the first image; 0: none yet */
    struct blocksizes *all;  /* of all processes together, or NULL */
    uint32_t processes;
};

/* One process.  All zeros: nothing is counted. */
struct process_blocks {
    struct blocksizes *of[RECORD_BLOCKS]; /* by enum record_blocks; or NULL */
    bool refused[RECORD_BLOCKS];          /* do not ask for it again */
    pid_t pid;
    uint32_t number;         /* number among all processes */
    uint64_t created_ns;     /* of the image, since the first one */
    uint64_t ended_ns;       /* of the process, since the first image; 0: it runs */
};

/* Begins, if anything is to be counted. */
void blocks_files_open(struct blocks_files *files, const struct record_options *options);

/* A new image: of a new process, or the blocks of the image before are gone. */
void blocks_files_image(struct blocks_files *files, struct process_blocks *process,
                        pid_t pid, bool first, const struct drain_image *about);

void blocks_files_take(struct blocks_files *files, struct process_blocks *process,
                       const struct drained *events, size_t count);

/* The process has ended: its blocks are removed from the common count; the root's
   stay. */
void blocks_files_ended(struct blocks_files *files, struct process_blocks *process,
                        bool root);

/* The process's time as its blocks count it: now, or its end; ns. */
uint64_t blocks_files_now(const struct blocks_files *files,
                          const struct process_blocks *process);

void process_blocks_free(struct process_blocks *process);
void blocks_files_free(struct blocks_files *files);

#endif
