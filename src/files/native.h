/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes memtop's own traces (doc/TRACE); trace.h reads them.  Whatever happens to
 * the writer, what it has flushed can be read.
 */
#ifndef MEMTOP_NATIVE_H
#define MEMTOP_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/trace.h"

struct native_writer;

/* Creates path as outfile_create() does.  0 and *out (native_close() it), or -errno. */
int native_create(const char *path, bool replace, int64_t began_epoch_ns,
                  struct native_writer **out);

/* A process, as far as it is known: pid to baseline_bytes are used, but threads.  Its
   number, or -errno.  Its TRACE_BEGAN is added. */
long native_process(struct native_writer *writer, const struct trace_process *about);

/* The program, its arguments and allocator, if they were not known at first. */
int native_arguments(struct native_writer *writer, uint32_t process,
                     const struct trace_process *about);

/* A thread more of a process that has not ended.  Its number, or -errno. */
long native_thread(struct native_writer *writer, uint32_t process, uint64_t id);

/*
 * Adds events of a process that has not ended, with thread numbers it has.  Their times
 * do not go back, those of different processes may be added in any order within a
 * second or so.  0, or the -errno of the write that failed: from then on nothing is
 * written.
 */
int native_events(struct native_writer *writer, uint32_t process,
                  const struct trace_event *events, size_t count);

/* Adds TRACE_ENDED.  As native_events(). */
int native_ended(struct native_writer *writer, uint32_t process, uint64_t time_ns);

/* Writes what is held back once it is a second old; time_ns since the trace began. */
int native_tick(struct native_writer *writer, uint64_t time_ns);

/* Writes the rest, with the mark that nothing is missing, and frees everything.  0, or
   the -errno of the first failure. */
int native_close(struct native_writer *writer, uint64_t time_ns);

#endif
