/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The text log of Mozilla's logalloc: one line a call,
 *
 *   PID TID CALL(ARGUMENT,ARGUMENT)[=RESULT]
 *
 * As it is recorded, blocks are addresses: 1234 1234 realloc(0x55d0,64)=0x7f90.
 * Munged, they are numbers of slots, a process and its threads are 1, 2, 3...:
 * 1 1 realloc(#1,64)=#1.  Old logs have no TID: it is the PID then.
 */
#ifndef MEMTOP_LOGALLOC_H
#define MEMTOP_LOGALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum logalloc_form { LOGALLOC_RAW, LOGALLOC_MUNGED };

/* No line that logalloc_format() makes is longer, its NUL included. */
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
    uint64_t block; /* what free and realloc are given: address or slot */
    uint64_t other; /* the alignment; calloc's number of elements */
    uint64_t size;  /* asked for; calloc's size of one element */
    bool has_result;
    uint64_t result; /* address or slot; 0 is NULL */
};

enum logalloc_verdict {
    LOGALLOC_GOOD,
    LOGALLOC_MALFORMED, /* not the form of a line; nothing of it is known */
    LOGALLOC_UNKNOWN,   /* no such call; pid and tid are known, as below */
    LOGALLOC_MISFIT,    /* arguments or a result that this call does not have */
};

/*
 * Reads one line without its newline, any bytes; white space around it does not
 * matter.  An allocation without result is good: has_result is false.
 */
enum logalloc_verdict logalloc_parse(const char *text, size_t length,
                                     enum logalloc_form form,
                                     struct logalloc_line *line);

/* Writes the line and a newline; returns its length. */
size_t logalloc_format(char text[LOGALLOC_LINE_MAX], enum logalloc_form form,
                       const struct logalloc_line *line);

/* What a call does: is it given a block, does it return one? */
bool logalloc_takes_block(enum logalloc_call call);
bool logalloc_returns_block(enum logalloc_call call);

#endif
