/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Part of record.c: the memusage files (dat.h), one per process. */
#ifndef MEMTOP_RECORD_DAT_H
#define MEMTOP_RECORD_DAT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "segment/drain.h"
#include "record/record.h"

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

#endif
