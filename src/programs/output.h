/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What memtop writes for others: files, the report, text on the standard output.
 *
 * One rule for all of it: what was asked for is whole, or one line says which file is
 * not, and why, and the status is not 0.  Whoever writes something tells here what
 * failed; the exit status is made of output_whole().  Trouble with it is never the
 * program's: it runs on.
 */
#ifndef MEMTOP_OUTPUT_H
#define MEMTOP_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- the rule ---- */

/* Says that name cannot be written, and notes it: it is not whole, or not there.  NULL
   and "-" are the standard output.  error is -errno. */
void output_lost(const char *name, int error);

/* Says it only, of a file that is written again and again: the last time decides. */
void output_say(const char *name, int error);

/* The same in words that name the file and the reason. */
void output_lost_as(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether nothing has been lost so far. */
bool output_whole(void);

/* To be called when a program begins.  At its end it looks whether all text for the
   standard output got there; what did not is lost, and a status of 0 becomes this one. */
void output_begin(int status);

/* Could a new file be created there?  0 or -errno; -EEXIST if there is anything
   already, a link to nowhere included.  Nothing is created. */
int output_check_new(const char *path);

/* ---- where lines and the report go ---- */

struct output {
    FILE *file;
    const char *name; /* NULL: the standard error */
    bool created;     /* a file that was not there before */
    bool failed;      /* and said so */
    FILE *place;      /* of what is kept for it in file, or NULL */
    char *kept;
    size_t kept_size;
};

/*
 * Opens name (borrowed): NULL is the standard error, "-" the standard output;
 * a file must not exist, a pipe or device may.  Returns 0 or -errno.
 */
int output_open(struct output *output, const char *name);

/* Whether all went well so far; says so the first time it did not. */
bool output_check(struct output *output, bool ok);

/* What is written from now on belongs together: if it cannot be written to its place,
   output_close() writes it to the standard error instead. */
void output_keep(struct output *output);

/* Of the place. */
int output_descriptor(const struct output *output);

/* Flushes and closes; what could not be written is said.  Then it is the standard
   error. */
void output_close(struct output *output);

/* Closes and removes a file that was created in vain. */
void output_discard(struct output *output);

#endif
