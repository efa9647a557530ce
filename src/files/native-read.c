/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader of memtop's own traces.  It reads a group of frames, merges the events of
 * all its processes into one order, and passes them on.
 *
 * Nothing is trusted: sizes are checked before anything is read, frames have checksums,
 * eventblock.c checks blocks, and this module checks their processes and threads.  After
 * damaged bytes the reader searches for the next frame.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/native-format.h"
#include "files/pack.h"
#include "files/trace-form.h"
#include "files/varint.h"

/* Limit for the names of all processes: names compress well, so a small file could
   contain any number.  Names beyond the limit are dropped. */
#define NAMES_MAX ((size_t)64 << 20)

struct frame_head {
    uint32_t kind, stored, raw;
};

/* The range of a block's events in the group; each is in order. */
struct block_run {
    size_t from, to;
};

struct native {
    struct eventblock *block;
    struct frame_unpacker *frame_unpacker;
    unsigned char *packed, *raw;
    size_t packed_room;
    struct trace_event *events, *merged; /* room for two blocks each */
    size_t count, next;                  /* events in the group, and passed on of them */
    struct block_run *runs;              /* room for as many as events in a block */
    size_t run_count;
    size_t names;                        /* bytes of names of all processes */
    uint64_t missing;                    /* number of processes and threads without a
                                            frame */
    uint64_t last_ns;
    bool ended;
};

static int
open_native(struct trace *trace)
{
    struct native *native = calloc(1, sizeof *native);
    unsigned char header[NATIVE_HEADER_SIZE];

    trace->state = native;
    if (native == NULL)
        return -ENOMEM;
    native->packed_room = frame_bound(EVENTBLOCK_BYTES);
    native->packed = malloc(native->packed_room);
    native->raw = malloc(EVENTBLOCK_BYTES);
    native->events = malloc(2 * EVENTBLOCK_EVENTS * sizeof *native->events);
    native->merged = malloc(2 * EVENTBLOCK_EVENTS * sizeof *native->merged);
    native->runs = malloc(EVENTBLOCK_EVENTS * sizeof *native->runs);
    native->block = eventblock_new();
    native->frame_unpacker = frame_unpacker_new();
    if (native->packed == NULL || native->raw == NULL || native->events == NULL
        || native->merged == NULL || native->runs == NULL || native->block == NULL
        || native->frame_unpacker == NULL)
        return -ENOMEM;
    if (input_bytes(&trace->input, header, sizeof header) != (long)sizeof header)
        return -ENODATA;
    if (native_get32(header + 8) != NATIVE_VERSION
        || native_get32(header + 12) != NATIVE_HEADER_SIZE)
        return -EPROTONOSUPPORT;
    trace->info.has_time = trace->info.has_depth = trace->info.sizes_of_freed = true;
    trace->info.began_epoch_ns = (int64_t)native_get64(header + 16);
    return 0;
}

static void
close_native(struct trace *trace)
{
    struct native *native = trace->state;

    if (native == NULL)
        return;
    free(native->packed);
    free(native->raw);
    free(native->events);
    free(native->merged);
    free(native->runs);
    eventblock_free(native->block);
    frame_unpacker_free(native->frame_unpacker);
    free(native);
}

/* ---- frames ---- */

/* Is this the head of a frame, with plausible sizes? */
static bool
is_head(const struct native *native, const unsigned char *head, struct frame_head *frame)
{
    *frame = (struct frame_head){native_get32(head), native_get32(head + 4),
                                 native_get32(head + 8)};
    return native_get32(head + 12) == native_check(frame->kind, frame->stored, frame->raw)
           && frame->stored <= native->packed_room
           && frame->raw <= (frame->kind == NATIVE_EVENTS ? EVENTBLOCK_BYTES
                                                          : NATIVE_PROCESS_MAX);
}

/* Reads the next head, skipping damaged bytes.  Returns 1, 0 at the end, or -errno. */
static int
read_head(struct trace *trace, struct frame_head *frame)
{
    unsigned char head[NATIVE_FRAME_SIZE];
    long got = input_bytes(&trace->input, head, sizeof head);

    while (got == (long)sizeof head && !is_head(trace->state, head, frame)) {
        memmove(head, head + 1, sizeof head - 1);
        trace->info.damaged++;
        got = input_bytes(&trace->input, head + sizeof head - 1, 1);
        if (got == 1)
            got = (long)sizeof head;
    }
    return got < 0 ? (int)got : got == (long)sizeof head;
}

/* Reads the next frame; its bytes go to native->raw.  Returns 1, 0 at the end, where the
   file may be cut, or -errno. */
