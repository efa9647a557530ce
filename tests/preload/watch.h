/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a program under the libmemtop.so just built and collects how it ended, what it
 * printed, and what its segments say.  Segments are in a separate directory under
 * /dev/shm, which is removed afterwards.
 *
 * Failures of the harness itself fail the cmocka test that called it.
 */
#ifndef MEMTOP_TESTS_WATCH_H
#define MEMTOP_TESTS_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "segment/reader.h"
#include "segment/sites.h"

#define WATCH_SEGMENTS 32 /* the first ones are read; more are only counted */

/* What to run.  All but argv may be left out. */
struct preload_watch {
    char *const *argv;          /* argv[0] without a slash: one of programs/ */
    const char *options;        /* MEMTOP_OPTIONS; "keep=PID" is added */
    const char *preload_before; /* LD_PRELOAD entries before and after the library */
    const char *preload_after;
    char *const *environment;   /* further NAME=VALUE, NULL-terminated */
    const char *directory;      /* MEMTOP_DIR; NULL: a fresh one.  Never removed */
    void (*prepare)(void);      /* in the child before exec */
    void (*meanwhile)(pid_t pid, const char *directory); /* runs while the program runs */
    bool unkept;                /* no "keep=", as with only LD_PRELOAD set */
    bool plain;                 /* without libmemtop, to compare */
    bool gone;                  /* do not expect MEMTOP_DIR to be readable */
};

struct watched_segment {
    pid_t pid;
    uint32_t generation;
    uint64_t allocated;         /* bytes of its file that exist */
    struct identity identity;
    struct snapshot snapshot;
    struct histogram histogram;
    struct executed executed;
    struct recorded *recorded;
    size_t recorded_count;
    uint64_t life_ns;
    int log_error;
    struct sites_reading sites;  /* all zero if nothing is sampled */
};

struct watched {
    pid_t pid;
    int status;                 /* as from waitpid */
    char *out;                  /* NUL-terminated */
    char *err;
    struct watched_segment *segments; /* oldest first */
    size_t count;               /* number of segments */
    size_t files;               /* files in the directory, of any kind */
};

/* Runs the program, and waits until all holders of its output have ended.  A program
   that takes longer than two minutes is killed and fails the test. */
void watch_run(const struct preload_watch *how, struct watched *what);
void watch_free(struct watched *what);

/* The segment of the process itself, its last image.  Fails if there is none. */
const struct watched_segment *watch_last(const struct watched *what);

/* Runs "PROGRAM CASE" under OPTIONS; it must exit with 0 and print nothing on
   stderr. */
void watch_case(char *program, char *name, const char *options, struct watched *what);

/* Absolute path of a file in the build directory, in one of several static buffers. */
const char *watch_path(const char *relative);

/* Path of programs/NAME as built. */
const char *watch_program(const char *name);

/* The number after KEY= on the standard output.  Fails if there is none. */
uint64_t watch_number(const struct watched *what, const char *key);

/* Fails unless the program exited with 0; shows its stderr. */
void watch_assert_success(const struct watched *what);

/* Returns whether the loader finds the library. */
bool watch_can_preload(const char *soname);

/* Returns whether "PROGRAM CASE" succeeds without libmemtop, on this machine and with
   that allocator (NULL: the C library's). */
bool watch_possible(const char *allocator, char *program, char *name);

/* Number of files in a directory. */
size_t watch_entries(const char *directory);

/* Returns whether all programs run in this mode.  MEMTOP_TEST_MODE, set by modes.sh,
   holds words for MEMTOP_OPTIONS that are added to those of each test, or "log". */
bool watch_mode(const char *name);

/* Makes a mount namespace for the test itself; false if that is not allowed. */
bool watch_own_mounts(void);

/* Runs "PROGRAM CASE" under WORDS with its segment on a file system of its own of that
   size, as mount(8) writes it.  Fails unless it exits with 0 and says nothing on stderr.
   Call watch_own_mounts() before. */
void watch_run_on(const char *size, const char *words, char *program, char *name,
                  struct watched *what);

#define WATCH_ARGV(...) ((char *[]){__VA_ARGS__, NULL})

#endif
