/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Starts the program under libmemtop: with a prepared segment, with our library first in
 * LD_PRELOAD, with MEMTOP_OPTIONS, and, for the display, with a pty that captures what it
 * prints on the terminal.
 */
#ifndef MEMTOP_LAUNCH_H
#define MEMTOP_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "segment/names.h"

struct launch_options {
    char *const *argv;        /* program and arguments, as for execvp */
    const char *library;      /* absolute path of libmemtop.so; NULL: run without it */
    const char *memtop_options; /* words for MEMTOP_OPTIONS, "" for none */
    const char *progname;     /* -n: only this program is counted, or NULL */
    const char *log;          /* value of MALLOC_LOG for the program; NULL: unchanged */
    uint64_t ring_capacity;   /* of rings=CAPACITY in the words; 0: no rings */
    bool sites;               /* the words contain sites */
    bool capture;             /* a pty replaces each of 0, 1, 2 that is a terminal */
    int rows, cols;           /* of the pty */
};

struct launched {
    char *const *argv;        /* borrowed from the options */
    pid_t pid;
    int pidfd;                /* -1 if the kernel has none; the caller closes it */
    int pty;                  /* master side, or -1; the caller closes it */
    bool captured[3];         /* which of 0, 1, 2 the pty replaces */
    int64_t started_ns;       /* CLOCK_MONOTONIC just before the fork */
    char directory[SEGMENT_PATH_MAX]; /* of segments, or "" if there is none */
    char segment[SEGMENT_PATH_MAX];   /* path of the root's first segment, or "" */
    bool recorded;            /* has rings: the recorder prunes the tree, after opening
                                 what it needs */
    char why_no_segment[256]; /* one translated line, or ""; sized like why_not */
};

/*
 * Starts the program.  Returns 0; or -errno (then nothing runs), with *stage saying in
 * one untranslated word what failed: "exec", "fork", "pty".  If there can be no segment
 * the program still runs, without the library, and why_no_segment says why.  Call before
 * the terminal's mode is changed, because the pty copies its attributes.
 */
int launch_program(const struct launch_options *options, struct launched *out,
                   const char **stage);

/* Gives the pty (launched.pty) a new size; the program gets SIGWINCH. */
void launch_resize(int pty, int rows, int cols);

/* Converts a waitpid status to the exit status memtop returns: the program's own, or 128
   + signal. */
int launch_exit_status(int wait_status);

#endif
