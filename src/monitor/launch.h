/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Starts the program under libmemtop: prepared segment, LD_PRELOAD with our
 * library first, MEMTOP_OPTIONS, and, for the display, a pty that captures
 * what it prints on the terminal.
 */
#ifndef MEMTOP_LAUNCH_H
#define MEMTOP_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct launch_options {
    char *const *argv;        /* program and arguments, as for execvp */
    const char *library;      /* path of libmemtop.so; NULL: run without it */
    const char *memtop_options; /* words for MEMTOP_OPTIONS, "" for none */
    const char *progname;     /* -n: only this program is counted, or NULL */
    bool capture;             /* pty in place of each of 0, 1, 2 that is a terminal */
    int rows, cols;           /* of the pty */
};

struct launched {
    pid_t pid;
    int pidfd;                /* -1 on kernels without */
    int pty;                  /* master side, or -1 */
    bool captured[3];         /* which of 0, 1, 2 the pty stands for */
    int64_t started_ns;       /* CLOCK_MONOTONIC just before the fork */
    char directory[256];      /* of segments, or "" if there is none */
    char segment[300];        /* path of the root's first segment, or "" */
    char why_no_segment[200]; /* one translated line, or "" */
};

/* Returns 0; or -errno of the exec (nothing runs then), *stage saying in one
   untranslated word what failed: "exec", "fork", "pty". */
int launch_program(const struct launch_options *options, struct launched *out,
                   const char **stage);

/* The exit status memtop passes on for a waitpid status: the program's own,
   or 128 + signal. */
int launch_exit_status(int wait_status);

#endif
