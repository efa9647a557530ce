/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Process list: the processes of a tree, one line each, in display order: children below
 * their parent, living before ended, by their start.  Pure: others fill it (census.c from
 * segments and /proc, script.c from a file).
 */
#ifndef MEMTOP_ROSTER_H
#define MEMTOP_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "monitor/session.h"

/* The latest ended processes are kept; of a living parent's only the last few are
   listed. */
#define ROSTER_ENDED_KEPT   256
#define ROSTER_ENDED_LISTED 3

struct roster_entry {
    pid_t pid;
    pid_t parent;
    char command[160];        /* unsanitised */
    char before[64];          /* names of earlier images, "sh > env", or "" */
    unsigned generations;     /* number of images */
    enum process_state state;
    bool ended;
    bool measured;
    bool sampled;             /* it was told to sample its allocations */
    const char *why_not;      /* translated, if it is not measured; or NULL */
    uint64_t start_ns;        /* CLOCK_BOOTTIME; 0: run_ns is set elsewhere */
    uint64_t image_ns;        /* when the newest image's segment was made; 0 none */
    int64_t run_ns;
    uint64_t heap, heap_peak; /* if measured */
    struct snapshot counters; /* if measured and followed by a process tracker */
    double allocations;       /* per second */
    uint64_t rss;             /* 0 unknown */
    /* Set by the arrangement: */
    unsigned depth;           /* 0: has no parent here */
    uint64_t guides;          /* bit i: more lines follow below at depth i */
    unsigned unlisted;        /* ended ones below it that are not listed */
};

/* Sums over all that are in the list, shown or not. */
struct roster_sum {
    uint64_t heap;            /* of the living that are measured */
    unsigned living, ended;
    unsigned blind;           /* living and not measured (not loaded) */
    uint64_t dropped;         /* ended and no longer kept */
    uint64_t shortest;        /* ended before it was known whether they are measured */
};

struct roster;

/* rooted: the first entry is the root, which is always kept, and entries whose parent is
   not here count as its children.  Returns NULL if memory is short. */
struct roster *roster_new(bool rooted);
void roster_free(struct roster *roster);

/* Returns the living process with that pid, or NULL. */
struct roster_entry *roster_find(struct roster *roster, pid_t pid);

/* Returns any process with that pid whose newest image is not older, or NULL. */
struct roster_entry *roster_find_image(struct roster *roster, pid_t pid,
                                       uint64_t image_ns);

/* Adds an entry, all zero except its pid; valid until it is removed, or has ended and is
   dropped.  Returns NULL if memory is short. */
struct roster_entry *roster_add(struct roster *roster, pid_t pid);
/* Removes and counts a process that ended before anything was known about it. */
void roster_note_short(struct roster *roster, const struct roster_entry *entry);

/* The oldest entry: the root, if there is one. */
struct roster_entry *roster_first(struct roster *roster);

/* Copies what is known about a watched process, except its names. */
void roster_copy_process(struct roster_entry *entry, const struct process *process);

/* The process has executed another program: appends the first word of its former name to
   before. */
void roster_note_exec(struct roster_entry *entry, const char *name);

/* Updates the order, the sum and the times of living processes, and drops the oldest of
   too many ended ones.  now_ns is on the clock of start_ns. */
void roster_arrange(struct roster *roster, uint64_t now_ns);

/* Calls visit for all entries kept, listed or not, in the order in which they were
   added. */
void roster_each(const struct roster *roster,
                 void (*visit)(void *context, const struct roster_entry *entry),
                 void *context);

size_t roster_count(const struct roster *roster);
const struct roster_entry *roster_at(const struct roster *roster, size_t index);
const struct roster_sum *roster_sum(const struct roster *roster);

#endif
