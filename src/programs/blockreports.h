/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports by block size, as the command line asks for them. */
#ifndef MEMTOP_BLOCKREPORTS_H
#define MEMTOP_BLOCKREPORTS_H

#include <stdbool.h>
#include <stdio.h>

#include "programs/report-options.h"
#include "monitor/blocksizes.h"
#include "report/blocklog.h"

/* What the reports are written from. */
struct blockreports {
    const struct report_options *options;
    const struct blockparams *params;
    const struct blocksizes *blocks;
    struct blocklog *log;     /* NULL: no steps were kept */
    const char *caption;      /* used if the options have none */
    const char *log_name;     /* used if the options have none */
    bool pool;                /* blocks of the program's own pool */
    bool runs;
    FILE *out;
};

/* The directory for log files.  A Windows directory is replaced by the current one. */
const char *blockreports_directory(const struct report_options *options,
                                   const struct blockparams *params);

/* Calls blocksizes_new() with the right counts and length of a tick. has_time: events
   have times. */
struct blocksizes *blockreports_new(const struct report_options *options,
                                    const struct blockparams *params, bool has_time);

/* Chooses the sizes for log and picture: those named in the options, or the `top` ones
   with most blocks at once.  Returns their indices, sorted, to be freed by the caller;
   NULL, with *count 0, for all sizes. */
uint32_t *blockreports_choose(const struct report_options *options,
                              const struct blocksizes *blocks, unsigned top,
                              size_t *count);

/* The outcome, from best to worst. */
enum reported {
    REPORTED,
    /* The report is complete, but a file that belongs to it could not be written. */
    REPORTED_ALONE,
    NOT_REPORTED,
};

/* Writes the log file, then the reports.  Reports what could not be written. */
enum reported blockreports_write(const struct blockreports *reports);

/* Writes a separator between the report on malloc and that on the pool. */
void blockreports_part(const struct report_options *options, FILE *out);

/* Writes the effective parameters to the file that the options name, if any. *created:
   the file did not exist before.  Reports an error and returns false on failure. */
bool blockreports_params(const struct report_options *options,
                         const struct blockparams *params, bool *created);

/* A file of recorded calls to report. picture: name of a PNG file for the chart, or
   NULL; title: of the chart, or NULL; width and height: of the chart, 0 for the
   default. */
struct blockreports_file {
    const struct report_options *options;
    const char *path;
    const char *output;       /* for the reports; NULL: standard output */
    const char *picture, *title;
    int width, height;
};
/* Writes the reports; returns the exit status. */
int blockreports_file(const struct blockreports_file *file);

/* Reads the blocks that malloc gave the program from a file of recorded calls, for the
   display.  Returns NULL if path is not such a file.  The caller frees the result. */
struct blocksizes *blockreports_read(const char *path);

#endif
