/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Empties the event rings of a segment (layout.h) and puts the events of all
 * threads in one order: that of their times, in which no address is handed out
 * twice.  Like the reader it trusts nothing it reads.
 */
#ifndef MEMTOP_DRAIN_H
#define MEMTOP_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "segment/layout.h"

struct drain;

/* An event as it comes out. */
struct drained {
    uint64_t time_ns;     /* CLOCK_MONOTONIC, since the segment's created_ns */
    uint64_t address;
    uint64_t size;
    uint32_t depth;
    uint16_t ring;        /* which thread: the shard's number */
    uint8_t kind;         /* enum event_kind, enum segment_function, DRAINED_LOST */
    uint8_t alignment;    /* log2 of what was asked for; 0: nothing was */
};

/* About here in its ring size events are missing: there was no room for them, or the
   process died in the midst of them. */
#define DRAINED_LOST 64

/* The process image that a segment is of. */
struct drain_image {
    uint64_t created_ns;     /* CLOCK_MONOTONIC */
    uint64_t baseline_bytes; /* live then */
    pid_t parent;            /* in the process's own pid namespace */
    size_t args_size;        /* bytes used in args, whose last is NUL */
    uint32_t accounting;     /* enum segment_accounting */
    char allocator[SEGMENT_ALLOCATOR_LEN];
    char program[SEGMENT_PROGRAM_LEN];
    char args[SEGMENT_ARGS_LEN];
};

/* As reader_open(); -ENODATA if the segment has no rings or its process does
   not count, -EAGAIN if it is not ready. */
int drain_open(const char *path, uid_t owner_real, uid_t owner_effective,
               struct drain **out);
void drain_close(struct drain *drain);

/* Strings are any bytes. */
void drain_image(struct drain *drain, struct drain_image *out);

/*
 * Takes what the rings hold and hands to take(), in order, every event that no
 * earlier one can follow.  final: the process is dead, hand over all there is.
 * Returns how many were handed over, -ENOMEM, or -EMSGSIZE if the file was cut
 * short.  Call it again soon: the program waits when a ring is full.
 */
long drain_round(struct drain *drain, bool final,
                 void (*take)(void *context, const struct drained *events, size_t count),
                 void *context);

/* Events the process could not write, or left half written when it died. */
uint64_t drain_lost(const struct drain *drain);

#endif
