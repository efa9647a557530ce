/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads a process's sampled allocations from its segment into a profile. */
#ifndef MEMTOP_SAMPLES_H
#define MEMTOP_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/profile.h"
#include "segment/reader.h"

/*
 * Makes the profile read what the reader's process, with this identity, has sampled, at
 * run_ns since its start, which was at started_ns (CLOCK_MONOTONIC).  Returns false if
 * there is nothing, or memory is short: then the profile is unchanged.
 */
bool samples_read(struct profile *profile, struct reader *reader,
                  const struct identity *identity, int64_t run_ns, int64_t started_ns);

/* The path of the program by the name under which it was started, if that is another name
   of the same file, as "/usr/bin/redis-server" of redis-check-rdb.  Whether it is one is
   not known here. */
void samples_started_as(const struct identity *identity, char *path, size_t size);

/* Where times in the process's segment begin, in ns since its start. */
int64_t samples_begin(const struct identity *identity, int64_t started_ns);

#endif
