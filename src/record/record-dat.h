/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The recorder's memusage files (dat.h), one a process; for record.c. */
#ifndef MEMTOP_RECORD_DAT_H
#define MEMTOP_RECORD_DAT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "segment/drain.h"
#include "record/record.h"

struct dat_files {
    const struct record_options *options;
    struct dat_writer *first; /* of the first process, until it comes */
    int64_t epoch_ns;         /* CLOCK_REALTIME less CLOCK_MONOTONIC */
};

/* Of one process. */
struct dat_file {
    bool first;              /* the one whose records are watched */
    struct dat_writer *file; /* NULL: given up, or none wanted */
    char *path;              /* NULL: the options' */
    int64_t image_ns;        /* CLOCK_MONOTONIC at the image's start */
    uint64_t heap;
};

/* Creates the first file, if one is wanted.  0 or -errno. */
int dat_files_open(struct dat_files *files, const struct record_options *options);

/* The file of a new process; another process of that number has one already. */
void dat_files_process(struct dat_files *files, struct dat_file *file, pid_t pid,
                       uint32_t generation, bool another);

/* The process is this image from now on. */
void dat_files_image(struct dat_file *file, const struct drain_image *image);

void dat_files_take(const struct dat_files *files, struct dat_file *file,
                    const struct drained *events, size_t count);

/* Completes a process's file, whatever became of it. */
void dat_files_close(const struct dat_files *files, struct dat_file *file);

/* Completes the first file if nobody came to use it. */
void dat_files_finish(struct dat_files *files);

#endif
