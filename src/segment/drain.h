/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Empties the event rings of a segment (layout.h) and puts the events of all threads in
 * the order of their times; in that order no address is handed out twice.  Like the
 * reader it trusts nothing it reads.
 */
#ifndef MEMTOP_DRAIN_H
#define MEMTOP_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "segment/layout.h"

struct drain;

/* An event as handed to the caller. */
struct drained {
    uint64_t time_ns;     /* CLOCK_MONOTONIC, since the segment's created_ns */
    uint64_t address;
    uint64_t size;
    uint32_t depth;
    uint16_t ring;        /* identifies the thread: the shard's number */
    uint8_t kind;         /* enum event_kind, enum segment_function, DRAINED_LOST */
    uint8_t alignment;    /* log2 of the alignment asked for; 0: none */
};

/* Stands for size events that are missing about here: there was no space for them, or the
   process died while it wrote them. */
#define DRAINED_LOST 64

/* The process image that a segment belongs to. */
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

/* Like reader_open(); also -ENODATA if the segment has no rings or its process does not
   count, -EAGAIN if it is not ready. */
int drain_open(const char *path, uid_t owner_real, uid_t owner_effective,
               struct drain **out);
void drain_close(struct drain *drain);

/* Describes the image.  Strings may hold any bytes. */
void drain_image(struct drain *drain, struct drain_image *out);

/*
 * Takes what the rings hold and hands to take(), in order, every event that no earlier
 * one can follow.  final: the process is dead, so hand over everything.  Returns how many
 * events were handed over, -ENOMEM, or -EMSGSIZE if the file was cut short.  Call it
 * again soon: the program waits when a ring is full.
 */
long drain_round(struct drain *drain, bool final,
                 void (*take)(void *context, const struct drained *events, size_t count),
                 void *context);

/* Number of events the process could not write, or left half written when it died. */
uint64_t drain_lost(const struct drain *drain);

#endif
