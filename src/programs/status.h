/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The exit statuses of all programs in one table (status.c): one row per reason, one
 * column per program and per name it is called by.
 *
 * memtop ends with the status of the program it runs, or 128 plus the number of the
 * signal that killed it.
 */
#ifndef MEMTOP_STATUS_H
#define MEMTOP_STATUS_H

/* The program, according to its name or its compatible mode. */
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
    STATUS_FILES,   /* no files are given, or too many */
    STATUS_INPUT,   /* a file cannot be read, or not for this purpose */
    STATUS_REFUSED, /* some lines of the input are refused */
    STATUS_OUTPUT,  /* output that was asked for cannot be written, or only in part */
    STATUS_FAILED,  /* any other failure of memtop */
    STATUS_LIMIT,   /* a limit was exceeded (--max-heap and the like) */
    STATUS_CANNOT,  /* the program cannot be executed */
    STATUS_MISSING, /* the program is not found */
    STATUS_ROWS
};

/* Chooses the column, for argp's own messages, too.  Call it when a program begins, and
   again when it turns out to be in compatible mode.  The default is memtop's. */
void status_as(enum status_column column);

int status_of(enum status_row row);

#endif
