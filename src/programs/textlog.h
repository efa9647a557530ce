/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text log of the program's calls (--log), which the library writes. */
#ifndef MEMTOP_TEXTLOG_H
#define MEMTOP_TEXTLOG_H

#include <limits.h>
#include <stdbool.h>

#include "monitor/tree.h"

/* What MALLOC_LOG is to be. */
struct textlog {
    char target[PATH_MAX]; /* a descriptor or an absolute path; "": no log */
    const char *name;      /* as it was given; borrowed */
    bool created;          /* the file, by us */
    struct tree *tree;     /* of those who write to it, once it is started; borrowed */
    int error;             /* errno of the first that could not write any more, or 0 */
};

/*
 * Before the program starts: creates FILE, or looks whether the descriptor is open;
 * word is what --log says, or NULL.  0, or the exit status to end with, having said
 * why.  A regular file that exists is refused.
 */
int textlog_open(struct textlog *log, const char *word);

/* The program has been started.  At the end, while tree is still there, what kept the
   library in any process from writing all its lines is told output.h. */
void textlog_start(struct textlog *log, struct tree *tree);
void textlog_finish(struct textlog *log);

/* The program was not started: the file goes. */
void textlog_discard(struct textlog *log);

#endif