static int
read_frame(struct trace *trace, struct frame_head *frame)
{
    struct native *native = trace->state;

    for (;;) {
        int got = read_head(trace, frame);
        long bytes;

        if (got <= 0)
            return got;
        bytes = input_bytes(&trace->input, native->packed, frame->stored);
        if (bytes < (long)frame->stored)
            return bytes < 0 ? (int)bytes : 0;
        if (frame_unpack(native->frame_unpacker, native->packed, frame->stored,
                         native->raw, frame->raw))
            return 1;
        trace->info.damaged += NATIVE_FRAME_SIZE + frame->stored;
    }
}

/* ---- processes ---- */

struct text {
    const unsigned char *at;
    size_t size;
};

static bool
get_text(const unsigned char **at, const unsigned char *end, struct text *text)
{
    uint64_t size;

    if (!varint_get(at, end, &size) || size > (uint64_t)(end - *at))
        return false;
    *text = (struct text){*at, (size_t)size};
    *at += size;
    return true;
}

/* Copies text with a NUL at its end; NULL if it is empty or memory is short. */
static char *
copy(struct text text)
{
    char *copied = text.size > 0 ? malloc(text.size + 1) : NULL;

    if (copied == NULL)
        return NULL;
    memcpy(copied, text.at, text.size);
    copied[text.size] = '\0';
    return copied;
}

static size_t
size_of_names(const struct trace_process *process)
{
    return (process->program != NULL ? strlen(process->program) : 0)
           + (process->allocator != NULL ? strlen(process->allocator) : 0)
           + process->args_size;
}

static void
forget_names(struct native *native, struct trace_process *process)
{
    native->names -= size_of_names(process);
    free(process->program);
    free(process->args);
    free(process->allocator);
    process->program = process->args = process->allocator = NULL;
    process->args_size = 0;
}

/* Returns false if they are not complete. */
static bool
take_names(struct native *native, struct trace_process *process, const unsigned char **at,
           const unsigned char *end)
{
    struct text program, args, allocator;
    uint64_t accounting;

    if (!get_text(at, end, &program) || !get_text(at, end, &args)
        || !get_text(at, end, &allocator) || !varint_get(at, end, &accounting))
        return false;
    forget_names(native, process);
    process->accounting = (uint32_t)accounting;
    if (native->names + program.size + args.size + allocator.size > NAMES_MAX)
        return true;
    process->allocator = copy(allocator);
    process->program = copy(program);
    if (args.size > 0 && args.at[args.size - 1] == '\0')
        process->args = copy(args);
    process->args_size = process->args != NULL ? args.size : 0;
    native->names += size_of_names(process);
    return true;
}

static bool
take_arguments(struct trace *trace, const unsigned char *at, const unsigned char *end)
{
    uint64_t process;

    return varint_get(&at, end, &process) && process < trace->info.processes
           && take_names(trace->state, &trace->processes[process], &at, end);
}

/* Accepts a gap of `count` numbers only if enough damaged bytes were skipped to explain
   it. */
static bool
miss(struct trace *trace, uint64_t count)
{
    struct native *native = trace->state;

    if (count > trace->info.damaged / NATIVE_FRAME_SIZE - native->missing)
        return false;
    native->missing += count;
    return true;
}

/* Adds empty processes for missing ones, up to the given number. */
static bool
reach_process(struct trace *trace, uint64_t number)
{
    if (number > trace->info.processes && !miss(trace, number - trace->info.processes))
        return false;
    while (trace->info.processes < number)
        if (trace_add_process(trace) == NULL)
            return false;
    return true;
}

static uint64_t
clamp(uint64_t time_ns)
{
    return time_ns < TRACE_TIME_MAX ? time_ns : TRACE_TIME_MAX;
}

static bool
take_process(struct trace *trace, const unsigned char *at, const unsigned char *end)
{
    struct trace_process read = {0}, *process;
    uint64_t generation, number;

    if (!varint_get(&at, end, &read.pid) || !varint_get(&at, end, &read.parent)
        || !varint_get(&at, end, &generation) || !varint_get(&at, end, &read.began_ns)
        || !varint_get(&at, end, &read.baseline_bytes))
        return false;
    read.generation = (uint32_t)generation;
    read.began_ns = clamp(read.began_ns);
    if (!take_names(trace->state, &read, &at, end))
        return false;
    if (varint_get(&at, end, &number) && number >= trace->info.processes
        && reach_process(trace, number) && (process = trace_add_process(trace)) != NULL) {
        *process = read;
        return true;
    }
    forget_names(trace->state, &read);
    return false;
}

static bool
take_thread(struct trace *trace, const unsigned char *at, const unsigned char *end)
{
    uint64_t number, id, place;
    struct trace_process *process;

    if (!varint_get(&at, end, &number) || !varint_get(&at, end, &id)
        || !varint_get(&at, end, &place) || number == UINT64_MAX
        || !reach_process(trace, number + 1))
        return false;
    process = &trace->processes[number];
    if (place < process->threads || !miss(trace, place - process->threads))
        return false;
    while (process->threads < place)
        if (!trace_add_thread(process, 0))
            return false;
    return trace_add_thread(process, id);
}

/* ---- events ---- */

