/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Readings of /proc that cost much, because the kernel goes through all pages: a
 * process's RSS breakdown (some microseconds per mapping and per MiB) and its stacks.
 * Decides when they are read, and reads them.
 */
#ifndef MEMTOP_PROC_READER_H
#define MEMTOP_PROC_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/session.h"

/* ---- the RSS breakdown; all zeros at first ---- */

struct rss_reader {
    bool tried;
    int64_t read_ns; /* when it was last read */
    int64_t cost_ns; /* how long that took */
};

/* Is a reading due?  Once a second at most, and less often the longer it takes, so that
   readings use at most 2 % of the time while the breakdown is shown, 0.1 % otherwise. */
bool rss_reader_due(const struct rss_reader *reader, int64_t now_ns, bool shown);

/* Reads process->bands; threads say where the stacks are.  On failure the old breakdown
   stays. */
void rss_reader_read(struct rss_reader *reader, int64_t now_ns, struct process *process,
                     const struct thread_counters *threads, size_t count);

/* ---- how large the stacks of threads are, and how much was touched; all zeros at first
 * ---- */

struct stack_reader {
    struct procfs_stack *stacks; /* the last reading; NULL: never read */
    size_t count;
    int64_t read_ns;
};

void stack_reader_free(struct stack_reader *reader);

/* Reads the stacks of these threads, once a second. */
void stack_reader_read(struct stack_reader *reader, int64_t now_ns, pid_t pid,
                       const struct thread_counters *threads, size_t count);

/* Puts what was read into thread, whose index in that reading was probably index. */
void stack_reader_tell(const struct stack_reader *reader, size_t index,
                       struct thread *thread);

#endif
