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

/* Whose blocks: those of malloc, those the program tells of its own pools, both. */
enum report_view { REPORT_VIEW_MALLOC, REPORT_VIEW_POOL, REPORT_VIEW_BOTH };

#define REPORT_SIZES_MAX 256

struct report_options {
    unsigned reports;      /* of enum block_report; 0: no report is asked for */
    enum report_format format;
    bool compat;           /* the article's bytes */
    const char *params;    /* parameter files to be read, written; or NULL */
    const char *params_out;
    bool at_given;
    uint64_t at_ns;        /* nothing after that counts */
    const char *at;        /* as it was given */
    const char *caption;   /* NULL: the program's name */
    const char *process;   /* a pid, "all"; NULL: the program itself */
    enum report_view view;
    uint64_t sizes[REPORT_SIZES_MAX]; /* in log and picture, if any are chosen */
    size_t size_count;
    unsigned top;          /* or so many; 0: not chosen */
    const char *log_name;  /* without directory and extension, or NULL */
    /* Over what the parameter file says; NULL: not given. */
    const char *sort, *group, *counts, *lower;
    const char *log_directory, *log_extension, *log_delimiter, *log_each;
    const char *first;     /* the first of them all that was given, or NULL */
};

/* A child for struct argp; its input is a struct report_options. */
extern const struct argp report_argp;

/* Fills *params: defaults, then the parameter file, then the options; without a
   list of reports those of the file.  0, or the exit status, having said why: the file
   cannot be read, or the bounds do not fit together. */
int report_params(const struct report_options *options, struct blockparams *params);

#endif
