/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Combines what the kernel says with what the counters said in the same poll.
 */
#include "config.h"

#include "monitor/proc-reader.h"

#include <stdlib.h>
#include <time.h>

#include "monitor/rss-breakdown.h"
#include "base/clock.h"
#include "segment/names.h"

#define SECOND_NS INT64_C(1000000000)

/* Reciprocals of the share of time that readings may take. */
#define SHOWN_TIMES  50
#define HIDDEN_TIMES 1000

bool
rss_reader_due(const struct rss_reader *reader, int64_t now_ns, bool shown)
{
    int64_t spacing = reader->cost_ns * (shown ? SHOWN_TIMES : HIDDEN_TIMES);

    if (spacing < SECOND_NS)
        spacing = SECOND_NS;
    return !reader->tried || now_ns - reader->read_ns >= spacing;
}

void
rss_reader_read(struct rss_reader *reader, int64_t now_ns, struct process *process,
                 const struct thread_counters *threads, size_t count)
{
    int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
    uint64_t pointers[THREADS_MAX];
    struct smaps_hints hints = {.stacks = pointers};
    struct resident resident = {0};
    char segment[24];

    for (size_t i = 0; i < count && i < THREADS_MAX; i++)
        pointers[hints.stack_count++] = threads[i].stack_base;
    segment_name(segment, process->identity.pid, process->identity.generation);
    hints.threads = process->os.threads;
    if (process->measured)
        hints.segment = segment;
    procfs_stack_limit(process->pid, &hints.stack_size);
    if (procfs_resident(process->pid, &hints, &resident) == 0)
        rss_divide(&resident, process, &process->breakdown);
    reader->tried = true;
    reader->read_ns = now_ns;
    reader->cost_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
}

/* ---- stacks ---- */

void
stack_reader_free(struct stack_reader *reader)
{
    free(reader->stacks);
    *reader = (struct stack_reader){0};
}

/* The size of a thread's stack is that of its mapping.  RLIMIT_STACK, which the library
   knows, is right only for threads created with default attributes. */
void
stack_reader_read(struct stack_reader *reader, int64_t now_ns, pid_t pid,
                  const struct thread_counters *threads, size_t count)
{
    if (reader->stacks != NULL && now_ns - reader->read_ns < SECOND_NS)
        return;
    if (reader->stacks == NULL)
        reader->stacks = calloc(THREADS_MAX, sizeof *reader->stacks);
    if (reader->stacks == NULL)
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
