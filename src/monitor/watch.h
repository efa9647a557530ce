/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process as its segments and /proc show it: the program memtop has started, for
 * which it waits, or any other one, which it only looks at.  Keeps struct process
 * up to date; what happened in between (started, executed another program, ended)
 * is said through session_say().
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

/* Of the program that was started; tree is of what this memtop keeps.  NULL if
   memory is short. */
struct watch *watch_new(const struct launched *launched, struct tree *tree,
                        struct session *session, struct process *process);

/* Another process, running or ended. */
struct attached {
    pid_t pid;
    uint64_t start_boottime_ns; /* when it started, 0 unknown */
    int64_t lived_ns;           /* from then to its end; 0: it lives, or unknown */
};

/* Its segments are found in tree, which may be NULL: it has none.  NULL if memory is
   short. */
struct watch *watch_attach(const struct attached *attached, struct tree *tree,
                           struct session *session, struct process *process);

/* Unlinks the segments that the watch of a started program has no more use for,
   unless keep. */
void watch_free(struct watch *watch, bool keep);

/* Reads everything once.  *restarted: the counters are those of another
   program image than at the last call. */
void watch_poll(struct watch *watch, int64_t now_ns, bool with_sizes, bool *restarted);

/*
 * What the flight recorder has closed since the call before, at most capacity
 * slots, oldest first; *recorded_ns is where their times begin, counted from
 * the program's start.
 */
size_t watch_recorded(struct watch *watch, struct recorded *slots, size_t capacity,
                      int64_t *recorded_ns);

/* Reads process->bands if it is time to, for this purpose; not after its end. */
enum bands_purpose { BANDS_KEPT, BANDS_SHOWN, BANDS_NOW };
void watch_bands(struct watch *watch, int64_t now_ns, enum bands_purpose purpose);

/* The same of the whole run, malloc'ed (caller frees), before the first call of
   watch_recorded(); NULL if there is none. */
struct recorded *watch_past(struct watch *watch, size_t *count, int64_t *recorded_ns);

size_t watch_threads(struct watch *watch, struct thread *out, size_t capacity);

/* Has the profile read the sampled allocations, if there are any. */
void watch_sites(struct watch *watch, struct profile *profile);

/* No consistent reading for too long. */
bool watch_stale(const struct watch *watch, int64_t now_ns);

/* Two seconds without a handshake, or the handshake said no, or the process is
   dormant and asleep. */
bool watch_not_loaded(const struct watch *watch);

#endif
