/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Starts the program under libmemtop: prepared segment, LD_PRELOAD with our
 * library first, MEMTOP_OPTIONS, and, for the display, a pty that captures
 * what it prints on the terminal.
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
    const char *log;          /* MALLOC_LOG for the program, or NULL: as it is */
    uint64_t ring_capacity;   /* the words ask for rings=CAPACITY; 0: they do not */
    bool sites;               /* they ask for sites */
    bool capture;             /* pty in place of each of 0, 1, 2 that is a terminal */
    int rows, cols;           /* of the pty */
};

struct launched {
    char *const *argv;        /* borrowed from the options */
    pid_t pid;
    int pidfd;                /* -1 on kernels without; the caller's to close */
    int pty;                  /* master side, or -1; the caller's to close */
    bool captured[3];         /* which of 0, 1, 2 the pty stands for */
    int64_t started_ns;       /* CLOCK_MONOTONIC just before the fork */
    char directory[SEGMENT_PATH_MAX]; /* of segments, or "" if there is none */
    char segment[SEGMENT_PATH_MAX];   /* path of the root's first segment, or "" */
    bool recorded;            /* with rings: the recorder prunes its tree, when it has
                                 opened what it needs */
    char why_no_segment[256]; /* one translated line, or ""; as long as why_not */
};

/*
 * Returns 0; or -errno (nothing runs then), *stage saying in one untranslated
 * word what failed: "exec", "fork", "pty".  Without a segment the program runs
 * all the same, without the library, and why_no_segment says why.  Call it
 * before the terminal is put into another mode: the pty takes its attributes
 * from there.
 */
int launch_program(const struct launch_options *options, struct launched *out,
                   const char **stage);

/* Gives the pty (launched.pty) a new size; the program gets SIGWINCH. */
void launch_resize(int pty, int rows, int cols);

/* The exit status memtop passes on for a waitpid status: the program's own,
   or 128 + signal. */
int launch_exit_status(int wait_status);

#endif
