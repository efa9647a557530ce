/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The writer.  Events are held back per process, until together they fill a block or a
 * second has passed; then the events of all processes are written as one group.  So a
 * reader can put the events of a group in order, and needs memory for one group only.
 */
#include "config.h"

#include "base/array.h"
#include "files/native.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/native-format.h"
#include "files/outfile.h"
#include "files/pack.h"
#include "files/varint.h"

#define FLUSH_NS UINT64_C(1000000000)

/* Events of a process that are held back. */
struct held {
    struct trace_event *events;
    size_t count, room;
    uint64_t last_ns;
    uint32_t threads;
    bool ended;
};

struct native_writer {
    struct outfile file;
    struct eventblock *block;
    struct frame_packer *frame_packer;
    unsigned char *raw, *packed; /* raw: EVENTBLOCK_BYTES; packed: a frame made of them */
    size_t packed_room;
    struct held *held;           /* by process */
    uint32_t processes;
    size_t room;
    size_t count;                /* number of events in all of held */
    uint64_t flushed_ns, now_ns;
};

/* ---- frames ---- */

/* Writes `size` bytes of raw as a frame. */
static int
write_frame(struct native_writer *writer, enum native_frame kind, size_t size)
{
    unsigned char *head = writer->packed;
    size_t stored =
        frame_pack(writer->frame_packer, writer->raw, size, head + NATIVE_FRAME_SIZE,
                   writer->packed_room - NATIVE_FRAME_SIZE);

    if (stored == 0)
        return writer->file.error = -EIO;
    native_put32(head, kind);
    native_put32(head + 4, (uint32_t)stored);
    native_put32(head + 8, (uint32_t)size);
    native_put32(head + 12, native_check(kind, (uint32_t)stored, (uint32_t)size));
    stored += NATIVE_FRAME_SIZE;
    return outfile_append(&writer->file, head, stored, stored);
}

static int
write_numbers(struct native_writer *writer, enum native_frame kind,
              const uint64_t *numbers, size_t count)
{
    unsigned char *at = writer->raw;

    for (size_t i = 0; i < count; i++)
        at = varint_put(at, numbers[i]);
    return write_frame(writer, kind, (size_t)(at - writer->raw));
}

static void
write_events(struct native_writer *writer, struct held *held)
{
    if (held->count > 0)
        write_frame(writer, NATIVE_EVENTS,
                    eventblock_encode(writer->block, held->events, held->count,
                                      writer->raw));
    held->count = 0;
    if (!held->ended)
        return;
    free(held->events); /* there may be many processes, so free this now */
    held->events = NULL;
}

/* Writes a group. */
static int
flush(struct native_writer *writer)
{
    uint64_t about[] = {writer->now_ns};

    writer->flushed_ns = writer->now_ns;
    if (writer->count == 0)
        return writer->file.error;
    for (uint32_t i = 0; i < writer->processes; i++)
        write_events(writer, &writer->held[i]);
    writer->count = 0;
    return write_numbers(writer, NATIVE_GROUP, about, 1);
}

/* ---- opening ---- */

static void
release(struct native_writer *writer)
{
    for (uint32_t i = 0; i < writer->processes; i++)
        free(writer->held[i].events);
    free(writer->held);
    free(writer->raw);
    free(writer->packed);
    frame_packer_free(writer->frame_packer);
    eventblock_free(writer->block);
    free(writer);
}

static struct native_writer *
new_writer(void)
{
    struct native_writer *writer = calloc(1, sizeof *writer);

    if (writer == NULL)
        return NULL;
    writer->packed_room = NATIVE_FRAME_SIZE + frame_bound(EVENTBLOCK_BYTES);
    writer->block = eventblock_new();
    writer->frame_packer = frame_packer_new();
    writer->raw = malloc(EVENTBLOCK_BYTES);
    writer->packed = malloc(writer->packed_room);
    if (writer->block != NULL && writer->frame_packer != NULL && writer->raw != NULL
        && writer->packed != NULL)
        return writer;
    release(writer);
    return NULL;
}

static int
write_header(struct native_writer *writer, int64_t began_epoch_ns)
{
    unsigned char header[NATIVE_HEADER_SIZE] = {0};

    memcpy(header, NATIVE_MAGIC, NATIVE_MAGIC_SIZE);
    native_put32(header + 8, NATIVE_VERSION);
    native_put32(header + 12, NATIVE_HEADER_SIZE);
    native_put64(header + 16, (uint64_t)began_epoch_ns);
    return outfile_append(&writer->file, header, sizeof header, sizeof header);
}

int
native_create(const char *path, bool replace, int64_t began_epoch_ns,
              struct native_writer **out)
{
    struct native_writer *writer = new_writer();
    int error = writer != NULL ? outfile_create(&writer->file, path, replace) : -ENOMEM;

