/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How large the stacks of a process's threads are and how much of them was touched,
 * read once a second: all their pages are gone through.
 */
#ifndef MEMTOP_STACKREADER_H
#define MEMTOP_STACKREADER_H

#include <stddef.h>
#include <stdint.h>

#include "monitor/session.h"

/* Zero-filled at first. */
struct stack_reader {
    struct procfs_stack *stacks;   /* as read last; NULL: never */
    size_t count;
    int64_t read_ns;
};

void stack_reader_free(struct stack_reader *reader);

/* Reads the stacks of these threads, if it is time to. */
void stack_reader_read(struct stack_reader *reader, int64_t now_ns, pid_t pid,
                       const struct thread_counters *threads, size_t count);

/* Puts what was read into thread, the index'th of those then, most likely. */
void stack_reader_tell(const struct stack_reader *reader, size_t index,
                       struct thread *thread);

#endif
