/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes memtop's own traces (doc/TRACE); trace.h reads them.  Everything flushed can be
 * read, even if the writer is killed.
 */
#ifndef MEMTOP_NATIVE_H
#define MEMTOP_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/trace.h"

struct native_writer;

/* Creates path like outfile_create().  Returns 0 and sets *out, to be closed with
   native_close(), or -errno. */
int native_create(const char *path, bool replace, int64_t began_epoch_ns,
                  struct native_writer **out);

/* Adds a process and its TRACE_BEGAN.  Of about, pid to baseline_bytes are used, without
   threads.  Returns the process's number, or -errno. */
long native_process(struct native_writer *writer, const struct trace_process *about);

/* Writes program, arguments and allocator, if they were not known at first. */
int native_arguments(struct native_writer *writer, uint32_t process,
                     const struct trace_process *about);

/* Adds a thread to a process that has not ended.  Returns the thread's number, or
   -errno. */
long native_thread(struct native_writer *writer, uint32_t process, uint64_t id);

/*
 * Adds events of a process that has not ended; their threads must have been added.
 * Times must not go back within a process; events of different processes may be added in
 * any order within about a second.  Returns 0, or the -errno of the first failed write:
 * from then on nothing is written.
 */
int native_events(struct native_writer *writer, uint32_t process,
                  const struct trace_event *events, size_t count);

/* Adds TRACE_ENDED.  Returns like native_events(). */
int native_ended(struct native_writer *writer, uint32_t process, uint64_t time_ns);

/* Writes events that have been held back for a second. time_ns: since the trace began. */
int native_tick(struct native_writer *writer, uint64_t time_ns);

/* Writes the rest and the mark that nothing is missing, closes the file and frees the
   writer.  Returns 0, or the -errno of the first failure. */
int native_close(struct native_writer *writer, uint64_t time_ns);

#endif