    if (error == 0) {
        error = write_header(writer, began_epoch_ns);
        if (error != 0)
            outfile_close(&writer->file);
    }
    if (error == 0)
        *out = writer;
    else if (writer != NULL)
        release(writer);
    return error;
}

/* ---- processes ---- */

static bool
add_held(struct native_writer *writer)
{
    if (!ARRAY_GROW(writer->held, writer->room, (size_t)writer->processes + 1))
        return false;
    writer->held[writer->processes++] = (struct held){0};
    return true;
}

static unsigned char *
put_bytes(unsigned char *at, const char *bytes, size_t size)
{
    at = varint_put(at, size);
    if (size > 0)
        memcpy(at, bytes, size);
    return at + size;
}

static size_t
at_most(size_t size)
{
    return size < NATIVE_PROCESS_MAX / 4 ? size : NATIVE_PROCESS_MAX / 4;
}

static unsigned char *
put_names(unsigned char *at, const struct trace_process *about)
{
    size_t program = about->program != NULL ? strlen(about->program) : 0;
    size_t allocator = about->allocator != NULL ? strlen(about->allocator) : 0;

    at = put_bytes(at, about->program, at_most(program));
    at = put_bytes(at, about->args, at_most(about->args_size));
    at = put_bytes(at, about->allocator, at_most(allocator));
    return varint_put(at, about->accounting);
}

int
native_arguments(struct native_writer *writer, uint32_t process,
                 const struct trace_process *about)
{
    unsigned char *at = put_names(varint_put(writer->raw, process), about);

    return write_frame(writer, NATIVE_ARGUMENTS, (size_t)(at - writer->raw));
}

long
native_process(struct native_writer *writer, const struct trace_process *about)
{
    const struct trace_event began = {
        .time_ns = about->began_ns, .size = about->baseline_bytes, .kind = TRACE_BEGAN};
    uint32_t number = writer->processes;
    unsigned char *at = writer->raw;
    int error;

    if (!add_held(writer))
        return -ENOMEM;
    at = varint_put(at, about->pid);
    at = varint_put(at, about->parent);
    at = varint_put(at, about->generation);
    at = varint_put(at, about->began_ns);
    at = varint_put(at, about->baseline_bytes);
    at = varint_put(put_names(at, about), number);
    error = write_frame(writer, NATIVE_PROCESS, (size_t)(at - writer->raw));
    if (error == 0)
        error = native_events(writer, number, &began, 1);
    return error != 0 ? error : (long)number;
}

long
native_thread(struct native_writer *writer, uint32_t process, uint64_t id)
{
    const uint64_t about[] = {process, id, writer->held[process].threads};
    int error = write_numbers(writer, NATIVE_THREAD, about, 3);

    return error != 0 ? error : (long)writer->held[process].threads++;
}

/* ---- events ---- */

static int
hold(struct native_writer *writer, uint32_t process, const struct trace_event *events,
     size_t count)
{
    struct held *held = &writer->held[process];

    if (writer->file.error == 0
        && !ARRAY_GROW(held->events, held->room, held->count + count))
        writer->file.error = -ENOMEM;
    if (writer->file.error != 0)
        return writer->file.error;
    for (size_t i = 0; i < count; i++) {
        struct trace_event *event = &held->events[held->count++];

        *event = events[i];
        event->process = process;
        if (event->time_ns < held->last_ns)
            event->time_ns = held->last_ns;
        held->last_ns = event->time_ns;
    }
    writer->count += count;
    return writer->count >= EVENTBLOCK_EVENTS ? flush(writer) : 0;
}

int
native_events(struct native_writer *writer, uint32_t process,
              const struct trace_event *events, size_t count)
{
    int error = writer->file.error;

    while (count > 0 && error == 0) {
        size_t part = EVENTBLOCK_EVENTS - writer->count;

        if (part > count)
            part = count;
        error = hold(writer, process, events, part);
        events += part;
        count -= part;
    }
    return error;
}

int
native_ended(struct native_writer *writer, uint32_t process, uint64_t time_ns)
{
    const struct trace_event ended = {.time_ns = time_ns, .kind = TRACE_ENDED};

    writer->held[process].ended = true;
    return native_events(writer, process, &ended, 1);
}

int
native_tick(struct native_writer *writer, uint64_t time_ns)
{
    writer->now_ns = time_ns;
    return time_ns - writer->flushed_ns >= FLUSH_NS ? flush(writer) : writer->file.error;
}

int
native_close(struct native_writer *writer, uint64_t time_ns)
{
    int error;

    writer->now_ns = time_ns;
    flush(writer);
    write_numbers(writer, NATIVE_END, &time_ns, 1);
    error = outfile_close(&writer->file);
    release(writer);
    return error;
}
