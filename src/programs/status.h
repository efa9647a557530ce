/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The exit statuses of all programs, in one table (status.c): a row for what can be
 * wrong, a column for each program and each name it goes by.
 *
 * A program that memtop runs ends with its own status; signals add 128.
 */
#ifndef MEMTOP_STATUS_H
#define MEMTOP_STATUS_H

/* The program, by the name it was called by or the original it is to be like. */
enum status_column {
    AS_MEMTOP,
    AS_MEMUSAGE,
    AS_MEMTOPSTAT,
    AS_MEMUSAGESTAT,
    AS_MUNGE,
    AS_MUNGE_COMPAT,
    AS_REPLAY,
    STATUS_COLUMNS
};

enum status_row {
    STATUS_USAGE,   /* the command line is wrong */
    STATUS_FILES,   /* it has no files, or too many */
    STATUS_INPUT,   /* a file cannot be read, or not for what was asked for */
    STATUS_REFUSED, /* some of its lines are refused */
    STATUS_OUTPUT,  /* something that was asked for cannot be written, or not all of it */
    STATUS_FAILED,  /* anything else on our side */
    STATUS_LIMIT,   /* a limit was passed (--max-heap and the like) */
    STATUS_CANNOT,  /* the program cannot be executed */
    STATUS_MISSING, /* the program is not found */
    STATUS_ROWS
};

/* To be called when a program begins, and when it finds out that it is to be like the
   original: which column counts, for argp's own messages too.  Until then memtop's. */
void status_as(enum status_column column);

int status_of(enum status_row row);

#endif
