/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A line of the text log of Mozilla's logalloc, one per call:
 *
 *   PID TID CALL(ARGUMENT,ARGUMENT)[=RESULT]
 *
 * In a recorded log blocks are addresses: 1234 1234 realloc(0x55d0,64)=0x7f90.  In a
 * munged log blocks are numbers of slots, and processes and threads are 1, 2, 3...: 1 1
 * realloc(#1,64)=#1.
 */
#ifndef MEMTOP_LOGLINE_H
#define MEMTOP_LOGLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum logalloc_form { LOGALLOC_RAW, LOGALLOC_MUNGED };

/* No line made by logalloc_format() is longer, its NUL included. */
#define LOGALLOC_LINE_MAX 160

enum logalloc_call {
    LOGALLOC_MALLOC,
    LOGALLOC_CALLOC,
    LOGALLOC_REALLOC,
    LOGALLOC_FREE,
    LOGALLOC_MEMALIGN,
    LOGALLOC_POSIX_MEMALIGN,
    LOGALLOC_ALIGNED_ALLOC,
    LOGALLOC_VALLOC,
    LOGALLOC_STATS, /* jemalloc_stats(), also read as stats() */
};

struct logalloc_line {
    uint64_t pid, tid;
    enum logalloc_call call;
    uint64_t block; /* argument of free and realloc: address or slot */
    uint64_t other; /* the alignment; calloc's number of elements */
    uint64_t size;  /* asked for; calloc's size of one element */
    bool has_result;
    uint64_t result; /* address or slot; 0 is NULL */
};

/* The form of a call's line. */
struct logalloc_shape {
    char name[16];
    enum logalloc_call call;
    unsigned arguments;
    bool takes, returns; /* takes a block; returns a block */
};

/* Indexed by enum logalloc_call; the last is another name of LOGALLOC_STATS. */
#define LOGALLOC_SHAPES (LOGALLOC_STATS + 2)
extern const struct logalloc_shape logalloc_shapes[LOGALLOC_SHAPES];

/* Writes the line, a newline and a NUL; returns its length without the NUL. */
size_t logalloc_format(char text[LOGALLOC_LINE_MAX], enum logalloc_form form,
                       const struct logalloc_line *line);

/* The descriptor that a nonempty value of MALLOC_LOG means: digits only and below 10000.
   -1: it is the name of a file. */
int logalloc_descriptor(const char *target);

#endif
