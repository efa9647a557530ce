/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports by block size, as the command line asks for them. */
#ifndef MEMTOP_BLOCKREPORTS_H
#define MEMTOP_BLOCKREPORTS_H

#include <stdbool.h>
#include <stdio.h>

#include "programs/report-options.h"
#include "monitor/blocksizes.h"
#include "report/blocklog.h"

/* What there is to report of. */
struct blockreports {
    const struct report_options *options;
    const struct blockparams *params;
    const struct blocksizes *blocks;
    struct blocklog *log;     /* NULL: no steps were kept */
    const char *caption;      /* if the options have none */
    const char *log_name;     /* likewise */
    bool pool;                /* blocks of the program's own pool */
    bool runs;
    FILE *out;
};

/* Where log files are written: a directory of Windows stands for the current one. */
const char *blockreports_directory(const struct report_options *options,
                                   const struct blockparams *params);

/* The counts and the length of a tick that blocksizes_new() takes; has_time: events
   have times. */
struct blocksizes *blockreports_new(const struct report_options *options,
                                    const struct blockparams *params, bool has_time);

/* Chooses the sizes that log and picture are of: those named, or those with most
   blocks at once.  Sorted places, which the caller frees; NULL, *count 0: all. */
uint32_t *blockreports_choose(const struct report_options *options,
                              const struct blocksizes *blocks, unsigned top,
                              size_t *count);

/* What came of it, from best to worst. */
enum reported {
    REPORTED,
    REPORTED_ALONE, /* but a file that belongs to it could not be written */
    NOT_REPORTED,
};

/* Writes the log file, then the reports; says why if something could not be written. */
enum reported blockreports_write(const struct blockreports *reports);

/* Parts the report of the pool from that of malloc before it. */
void blockreports_part(const struct report_options *options, FILE *out);

/* Writes the effective parameters to the file the options name, if they do; *created: it
   was not there before.  False, having said why. */
bool blockreports_params(const struct report_options *options,
                         const struct blockparams *params, bool *created);

/* Reads a file of recorded calls and reports: the exit status.  picture: PNG file
   for the figure, or NULL; title of it, or NULL; width and height, 0 the usual. */
struct blockreports_file {
    const struct report_options *options;
    const char *path;
    const char *output;       /* of the reports; NULL: the standard output */
    const char *picture, *title;
    int width, height;
};
int blockreports_file(const struct blockreports_file *file);

/* What malloc gave the program, of a file of recorded calls, for the display; NULL if
   it is none.  The caller frees it. */
struct blocksizes *blockreports_read(const char *path);

#endif