/* Processes a block's special events.  Returns false if the block is not plausible. */
static bool
take_block(struct trace *trace, const struct trace_event *events, size_t count)
{
    struct trace_process *process;
    uint64_t lost = 0;

    if (events[0].process >= trace->info.processes)
        return false;
    process = &trace->processes[events[0].process];
    for (size_t i = 0; i < count; i++) {
        if (events[i].kind < TRACE_LOST && events[i].thread >= process->threads)
            return false;
        if (events[i].kind == TRACE_LOST)
            lost += events[i].size;
    }
    trace->info.lost += lost;
    if (events[count - 1].kind == TRACE_ENDED) {
        process->ended = true;
        process->ended_ns = clamp(events[count - 1].time_ns);
    }
    return true;
}

static bool
take_events(struct trace *trace, size_t size)
{
    struct native *native = trace->state;
    struct trace_event *events = native->events + native->count;
    long count = eventblock_decode(native->block, native->raw, size, events);

    if (count < 0 || !take_block(trace, events, (size_t)count))
        return false;
    native->runs[native->run_count++] =
        (struct block_run){native->count, native->count + (size_t)count};
    native->count += (size_t)count;
    return true;
}

static void
merge_two(const struct native *native, struct block_run left, struct block_run right)
{
    const struct trace_event *from = native->events;
    struct trace_event *to = native->merged + left.from;

    while (left.from < left.to && right.from < right.to)
        *to++ = from[right.from].time_ns < from[left.from].time_ns ? from[right.from++]
                                                                   : from[left.from++];
    if (left.from < left.to)
        memcpy(to, from + left.from, (left.to - left.from) * sizeof *to);
    else
        memcpy(to, from + right.from, (right.to - right.from) * sizeof *to);
}

/* Merges neighbouring blocks until one is left.  If times are equal, the events of the
   first block come first. */
static void
merge(struct native *native)
{
    while (native->run_count > 1) {
        struct trace_event *events = native->events;
        size_t count = 0;

        for (size_t i = 0; i < native->run_count; i += 2) {
            struct block_run left = native->runs[i];
            struct block_run right = {left.to, left.to};

            if (i + 1 < native->run_count)
                right = native->runs[i + 1];
            merge_two(native, left, right);
            native->runs[count++] = (struct block_run){left.from, right.to};
        }
        native->run_count = count;
        native->events = native->merged;
        native->merged = events;
    }
}

/* Handles a frame.  Returns false if it is damaged.  Unknown kinds come from later
   versions and are ignored. */
static bool
take_frame(struct trace *trace, const struct frame_head *frame)
{
    struct native *native = trace->state;
    const unsigned char *at = native->raw, *end = at + frame->raw;
    uint64_t time_ns = 0;

    switch (frame->kind) {
    case NATIVE_PROCESS:
        return take_process(trace, at, end);
    case NATIVE_ARGUMENTS:
        return take_arguments(trace, at, end);
    case NATIVE_THREAD:
        return take_thread(trace, at, end);
    case NATIVE_EVENTS:
        return take_events(trace, frame->raw);
    case NATIVE_GROUP:
    case NATIVE_END:
        native->ended = frame->kind == NATIVE_END;
        if (!varint_get(&at, end, &time_ns))
            return false;
        if (clamp(time_ns) > trace->info.ended_ns)
            trace->info.ended_ns = clamp(time_ns);
    }
    return true;
}

/* Reads a group and merges it.  Without group frames, a group ends when the buffer is
   full.  Returns 1, 0 at the end, or -errno. */
static int
read_group(struct trace *trace)
{
    struct native *native = trace->state;
    struct frame_head frame = {0};
    int got = 1;

    native->count = native->next = native->run_count = 0;
    while (!native->ended && native->count < EVENTBLOCK_EVENTS
           && !(frame.kind == NATIVE_GROUP && native->count > 0)) {
        got = read_frame(trace, &frame);
        if (got <= 0)
            break;
        if (!take_frame(trace, &frame))
            trace->info.damaged += NATIVE_FRAME_SIZE + frame.stored;
    }
    trace->info.cut = got == 0;
    merge(native);
    return got < 0 && native->count == 0 ? got : native->count > 0;
}

static long
read_native(struct trace *trace, struct trace_event *events, size_t count)
{
    struct native *native = trace->state;
    int got = native->next < native->count ? 1 : read_group(trace);

    if (got <= 0)
        return got;
    if (count > native->count - native->next)
        count = native->count - native->next;
    for (size_t i = 0; i < count; i++) {
        events[i] = native->events[native->next++];
        events[i].time_ns = clamp(events[i].time_ns);
        if (events[i].time_ns < native->last_ns)
            events[i].time_ns = native->last_ns;
        native->last_ns = events[i].time_ns;
    }
    return (long)count;
}

const struct trace_reader trace_native = {
    .open = open_native,
    .read = read_native,
    .close = close_native,
};
