/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Repeats the calls of a munged allocation log (logalloc.h), in the order of the log and
 * on one thread, with the allocator this process has.
 *
 * Only one process of the log is followed.  The allocator gets only its calls: what the
 * replay needs for itself it maps.
 */
#ifndef MEMTOP_REPLAY_H
#define MEMTOP_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "segment/logline.h"

/* No log can name more slots: they need 4 GiB of bookkeeping. */
#define REPLAY_SLOTS_MAX (UINT64_C(1) << 28)

struct replay;

/* The functions to call; tests replace them. */
struct replay_allocator {
    void *(*malloc)(size_t size);
    void *(*calloc)(size_t count, size_t size);
    void *(*realloc)(void *block, size_t size);
    void (*free)(void *block);
    void *(*memalign)(size_t alignment, size_t size);
    int (*posix_memalign)(void **block, size_t alignment, size_t size);
    void *(*aligned_alloc)(size_t alignment, size_t size);
    void *(*valloc)(size_t size);
    size_t (*usable)(void *block);
};

struct replay_options {
    uint64_t pid;         /* the process to follow; 0: the first line's */
    bool touch;           /* write to every byte of every new block */
    bool slop;            /* sum up requested and usable bytes */
    uint64_t stats_every; /* calls between added records; 0: only the log's records */
    /* Called with the records; or NULL.  It must not allocate. */
    void (*stats)(void *context, const struct replay *replay);
    void *context;
    const struct replay_allocator *allocator; /* NULL: this process's */
};

struct replay_figures {
    uint64_t pid;         /* followed; 0 if there is none yet */
    uint64_t calls;       /* made, records included */
    uint64_t live_blocks; /* now */
    uint64_t live_bytes;  /* asked for */
    uint64_t peak_blocks; /* live when live_bytes was largest */
    uint64_t peak_bytes;
    uint64_t slots;      /* the largest number of a slot that was filled */
    uint64_t failed;     /* allocations that did not succeed here */
    uint64_t lost;       /* blocks whose slot was filled again before a free */
    uint64_t passed_over; /* lines of other processes */
    uint64_t requested;  /* bytes of all allocations, with slop; */
    uint64_t usable;     /* and what the allocator made usable */
    uint64_t own_bytes;  /* mapped for slots, all of it resident */
    uint64_t cpu_ns;     /* spent in calls */
};

enum replay_verdict {
    REPLAY_GOOD,
    REPLAY_MALFORMED, /* not a line of a munged log */
    REPLAY_UNKNOWN,   /* no such call */
    REPLAY_NO_RESULT, /* an allocation without a slot */
    REPLAY_SLOT,      /* the slot's number is too large */
    REPLAY_NO_MEMORY, /* no bookkeeping for the slot */
};

/* Returns NULL if memory is short. */
struct replay *replay_new(const struct replay_options *options);

/* Takes a line of any bytes, without the newline.  Its call is made with a bundle of
   others.  A bad line has no effect; a line of white space is good. */
enum replay_verdict replay_line(struct replay *replay, const char *text, size_t length);

/* The same for a parsed line of a munged log. */
enum replay_verdict replay_call(struct replay *replay, const struct logalloc_line *line);

/* Makes the calls that have not been made yet. */
void replay_flush(struct replay *replay);

/* Borrowed; up to date after replay_flush() and in records. */
const struct replay_figures *replay_figures(const struct replay *replay);

/* Asks the allocator about every live block in a slot: usable bytes, and how many blocks
   have more than was asked for. */
struct replay_slop {
    uint64_t blocks, sloppy_blocks;
    uint64_t requested, usable;
};
void replay_slop(const struct replay *replay, struct replay_slop *slop);

/* Frees the bookkeeping; the blocks stay, as at the end of a program. */
void replay_free(struct replay *replay);

#endif
