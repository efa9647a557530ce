/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Everything memtop writes for others: files, the report, text on the standard output.
 *
 * One rule applies to all of it: either the output is complete, or one line says which
 * file is not and why, and the exit status is not 0.  Every writer reports its failures
 * here; output_whole() decides on the exit status.  Failed output never stops the
 * program that is measured.
 */
#ifndef MEMTOP_OUTPUT_H
#define MEMTOP_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- the rule ---- */

/* Reports that name cannot be written, and remembers that output was lost.  NULL and "-"
   are the standard output. error is -errno. */
void output_lost(const char *name, int error);

/* Only reports it, for a file that is written again and again: only its last write
   counts. */
void output_say(const char *name, int error);

/* Like output_lost(), with a message that names the file and the reason. */
void output_lost_as(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Is all output complete so far? */
bool output_whole(void);

/* Call it when the program begins.  At exit, checks that all text for the standard
   output was written; if not, output is lost and an exit status of 0 becomes `status`. */
void output_begin(int status);

/* Checks whether a new file can be created, without creating it.  Returns 0 or -errno;
   -EEXIST if there is anything already, even a dangling link. */
int output_check_new(const char *path);

/* ---- lines and report ---- */

struct output {
    FILE *file;
    const char *name; /* NULL: the standard error */
    bool created;     /* the file did not exist before */
    bool failed;      /* a failure was reported */
    FILE *place;      /* where kept text is written in the end, or NULL */
    char *kept;
    size_t kept_size;
};

/*
 * Opens name (borrowed): NULL is the standard error, "-" the standard output.  A regular
 * file must not exist; a pipe or device may.  Returns 0 or -errno.
 */
int output_open(struct output *output, const char *name);

/* Reports the first failure, if ok is false; errno is the reason.  Returns whether no
   write has failed so far. */
bool output_check(struct output *output, bool ok);

/* Keeps what is written from now on in memory until output_close().  If that cannot
   write it to its destination, it writes it to the standard error. */
void output_keep(struct output *output);

/* The descriptor of the destination. */
int output_descriptor(const struct output *output);

/* Flushes and closes the output, and reports failures.  The output is the standard error
   afterwards. */
void output_close(struct output *output);

/* Closes the output and removes the file if it was created. */
void output_discard(struct output *output);

#endif
