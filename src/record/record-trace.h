/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Part of record.c: the trace (native.h), one for all processes. */
#ifndef MEMTOP_RECORD_TRACE_H
#define MEMTOP_RECORD_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "segment/drain.h"
#include "record/record.h"

struct trace_file {
    const struct record_options *options;
    struct native_writer *writer; /* NULL: given up, or not wanted */
    int64_t began_ns;             /* CLOCK_MONOTONIC */
};

/* One process image.  All zeros: none. */
struct trace_image {
    bool open;
    bool told;          /* its arguments are in the file */
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

#endif
