/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the environment asks of the library. */
#ifndef MEMTOP_PRELOAD_OPTIONS_H
#define MEMTOP_PRELOAD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/state.h"
#include "segment/layout.h"

/* How to walk stacks, from the word unwind=. */
enum unwind_choice {
    UNWIND_CHOICE_AUTO = 0, /* by unwind tables, by frame pointers where there are none */
    UNWIND_CHOICE_DWARF,    /* by unwind tables; the stack ends where there are none */
    UNWIND_CHOICE_FRAMES,   /* by frame pointers */
    UNWIND_CHOICE_NONE
};

/* From MEMTOP_OPTIONS and memusage's variables. */
struct mt_options {
    bool mappings;            /* mmap, MEMUSAGE_TRACE_MMAP */
    bool exact;               /* exact */
    bool root_only;           /* root-only */
    bool old_kernel;          /* old-kernel: do without MADV_POPULATE_WRITE (tests) */
    bool drop;                /* drop: full rings lose events at once */
    bool dormant;             /* dormant: count only while watched */
    bool sites;               /* unless sites=off: allocations are sampled ... */
    bool sites_asked;         /* ... as sites or sites=RATE asked for */
    double sites_rate;        /* sites=RATE: probability of a word; 0: the budget's */
    uint64_t sites_memory;    /* sites-memory=KIB: bytes; 0: the library's choice */
    uint32_t sites_depth;     /* depth=FRAMES */
    uint32_t unwind;          /* unwind=NAME: enum unwind_choice */
    uint64_t ring_capacity;   /* rings=EVENTS, or 0 */
    bool output_ignored;      /* MEMUSAGE_OUTPUT is set */
    bool other_program;       /* MEMUSAGE_PROG_NAME names another */
    enum segment_accounting accounting; /* NONE: choose */
    uint32_t keeper;          /* keep=PID */
    const char *log;          /* MALLOC_LOG, in the environment, or NULL */
    bool log_minimal;         /* MALLOC_LOG_MINIMAL is set */
    char words[SEGMENT_OPTIONS_LEN];    /* as given */
    char segment[256];        /* segment=PATH, or "" */
};

HIDDEN extern struct mt_options mt_options;

/* Reads the environment; directory variables go to *memtop_dir and *runtime_dir (NULL if
   unset). */
void mt_options_read(struct mt_options *options, const char **memtop_dir,
                     const char **runtime_dir);

/* Removes this library's entry from LD_PRELOAD, in place. */
void mt_options_leave_preload(const char *own_path);

#endif
