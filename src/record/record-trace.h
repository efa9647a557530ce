/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The recorder's trace (native.h), one of all processes; for record.c. */
#ifndef MEMTOP_RECORD_TRACE_H
#define MEMTOP_RECORD_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "segment/drain.h"
#include "record/record.h"

struct trace_file {
    const struct record_options *options;
    struct native_writer *writer; /* NULL: given up, or none wanted */
    int64_t began_ns;             /* CLOCK_MONOTONIC */
};

/* Of one process image.  All zero: none. */
struct trace_image {
    bool open;
    bool told;          /* its arguments are in the file */
    uint32_t number;
    int64_t created_ns; /* since the trace began */
    uint32_t *threads;  /* SHARD_COUNT, by ring: the thread's number + 1 */
};

/* Creates the file, if it is wanted.  0 or -errno. */
int trace_file_open(struct trace_file *file, const struct record_options *options);

/* A new image; the one before has ended. */
void trace_file_image(struct trace_file *file, struct trace_image *image, pid_t pid,
                      uint32_t generation, const struct drain_image *about);

/* The image's arguments come a little later than its first calls: call this while they
   are not told. */
void trace_file_arguments(struct trace_file *file, struct trace_image *image,
                          const struct drain_image *about);

void trace_file_take(struct trace_file *file, struct trace_image *image,
                     const struct drained *events, size_t count);

/* The image is gone.  Frees it; it may be none. */
void trace_file_ended(struct trace_file *file, struct trace_image *image);

/* After each round. */
void trace_file_tick(struct trace_file *file);

/* Completes the file. */
void trace_file_finish(struct trace_file *file);

#endif
