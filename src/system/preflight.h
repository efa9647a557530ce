/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds out, without running a program, what will happen if it is run under libmemtop:
 * whether it exists, can be executed, and can be observed.
 */
#ifndef MEMTOP_PREFLIGHT_H
#define MEMTOP_PREFLIGHT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "system/elffile.h"

enum preflight_verdict {
    PREFLIGHT_OK,             /* runs and is observed, as far as can be told */
    PREFLIGHT_PARTLY,         /* runs; also has an allocator other than malloc */
    PREFLIGHT_NOT_OBSERVED,   /* runs, but libmemtop sees nothing of it */
    PREFLIGHT_NOT_FOUND,      /* exit status 127 */
    PREFLIGHT_NOT_EXECUTABLE  /* exit status 126 */
};

enum preflight_reason {
    PREFLIGHT_NO_REASON,
    PREFLIGHT_MISSING,        /* no such program */
    PREFLIGHT_NO_LOADER,      /* the program's loader or interpreter is missing */
    PREFLIGHT_PERMISSION,
    PREFLIGHT_DIRECTORY,
    PREFLIGHT_FORMAT,         /* neither an ELF program nor a script */
    PREFLIGHT_TOO_DEEP,       /* interpreters of interpreters */
    PREFLIGHT_STATIC,
    PREFLIGHT_SETUID,
    PREFLIGHT_SETGID,
    PREFLIGHT_CAPABILITIES,
    PREFLIGHT_CLASS,          /* 32-bit under a 64-bit memtop */
    PREFLIGHT_MACHINE,
    PREFLIGHT_ALLOCATOR,      /* the program has its own */
    PREFLIGHT_LIBC,           /* another C library's loader */
    PREFLIGHT_SANITIZER
};

/* A script, its interpreter, the interpreter's interpreter... */
#define PREFLIGHT_CHAIN 8

struct preflight {
    enum preflight_verdict verdict;
    enum preflight_reason reason;
    bool preload;             /* start it with libmemtop.so preloaded */
    bool through_env;         /* "#!/usr/bin/env PROGRAM" was followed */
    unsigned count;           /* names used in path */
    char path[PREFLIGHT_CHAIN][PATH_MAX]; /* [0] as execvp finds it; [count - 1] is the
                                             one whose memory is observed */
    struct elffile elf;       /* of the last path; zero-filled if unknown */
};

/* Examines the program name (argv[0] as for execvp) under the value of PATH (NULL:
   unset).  Never fails: what cannot be found out is left to exec. */
void preflight_check(const char *name, const char *path, struct preflight *out);

/* Writes the reason of the verdict, a translated sentence without full stop ("./prog is
   statically linked"); empty if there is nothing to say.  It contains file names:
   sanitise it before it is printed to a terminal. */
void preflight_message(const struct preflight *preflight, char *buffer, size_t size);

/* 127, 126, or 0 if the program can be started. */
int preflight_exit_status(const struct preflight *preflight);

#endif
