/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What reports by block size are to say, and the file it may stand in: the article's
 * (ascLib, RSDN Magazine 1), a line a parameter:
 *
 *   { comments, over several lines too, but not one in another }
 *   [Report_Sort] amsrstSortBySize
 *   [LogFile_DataDelimiter] \t        { blanks before this do not count }
 *
 * A value ends with its line or a comment.  What is missing or wrong is as it is by
 * default.
 */
#ifndef MEMTOP_BLOCKPARAMS_H
#define MEMTOP_BLOCKPARAMS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "system/counts.h"

/* A bit each. */
enum block_report {
    BLOCK_OVERVIEW = 1,
    BLOCK_SIZES = 2,
    BLOCK_PEAKS = 4,
    BLOCK_TIMES = 8,
    BLOCK_LOG = 16,
    BLOCK_FULL = 31
};

/* By count: that of the report, the greatest first.  Unsorted: as they came. */
enum block_sort { BLOCK_UNSORTED, BLOCK_BY_COUNT, BLOCK_BY_SIZE };

#define BLOCKPARAMS_TEXT_MAX 64

struct blockparams {
    unsigned reports;     /* of enum block_report */
    enum block_sort sort;
    bool group;           /* counts by interval, not each for itself */
    struct counts counts;
    char extension[BLOCKPARAMS_TEXT_MAX]; /* of log files */
    char directory[PATH_MAX];             /* of them */
    char delimiter[BLOCKPARAMS_TEXT_MAX]; /* between their columns */
    bool one_file;        /* for all sizes, else one each */
};

/* The article's defaults; log files go to the current directory. */
void blockparams_default(struct blockparams *params);

/* What is wrong with a file: its line, the key ("" if there is none), and what,
   marked for translation. */
typedef void blockparams_warn(void *context, unsigned line, const char *key,
                              const char *what);

/* Reads length bytes, any, over the defaults that params holds. */
void blockparams_parse(const char *text, size_t length, struct blockparams *params,
                       blockparams_warn *warn, void *context);

/* Reads a file.  0 or -errno: -EFBIG if it is no such file by its size. */
int blockparams_read(const char *path, struct blockparams *params,
                     blockparams_warn *warn, void *context);

/* Writes all of them such that they can be read again.  False if out failed. */
bool blockparams_write(FILE *out, const struct blockparams *params);

/* What stands in a list such as "overview,blocksize": bits, 0 if a word is none. */
unsigned blockparams_reports(const char *list);

/* Numbers "1,3,6", "linear:K", "power:K:A"; false, and counts as it was, for
   anything else. */
bool blockparams_counts(const char *text, struct counts *counts);

/* A delimiter with \t, \n, \r, \\ and \xHH for what they stand for; false for others
   and what is empty or too long. */
bool blockparams_delimiter(const char *text, char *delimiter);

/* A word of the parameter file or of the command line: "amsrstSortBySize", "size",
   "2".  False for others. */
bool blockparams_sort(const char *word, enum block_sort *sort);

#endif
