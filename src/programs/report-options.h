/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of reports by block size, the same for memtop and memtopstat. */
#ifndef MEMTOP_REPORT_OPTIONS_H
#define MEMTOP_REPORT_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/blockparams.h"

enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_CSV };

/* Which blocks: those of malloc, those of the program's own pools, or both. */
enum report_view { REPORT_VIEW_MALLOC, REPORT_VIEW_POOL, REPORT_VIEW_BOTH };

#define REPORT_SIZES_MAX 256

struct report_options {
    unsigned reports;      /* bits of enum block_report; 0: no report is asked for */
    enum report_format format;
    bool compat;           /* format of the article, byte for byte */
    const char *params;    /* parameter files to read and to write, or NULL */
    const char *params_out;
    bool at_given;
    uint64_t at_ns;        /* later events do not count */
    const char *at;        /* as given */
    const char *caption;   /* NULL: the program's name */
    const char *process;   /* a pid or "all"; NULL: the program itself */
    enum report_view view;
    uint64_t sizes[REPORT_SIZES_MAX]; /* sizes for log and picture, if given */
    size_t size_count;
    unsigned top;          /* or the number of sizes; 0: not given */
    const char *log_name;  /* without directory and extension, or NULL */
    /* These take precedence over the parameter file; NULL: not given. */
    const char *sort, *group, *counts, *lower;
    const char *log_directory, *log_extension, *log_delimiter, *log_each;
    const char *first;     /* the first of these options that was given, or NULL */
};

/* A child for struct argp; its input is a struct report_options. */
extern const struct argp report_argp;

/* Fills *params from the defaults, the parameter file and the options.  Without a list
   of reports in the options, that of the file applies.  Returns 0; if the file cannot be
   read, or the bounds do not fit together, reports that and returns the exit status. */
int report_params(const struct report_options *options, struct blockparams *params);

#endif
