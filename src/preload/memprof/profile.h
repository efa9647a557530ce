/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Profiles that the program makes of itself (memtop/memprof.h): which blocks are sampled,
 * and which callbacks are called about them.  While there is one, mt_guard.mode has
 * MODE_PROFILED set: all wrappers take their slow paths and report here what they do.
 * This is unrelated to what memtop samples for itself.
 */
#ifndef MEMTOP_OWN_PROFILE_H
#define MEMTOP_OWN_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/hooks.h"

/* What the core calls: see struct mt_profile_hooks. */
void mt_profile_made(enum memprof_source source, void *block, uint64_t size,
                     const void *caller);
void mt_profile_freed(enum memprof_source source, void *block);
struct profile_resize mt_profile_resize_begin(void *block, uint64_t size);
void mt_profile_resize_end(const struct profile_resize *resize,
                           enum memprof_source source, void *made, uint64_t size);

/* The parts of memprof_start() etc. that need not know whether calls are counted; each
   returns 0 or a positive errno. */
int mt_profile_start(const struct memprof_tracker *tracker, void *ctx, double rate,
                     int frames, memprof_t **out);
int mt_profile_stop(void);
int mt_profile_discard(memprof_t *profile);

/* In a forked child: it has no profile. */
void mt_profile_forget(void);

#endif
