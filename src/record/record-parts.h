/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What record.c writes to: a trace, memusage's files, counts of blocks. */
#ifndef MEMTOP_RECORD_PARTS_H
#define MEMTOP_RECORD_PARTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "segment/drain.h"
#include "record/record.h"
#include "monitor/blocksizes.h"

/* ---- the trace (native.h), one for all processes (record-trace.c) ---- */

struct trace_file {
    const struct record_options *options;
    struct native_writer *writer; /* NULL: given up, or not wanted */
    int64_t began_ns;             /* CLOCK_MONOTONIC */
};

/* One process image.  All zeros: none. */
struct trace_image {
    bool open;
    bool told; /* its arguments are in the file */
    uint32_t number;
    int64_t created_ns; /* since the trace began */
    uint32_t *threads;  /* SHARD_COUNT, by ring: thread number + 1 */
};

/* Creates the file, if it is wanted.  Returns 0 or -errno. */
int trace_file_open(struct trace_file *file, const struct record_options *options);

/* Begins a new image; the one before has ended. */
void trace_file_image(struct trace_file *file, struct trace_image *image, pid_t pid,
                      uint32_t generation, const struct drain_image *about);

/* The image's arguments are available a little later than its first calls: call this
   until they have been written. */
void trace_file_arguments(struct trace_file *file, struct trace_image *image,
                          const struct drain_image *about);

void trace_file_take(struct trace_file *file, struct trace_image *image,
                     const struct drained *events, size_t count);

/* The image is gone.  Frees it; it may be all zeros. */
void trace_file_ended(struct trace_file *file, struct trace_image *image);

/* Call after each round. */
void trace_file_tick(struct trace_file *file);

/* Completes the file. */
void trace_file_finish(struct trace_file *file);

/* ---- memusage's files (dat.h), one per process (record-dat.c) ---- */

struct dat_files {
    const struct record_options *options;
    struct dat_writer *first; /* the first process's, until there is one */
    int64_t epoch_ns;         /* CLOCK_REALTIME minus CLOCK_MONOTONIC */
};

/* The file of one process. */
struct dat_file {
    bool first;              /* the process whose records are watched */
    struct dat_writer *file; /* NULL: given up, or not wanted */
    char *path;              /* NULL: the path in the options */
    int64_t image_ns;        /* CLOCK_MONOTONIC at the image's start */
    uint64_t heap;
};

/* Creates the first file, if files are wanted.  Returns 0 or -errno. */
int dat_files_open(struct dat_files *files, const struct record_options *options);

/* Creates a new process's file; another: an earlier process with that pid has one. */
void dat_files_process(struct dat_files *files, struct dat_file *file, pid_t pid,
                       uint32_t generation, bool another);

/* The process runs this image from now on. */
void dat_files_image(struct dat_file *file, const struct drain_image *image);

void dat_files_take(const struct dat_files *files, struct dat_file *file,
                    const struct drained *events, size_t count);

/* Completes a process's file, however the process ended. */
void dat_files_close(const struct dat_files *files, struct dat_file *file);

/* Completes the first file if no process came to use it. */
void dat_files_finish(struct dat_files *files);

/* ---- blocks by size of each process (record-blocks.c) ---- */

struct blocks_files {
    const struct record_options *options;
    uint64_t began_ns;      /* CLOCK_MONOTONIC, start of the first image; 0: none yet */
    struct blocksizes *all; /* of all processes together, or NULL */
    uint32_t processes;
};

/* One process.  All zeros: nothing is counted. */
struct process_blocks {
    struct blocksizes *of[RECORD_BLOCKS]; /* by enum record_blocks; or NULL */
    bool refused[RECORD_BLOCKS];          /* do not ask for it again */
    pid_t pid;
    uint32_t number;     /* number among all processes */
    uint64_t created_ns; /* of the image, since the first one */
    uint64_t ended_ns;   /* of the process, since the first image; 0: it runs */
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
