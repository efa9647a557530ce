/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text log of the program's calls (--log), which the library writes. */
#ifndef MEMTOP_TEXTLOG_H
#define MEMTOP_TEXTLOG_H

#include <limits.h>
#include <stdbool.h>

#include "monitor/tree.h"

/* The destination for MALLOC_LOG. */
struct textlog {
    char target[PATH_MAX]; /* a descriptor or an absolute path; "": no log */
    const char *name;      /* as given; borrowed */
    bool created;          /* memtop has created the file */
    struct tree *tree;     /* of the session; NULL before textlog_start() */
    int error;             /* errno of the first failed write, or 0 */
};

/*
 * Call it before the program starts, with the word given to --log, or NULL.  Creates the
 * file, or checks that the descriptor is open.  A regular file must not exist.  Returns
 * 0, or reports an error and returns the exit status.
 */
int textlog_open(struct textlog *log, const char *word);

/* Call textlog_start() when the program has been started, and textlog_finish() at the
   end, while tree still exists: it reports to output.h if the library could not write
   all lines in some process. */
void textlog_start(struct textlog *log, struct tree *tree);
void textlog_finish(struct textlog *log);

/* Removes the file if it was created, for a program that could not be started. */
void textlog_discard(struct textlog *log);

#endif
