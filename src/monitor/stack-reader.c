/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The size of a thread's stack is that of its mapping.  RLIMIT_STACK, which the library
 * knows, is right only for threads created with default attributes.
 */
#include "config.h"

#include "monitor/stack-reader.h"

#include <stdlib.h>

#define SECOND_NS INT64_C(1000000000)

void
stack_reader_free(struct stack_reader *reader)
{
    free(reader->stacks);
    *reader = (struct stack_reader){0};
}

void
stack_reader_read(struct stack_reader *reader, int64_t now_ns, pid_t pid,
                  const struct thread_counters *threads, size_t count)
{
    if (reader->stacks && now_ns - reader->read_ns < SECOND_NS)
        return;
    if (!reader->stacks)
        reader->stacks = calloc(THREADS_MAX, sizeof *reader->stacks);
    if (!reader->stacks)
        return;
    reader->count = count < THREADS_MAX ? count : THREADS_MAX;
    for (size_t i = 0; i < reader->count; i++)
        reader->stacks[i] = (struct procfs_stack){.base = threads[i].stack_base};
    procfs_stacks(pid, reader->stacks, reader->count);
    reader->read_ns = now_ns;
}

void
stack_reader_tell(const struct stack_reader *reader, size_t index, struct thread *thread)
{
    for (size_t i = 0; i < reader->count; i++) {
        const struct procfs_stack *stack = &reader->stacks[(index + i) % reader->count];

        if (stack->base == 0 || stack->base != thread->counters.stack_base)
            continue;
        thread->stack_touched = stack->touched;
        if (stack->size > 0)
            thread->counters.stack_limit = stack->size;
        return;
    }
}
