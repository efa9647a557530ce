/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The contents of reports by block size, and the file that sets them: the article's
 * (ascLib, RSDN Magazine 1), one parameter per line:
 *
 *   { comments, over several lines too, but not nested }
 *   [Report_Sort] amsrstSortBySize
 *   [LogFile_DataDelimiter] \t        { blanks before this do not count }
 *
 * A value ends with its line or a comment.  Missing or wrong values keep their defaults.
 */
#ifndef MEMTOP_BLOCKPARAMS_H
#define MEMTOP_BLOCKPARAMS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/counts.h"

/* One bit each. */
enum block_report {
    BLOCK_OVERVIEW = 1,
    BLOCK_SIZES = 2,
    BLOCK_PEAKS = 4,
    BLOCK_TIMES = 8,
    BLOCK_LOG = 16,
    BLOCK_FULL = 31
};

/* BY_COUNT: the report's own count, largest first.  UNSORTED: in the order of
   appearance. */
enum block_sort { BLOCK_UNSORTED, BLOCK_BY_COUNT, BLOCK_BY_SIZE };

#define BLOCKPARAMS_TEXT_MAX 64

struct blockparams {
    unsigned reports;     /* of enum block_report */
    enum block_sort sort;
    bool group;           /* counts by interval, not separately */
    struct counts counts;
    char extension[BLOCKPARAMS_TEXT_MAX]; /* of log files */
    char directory[PATH_MAX];             /* of log files */
    char delimiter[BLOCKPARAMS_TEXT_MAX]; /* between their columns */
    bool one_file;        /* for all sizes; otherwise one each */
};

/* The article's defaults; log files go to the current directory. */
void blockparams_default(struct blockparams *params);

/* Reports what is wrong in a file: the line, the key ("" if there is none), and the
   fault, marked for translation. */
typedef void blockparams_warn(void *context, unsigned line, const char *key,
                              const char *what);

/* Parses length bytes, which may be anything; params holds the defaults. */
void blockparams_parse(const char *text, size_t length, struct blockparams *params,
                       blockparams_warn *warn, void *context);

/* Reads a file.  Returns 0 or -errno; -EFBIG if it is too large to be one. */
int blockparams_read(const char *path, struct blockparams *params,
                     blockparams_warn *warn, void *context);

/* Writes all parameters in a form that can be read again.  Returns false if out
   failed. */
bool blockparams_write(FILE *out, const struct blockparams *params);

/* Parses a list such as "overview,blocksize" into bits; returns 0 if a word is
   unknown. */
unsigned blockparams_reports(const char *list);

/* Parses "1,3,6", "linear:K" or "power:K:A"; false for anything else, with counts
   unchanged. */
bool blockparams_counts(const char *text, struct counts *counts);

/* Parses a delimiter with the escapes \t, \n, \r, \\ and \xHH; false for other escapes
   and if it is empty or too long. */
bool blockparams_delimiter(const char *text, char *delimiter);

/* Parses a word of the parameter file or the command line: "amsrstSortBySize", "size",
   "2".  Returns false for others. */
bool blockparams_sort(const char *word, enum block_sort *sort);

#endif
