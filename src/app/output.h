/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where lines and the report go.  Trouble with it is said once and is never
 * the program's: it runs on.
 */
#ifndef MEMTOP_OUTPUT_H
#define MEMTOP_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct output {
    FILE *file;
    const char *name; /* NULL: the standard error */
    bool created;     /* a file that was not there before */
    bool failed;      /* and said so */
};

/*
 * Opens name (borrowed): NULL is the standard error, "-" the standard output;
 * a file must not exist, a pipe or device may.  Returns 0 or -errno.
 */
int output_open(struct output *output, const char *name);

/* Whether all went well so far; says so the first time it did not. */
bool output_check(struct output *output, bool ok);

/* Flushes and closes; what could not be written is said. */
void output_close(struct output *output);

/* Closes and removes a file that was created in vain. */
void output_discard(struct output *output);

#endif
