/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The contents of a saved session, put together from a file.  session_new_saved() makes a
 * session of it that can be viewed like any other but never changes.
 */
#ifndef MEMTOP_SAVED_H
#define MEMTOP_SAVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "system/capture.h"
#include "monitor/messages.h"
#include "monitor/process-list.h"
#include "monitor/session.h"
#include "monitor/tracked.h"

/* More processes than this are left out. */
#define SAVED_PROCESSES 1024

/* So are more processes than this that can be shown beside the root. */
#define SAVED_OTHERS 256

struct saved {
    struct tracked root;
    struct tracked *others[SAVED_OTHERS]; /* processes that can also be shown */
    size_t other_count;
    struct process_list *process_list; /* NULL: not recorded */
    size_t process_count;              /* of the list */
    struct messages *messages;
    bool threads_known;
    size_t thread_count;            /* how many there were; not all are here */
    struct thread threads[THREADS_MAX];
    struct capture *capture;        /* what was printed; NULL: not recorded */
    bool marked;
    struct process mark;            /* at the mark: its time, counters, sizes */
    int64_t interval_ns;
    int64_t epoch_s;                /* when it was saved; 0 unknown */
};

/* Makes an empty one.  Returns NULL if memory is short. */
struct saved *saved_new(void);
void saved_free(struct saved *saved);

/* Adds a process; the copy has its own why_not and place in the tree.  One whose pid is
   there already, or that exceeds the limit, is left out.  Returns false if memory is
   short. */
bool saved_add_process(struct saved *saved, const struct process_entry *entry,
                       const char *why_not);

/* Returns the process that can be shown beside the root, added without a history if it is
   not there yet.  Returns NULL if memory is short or the limit is reached. */
struct tracked *saved_other(struct saved *saved, pid_t pid);

/* Call after the last one: puts them in order, whatever parents they claim. */
void saved_arrange_processes(struct saved *saved);

/* Adds a message; the text is copied unchanged. */
void saved_add_message(struct saved *saved, int64_t run_ns, enum severity severity,
                       const char *text);

#endif
