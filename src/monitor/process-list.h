/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Process list: the processes of a tree, one line each, in display order: children below
 * their parent, living before ended, by their start.  Pure: others fill it
 * (process-tracker.c from segments and /proc, saved.c from a file).
 */
#ifndef MEMTOP_PROCESS_LIST_H
#define MEMTOP_PROCESS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "monitor/session.h"

/* The latest ended processes are kept; of a living parent's only the last few are
   listed. */
#define PROCESS_LIST_ENDED_KEPT   256
#define PROCESS_LIST_ENDED_LISTED 3

struct process_entry {
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
struct process_list_sum {
    uint64_t heap;            /* of the living that are measured */
    unsigned living, ended;
    unsigned not_loaded;           /* living and not measured (not loaded) */
    uint64_t dropped;         /* ended and no longer kept */
    uint64_t shortest;        /* ended before it was known whether they are measured */
};

struct process_list;

/* rooted: the first entry is the root, which is always kept, and entries whose parent is
   not here count as its children.  Returns NULL if memory is short. */
struct process_list *process_list_new(bool rooted);
void process_list_free(struct process_list *list);

/* Returns the living process with that pid, or NULL. */
struct process_entry *process_list_find(struct process_list *list, pid_t pid);

/* Returns any process with that pid whose newest image is not older, or NULL. */
struct process_entry *process_list_find_image(struct process_list *list, pid_t pid,
                                              uint64_t image_ns);

/* Adds an entry, all zero except its pid; valid until it is removed, or has ended and is
   dropped.  Returns NULL if memory is short. */
struct process_entry *process_list_add(struct process_list *list, pid_t pid);
/* Removes and counts a process that ended before anything was known about it. */
void process_list_note_short(struct process_list *list,
                             const struct process_entry *entry);

/* The oldest entry: the root, if there is one. */
struct process_entry *process_list_first(struct process_list *list);

/* Copies what is known about a watched process, except its names. */
void process_list_copy_process(struct process_entry *entry,
                               const struct process *process);

/* The process has executed another program: appends the first word of its former name to
   before. */
void process_list_note_exec(struct process_entry *entry, const char *name);

/* Updates the order, the sum and the times of living processes, and drops the oldest of
   too many ended ones.  now_ns is on the clock of start_ns. */
void process_list_arrange(struct process_list *list, uint64_t now_ns);

/* Calls visit for all entries kept, listed or not, in the order in which they were
   added. */
void process_list_each(const struct process_list *list,
                       void (*visit)(void *context, const struct process_entry *entry),
                       void *context);

size_t process_list_count(const struct process_list *list);
const struct process_entry *process_list_at(const struct process_list *list,
                                            size_t index);
const struct process_list_sum *process_list_sum(const struct process_list *list);

#endif
