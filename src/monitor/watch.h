/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process as its segments and /proc show it: the program memtop has started, which it
 * waits for, or any other one, which it only observes.  Keeps struct process up to date;
 * what happened in between (started, executed another program, ended) is reported by
 * session_say().
 */
#ifndef MEMTOP_WATCH_H
#define MEMTOP_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "system/launch.h"
#include "monitor/profile.h"
#include "monitor/session.h"
#include "monitor/tree.h"

struct watch;

/* Watches the program that was started; tree has the segments this memtop keeps.  Returns
   NULL if memory is short. */
struct watch *watch_new(const struct launched *launched, struct tree *tree,
                        struct session *session, struct process *process);

/* Another process, running or ended. */
struct attached {
    pid_t pid;
    uint64_t start_boottime_ns; /* when it started, 0 unknown */
    int64_t lived_ns;           /* run time until its end; 0: it lives, or unknown */
};

/* Its segments are found in tree; NULL: it has none.  Returns NULL if memory is short. */
struct watch *watch_attach(const struct attached *attached, struct tree *tree,
                           struct session *session, struct process *process);

/* Unless keep, unlinks the segments that are no longer needed after watching a started
   program. */
void watch_free(struct watch *watch, bool keep);

/* Reads everything once.  *restarted: the counters belong to another program image than
   at the last call. */
void watch_poll(struct watch *watch, int64_t now_ns, bool with_sizes, bool *restarted);

/*
 * Returns the slots that the flight recorder has closed since the last call, at most
 * capacity, oldest first; *recorded_ns is where their times begin, in ns since the
 * program's start.
 */
size_t watch_recorded(struct watch *watch, struct recorded *slots, size_t capacity,
                      int64_t *recorded_ns);

/* Reads process->bands (RSS breakdown) if it is due for this purpose; not after the
   end. */
enum rss_purpose { BANDS_KEPT, BANDS_SHOWN, BANDS_NOW };
void watch_rss(struct watch *watch, int64_t now_ns, enum rss_purpose purpose);

/* Returns the slots of the whole run, malloc'ed (caller frees); call before the first
   watch_recorded().  NULL if there are none. */
struct recorded *watch_past(struct watch *watch, size_t *count, int64_t *recorded_ns);

size_t watch_threads(struct watch *watch, struct thread *out, size_t capacity);

/* Makes the profile read the sampled allocations, if there are any. */
void watch_sites(struct watch *watch, struct profile *profile);

/* Has there been no consistent reading for too long? */
bool watch_stale(const struct watch *watch, int64_t now_ns);

/* True after two seconds without a handshake, if the library does not count, or if the
   process is dormant and asleep. */
bool watch_not_loaded(const struct watch *watch);

#endif
