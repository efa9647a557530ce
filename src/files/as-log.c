/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes lines of an allocation log from events.  The only state is the block that each
   thread's realloc() resizes. */
#include "config.h"

#include "files/as-log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Blocks being resized in a process, by thread. */
struct resizing {
    uint64_t *blocks;
    size_t room;
};

struct as_log {
    struct resizing *processes;
    size_t room;
};

static const enum logalloc_call calls[FN_COUNT] = {
    [FN_MALLOC] = LOGALLOC_MALLOC,
    [FN_REALLOC] = LOGALLOC_REALLOC,
    [FN_CALLOC] = LOGALLOC_CALLOC,
    [FN_FREE] = LOGALLOC_FREE,
    [FN_POSIX_MEMALIGN] = LOGALLOC_POSIX_MEMALIGN,
    [FN_ALIGNED_ALLOC] = LOGALLOC_ALIGNED_ALLOC,
    [FN_MEMALIGN] = LOGALLOC_MEMALIGN,
    [FN_VALLOC] = LOGALLOC_VALLOC,
    [FN_PVALLOC] = LOGALLOC_VALLOC, /* the log has no pvalloc */
};

struct as_log *
as_log_new(void)
{
    return calloc(1, sizeof(struct as_log));
}

void
as_log_free(struct as_log *log)
{
    if (log == NULL)
        return;
    for (size_t i = 0; i < log->room; i++)
        free(log->processes[i].blocks);
    free(log->processes);
    free(log);
}

/* Where the block of the thread's realloc() is kept, 0 outside of realloc().  NULL if
   memory is short. */
static uint64_t *
resized_by(struct as_log *log, const struct trace_event *event)
{
    struct resizing *process;

    if (!ARRAY_GROW(log->processes, log->room, (size_t)event->process + 1))
        return NULL;
    process = &log->processes[event->process];
    return ARRAY_GROW(process->blocks, process->room, (size_t)event->thread + 1)
               ? &process->blocks[event->thread]
               : NULL;
}

static void
name_caller(const struct trace_info *info, const struct trace_event *event,
            struct logalloc_line *line)
{
    const struct trace_process *process = &info->process[event->process];

    line->pid = process->pid != 0 ? process->pid : (uint64_t)event->process + 1;
    line->tid = event->thread < process->threads ? process->thread[event->thread] : 0;
    if (line->tid == 0)
        line->tid = line->pid;
}

static void
fill_made(const struct trace_event *event, struct logalloc_line *line)
{
    line->call = calls[event->kind];
    line->other =
        event->kind == FN_CALLOC ? 1 : UINT64_C(1) << (event->alignment % 64);
    line->size = event->size;
    line->has_result = true;
    line->result = event->address;
}

/* The block of the realloc() that ends now; 0: its beginning is missing. */
static uint64_t
finish(uint64_t *resized)
{
    uint64_t block = *resized;

    *resized = 0;
    return block;
}

int
as_log_line(struct as_log *log, const struct trace_info *info,
            const struct trace_event *event, struct logalloc_line *line)
{
    uint64_t *resized = NULL;

    if (event->kind >= EVENT_REALLOC_FROM && event->kind <= EVENT_REALLOC_KEPT
        && (resized = resized_by(log, event)) == NULL)
        return -ENOMEM;
    memset(line, 0, sizeof *line);
    switch (event->kind) {
    case FN_FREE:
        line->call = LOGALLOC_FREE;
        line->block = event->address;
        break;
    case EVENT_REALLOC_FROM:
        *resized = event->address;
        return 0;
    case EVENT_REALLOC_TO:
        line->call = LOGALLOC_REALLOC;
        line->block = finish(resized);
        line->size = event->size;
        line->has_result = true;
        line->result = event->address;
        break;
    case EVENT_REALLOC_FREED:
        line->call = LOGALLOC_REALLOC;
        line->block = finish(resized);
        line->has_result = true;
        /* This would read as realloc(NULL, 0). */
        if (line->block == 0)
            return 0;
        break;
    case EVENT_REALLOC_KEPT:
        finish(resized);
        return 0;
    default:
        if (event->kind >= FN_COUNT)
            return 0;
        fill_made(event, line);
    }
    name_caller(info, event, line);
    return 1;
}
