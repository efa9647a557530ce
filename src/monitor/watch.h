/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program memtop has started, as its segments, /proc and wait() show it.
 * Keeps struct process up to date; what happened in between (started, executed
 * another program, ended) is said through session_say().
 */
#ifndef MEMTOP_WATCH_H
#define MEMTOP_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/launch.h"
#include "monitor/session.h"

struct watch;

/* NULL if memory is short. */
struct watch *watch_new(const struct launched *launched, struct session *session,
                        struct process *process);

/* Unlinks the segments that watch has no more use for, unless keep. */
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

/* See children_each(). */
void watch_each_child(struct watch *watch,
                      void (*visit)(void *context, const struct process *process),
                      void *context);

/* No consistent reading for too long. */
size_t watch_threads(struct watch *watch, struct thread *out, size_t capacity);

bool watch_stale(const struct watch *watch, int64_t now_ns);

/* Two seconds without a handshake, or the handshake said no. */
bool watch_not_loaded(const struct watch *watch);

#endif
