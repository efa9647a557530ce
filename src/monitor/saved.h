/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session as it was, put together from a file: session_new_saved() makes one of
 * it that can be looked at like any other, but never changes.
 */
#ifndef MEMTOP_SAVED_H
#define MEMTOP_SAVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "system/capture.h"
#include "monitor/messages.h"
#include "monitor/roster.h"
#include "monitor/session.h"
#include "monitor/subject.h"

/* More processes than that are not taken. */
#define SAVED_PROCESSES 1024

/* Nor more that can be shown beside the root. */
#define SAVED_OTHERS 256

struct saved {
    struct subject root;
    struct subject *others[SAVED_OTHERS]; /* that can be shown, too */
    size_t other_count;
    struct roster *roster;          /* the processes; NULL: not recorded */
    struct messages *messages;
    bool threads_known;
    size_t thread_count;            /* how many there were; THREADS_MAX at most here */
    struct thread threads[THREADS_MAX];
    struct capture *capture;        /* what was printed; NULL: not recorded */
    bool marked;
    struct process mark;            /* as of the mark: its time, counters, sizes */
    int64_t interval_ns;
    int64_t epoch_s;                /* when it was saved, 0 unknown */
};

/* Empty.  NULL if memory is short. */
struct saved *saved_new(void);
void saved_free(struct saved *saved);

/* Adds a process; why_not and where it stands in the tree are the copy's own.  One
   whose number is there already, or one too many, is left out.  False if memory is
   short. */
bool saved_add_process(struct saved *saved, const struct roster_entry *entry,
                       const char *why_not);

/* The one that can be shown beside the root, which is added if it is not there yet,
   without a history.  NULL if memory is short or it is one too many. */
struct subject *saved_other(struct saved *saved, pid_t pid);

/* After the last one: brings them in order, whatever parents they claim. */
void saved_arrange_processes(struct saved *saved);

/* The text is taken as it is. */
void saved_add_message(struct saved *saved, int64_t run_ns, enum severity severity,
                       const char *text);

#endif
