/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads an allocation log (logalloc.h), raw or munged.  It has no times, so events are
 * numbered instead.
 *
 * A realloc() makes two events; if there is room for only one, the other waits.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/blockmap.h"
#include "base/array.h"
#include "files/logalloc.h"
#include "files/trace-form.h"

struct log {
    uint64_t line, number;
    struct blockmap processes; /* pid to index */
    struct blockmap *threads;  /* of each process: tid to index */
    size_t room;
    struct trace_event waiting;
    bool waits;
};

/* In a munged log, blocks begin with #. */
static enum logalloc_form
form_of(const char *text, size_t length)
{
    return memchr(text, '#', length) != NULL ? LOGALLOC_MUNGED : LOGALLOC_RAW;
}

static int
open_log(struct trace *trace)
{
    trace->state = calloc(1, sizeof(struct log));
    return trace->state != NULL ? 0 : -ENOMEM;
}

/* ---- callers ---- */

/* Returns the index of a process, BLOCKMAP_NONE if memory is short. */
static uint32_t
find_process(struct trace *trace, struct log *log, uint64_t pid)
{
    uint32_t index = blockmap_get(&log->processes, pid), before;
    struct trace_process *process;

    if (index != BLOCKMAP_NONE)
        return index;
    index = trace->info.processes;
    if (!ARRAY_GROW(log->threads, log->room, (size_t)index + 1)
        || (process = trace_add_process(trace)) == NULL)
        return BLOCKMAP_NONE;
    process->pid = pid;
    process->began_ns = log->number;
    return blockmap_set(&log->processes, pid, index, &before) ? index : BLOCKMAP_NONE;
}

static uint32_t
find_thread(struct trace *trace, struct log *log, uint32_t process, uint64_t tid)
{
    struct blockmap *threads = &log->threads[process];
    uint32_t index = blockmap_get(threads, tid), before;

    if (index != BLOCKMAP_NONE)
        return index;
    index = trace->processes[process].threads;
    if (!trace_add_thread(&trace->processes[process], tid)
        || !blockmap_set(threads, tid, index, &before))
        return BLOCKMAP_NONE;
    return index;
}

/* ---- calls ---- */

static uint64_t
size_of(const struct logalloc_line *line)
{
    uint64_t size;

    if (line->call != LOGALLOC_CALLOC)
        return line->size;
    return __builtin_mul_overflow(line->other, line->size, &size) ? UINT64_MAX : size;
}

static uint8_t
kind_of(enum logalloc_call call)
{
    static const uint8_t kinds[] = {
        [LOGALLOC_MALLOC] = FN_MALLOC,
        [LOGALLOC_CALLOC] = FN_CALLOC,
        [LOGALLOC_REALLOC] = FN_REALLOC,
        [LOGALLOC_FREE] = FN_FREE,
        [LOGALLOC_MEMALIGN] = FN_MEMALIGN,
        [LOGALLOC_POSIX_MEMALIGN] = FN_POSIX_MEMALIGN,
        [LOGALLOC_ALIGNED_ALLOC] = FN_ALIGNED_ALLOC,
        [LOGALLOC_VALLOC] = FN_VALLOC,
    };

    return kinds[call];
}

static uint8_t
alignment_of(const struct logalloc_line *line)
{
    bool given = line->call == LOGALLOC_MEMALIGN || line->call == LOGALLOC_POSIX_MEMALIGN
                 || line->call == LOGALLOC_ALIGNED_ALLOC;

    return given && line->other > 0 ? (uint8_t)__builtin_ctzll(line->other) : 0;
}

/* Makes the events of a line; returns their number: 0, 1 or 2. */
static unsigned
events_of(const struct logalloc_line *line, const struct trace_event *who,
          struct trace_event events[2])
{
    bool given = line->call == LOGALLOC_REALLOC && line->block != 0;
    bool made = line->has_result && line->result != 0;

    events[0] = events[1] = *who;
    if (line->call == LOGALLOC_STATS)
        return 0;
    if (line->call == LOGALLOC_FREE) {
        events[0].kind = FN_FREE;
        events[0].address = line->block;
        return line->block != 0;
    }
    events[given].kind = given ? EVENT_REALLOC_TO : kind_of(line->call);
    events[given].address = line->result;
    events[given].size = size_of(line);
    events[given].alignment = alignment_of(line);
    if (!given)
        return made;
    events[0].kind = EVENT_REALLOC_FROM;
    events[0].address = line->block;
    if (!made) {
        events[1].kind = line->size == 0 ? EVENT_REALLOC_FREED : EVENT_REALLOC_KEPT;
        events[1].address = events[1].size = 0;
    }
    return 2;
}

static void
refuse(struct trace *trace, const struct log *log)
{
    if (trace->info.refused++ == 0)
        trace->info.refused_first = log->line;
}

/* Takes a line and writes its events to `events`, which has room for at least one.
   Returns their number, or -ENOMEM. */
static long
take_line(struct trace *trace, const char *text, size_t length,
          struct trace_event *events, size_t room)
{
    struct log *log = trace->state;
    struct trace_event who = {0}, made[2];
    struct logalloc_line line;
    unsigned count;

    log->line++;
    if (length == 0 || (length == 1 && *text == '\r'))
        return 0;
    if (logalloc_parse(text, length, form_of(text, length), &line) != LOGALLOC_GOOD) {
        refuse(trace, log);
        return 0;
    }
    who.process = find_process(trace, log, line.pid);
    if (who.process == BLOCKMAP_NONE)
        return -ENOMEM;
    who.thread = find_thread(trace, log, who.process, line.tid);
    if (who.thread == BLOCKMAP_NONE)
        return -ENOMEM;
    count = events_of(&line, &who, made);
    for (unsigned i = 0; i < count; i++)
        made[i].time_ns = log->number++;
    if (count > 0)
        events[0] = made[0];
    if (count == 2 && room > 1)
        events[1] = made[1];
    log->waits = count == 2 && room == 1;
    if (log->waits)
        log->waiting = made[1];
    return (long)count - log->waits;
}

static long
read_log(struct trace *trace, struct trace_event *events, size_t count)
{
    struct log *log = trace->state;
    const char *text;
    size_t length, made = 0;
    int got = 1;

    if (log->waits && count > 0) {
        log->waits = false;
        events[made++] = log->waiting;
    }
    while (made < count && (got = input_line(&trace->input, &text, &length)) > 0) {
        long more = take_line(trace, text, length, events + made, count - made);

        if (more < 0)
            return more;
        made += (size_t)more;
    }
    if (got == 0)
        trace->info.ended_ns = log->number > 0 ? log->number - 1 : 0;
    return got < 0 ? got : (long)made;
}

static void
close_log(struct trace *trace)
{
    struct log *log = trace->state;

    if (log == NULL)
        return;
    for (size_t i = 0; i < log->room; i++)
        blockmap_fini(&log->threads[i]);
    free(log->threads);
    blockmap_fini(&log->processes);
    free(log);
}

const struct trace_reader trace_log = {open_log, read_log, close_log};
