/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads how large the stacks of a process's threads are and how much of them was touched.
 * This is done once a second, because the kernel goes through all their pages.
 */
#ifndef MEMTOP_STACK_READER_H
#define MEMTOP_STACK_READER_H

#include <stddef.h>
#include <stdint.h>

#include "monitor/session.h"

/* All zeros at first. */
struct stack_reader {
    struct procfs_stack *stacks;   /* the last reading; NULL: never read */
    size_t count;
    int64_t read_ns;
};

void stack_reader_free(struct stack_reader *reader);

/* Reads the stacks of these threads, if a reading is due. */
void stack_reader_read(struct stack_reader *reader, int64_t now_ns, pid_t pid,
                       const struct thread_counters *threads, size_t count);

/* Puts what was read into thread, whose index in that reading was probably index. */
void stack_reader_tell(const struct stack_reader *reader, size_t index,
                       struct thread *thread);

#endif
