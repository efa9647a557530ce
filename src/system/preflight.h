/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What will happen if a program is run under libmemtop, found out without
 * running it: whether it is there, can be executed, and can be observed.
 */
#ifndef MEMTOP_PREFLIGHT_H
#define MEMTOP_PREFLIGHT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "system/elffile.h"

enum preflight_verdict {
    PREFLIGHT_OK,             /* runs and is observed, or nothing speaks against it */
    PREFLIGHT_PARTLY,         /* runs; has an allocator beside the C library's malloc */
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
    PREFLIGHT_ALLOCATOR,      /* the program brings its own */
    PREFLIGHT_LIBC,           /* another C library's loader */
    PREFLIGHT_SANITIZER
};

/* A script, its interpreter, the interpreter's interpreter... */
#define PREFLIGHT_CHAIN 8

struct preflight {
    enum preflight_verdict verdict;
    enum preflight_reason reason;
    bool preload;             /* start it with libmemtop.so */
    bool through_env;         /* "#!/usr/bin/env PROGRAM" was followed */
    unsigned count;           /* names used in path */
    char path[PREFLIGHT_CHAIN][PATH_MAX]; /* [0] the program, resolved as execvp does;
                                 [count - 1] the one whose memory is seen */
    struct elffile elf;       /* of the last, zero-filled if unknown */
};

/* Judges the program name (argv[0] as for execvp) under the value of PATH
   (NULL: unset).  Never fails: what cannot be found out is left to exec. */
void preflight_check(const char *name, const char *path, struct preflight *out);

/* Writes why the verdict is what it is, a translated sentence without full stop
   ("./prog is statically linked"); empty if there is nothing to say.  It holds
   file names: clean it before it meets a terminal. */
void preflight_message(const struct preflight *preflight, char *buffer, size_t size);

/* 127, 126, or 0 if the program can be started. */
int preflight_exit_status(const struct preflight *preflight);

#endif
