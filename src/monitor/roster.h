/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The processes of a tree, a line each, in the order in which they are shown:
 * children below their parent, the living before the ended, by their start.  Pure:
 * others fill it (census.c from segments and /proc, script.c from a file).
 */
#ifndef MEMTOP_ROSTER_H
#define MEMTOP_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "monitor/session.h"

/* Of those that have ended the last ones are kept; listed are the last few of a
   living parent. */
#define ROSTER_ENDED_KEPT   256
#define ROSTER_ENDED_LISTED 3

struct roster_entry {
    pid_t pid;
    pid_t parent;
    char command[160];        /* unsanitised */
    char before[64];          /* earlier images by name, "sh > env", or "" */
    unsigned generations;     /* images */
    enum process_state state;
    bool ended;
    bool measured;
    bool sampled;             /* it was told to sample its allocations */
    const char *why_not;      /* translated, when it is not measured; or NULL */
    uint64_t start_ns;        /* CLOCK_BOOTTIME; 0: run_ns is set by others */
    uint64_t image_ns;        /* when the newest image's segment was made, 0 none */
    int64_t run_ns;
    uint64_t heap, heap_peak; /* if measured */
    struct snapshot counters; /* of one followed by a census, if measured */
    double allocations;       /* per second */
    uint64_t rss;             /* 0 unknown */
    /* Of the arrangement. */
    unsigned depth;           /* 0: has no parent here */
    uint64_t guides;          /* bit i: a line below goes on at depth i */
    unsigned unlisted;        /* those below it that have ended and are not listed */
};

/* Of all that are in the roster, listed or not. */
struct roster_sum {
    uint64_t heap;            /* of the living that are measured */
    unsigned living, ended;
    unsigned blind;           /* living and not measured */
    uint64_t dropped;         /* ended and not kept any more */
    uint64_t shortest;        /* ended before it was known whether they are measured */
};

struct roster;

/* rooted: the first entry is the root, which is always kept, and who has no parent
   here counts as its child.  NULL if memory is short. */
struct roster *roster_new(bool rooted);
void roster_free(struct roster *roster);

/* The living process with that number, or NULL. */
struct roster_entry *roster_find(struct roster *roster, pid_t pid);

/* Any one with that number whose newest image is not older, or NULL. */
struct roster_entry *roster_find_image(struct roster *roster, pid_t pid,
                                       uint64_t image_ns);

/* A new one, all zero but its pid; good until it is removed or has ended and is
   dropped.  NULL if memory is short. */
struct roster_entry *roster_add(struct roster *roster, pid_t pid);
/* It has ended before anything was known of it: it is removed and counted. */
void roster_note_short(struct roster *roster, const struct roster_entry *entry);

/* The oldest: the root, if there is one. */
struct roster_entry *roster_first(struct roster *roster);

/* Takes over what is known of a watched process, but for its names. */
void roster_copy_process(struct roster_entry *entry, const struct process *process);

/* The process has executed another program: the name of the one before, its first
   word, becomes part of before. */
void roster_note_exec(struct roster_entry *entry, const char *name);

/* Brings the order, the sum and the times of the living up to date, dropping the
   oldest of too many that have ended.  now_ns is on the clock of start_ns. */
void roster_arrange(struct roster *roster, uint64_t now_ns);

/* Calls visit for all that are kept, listed or not, in the order of their coming. */
void roster_each(const struct roster *roster,
                 void (*visit)(void *context, const struct roster_entry *entry),
                 void *context);

size_t roster_count(const struct roster *roster);
const struct roster_entry *roster_at(const struct roster *roster, size_t index);
const struct roster_sum *roster_sum(const struct roster *roster);

#endif
