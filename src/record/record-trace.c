/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* If writing the file fails it is given up and reported once: the program runs on, and
   what was written before can be read. */
#include "config.h"

#include "record/record-parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "files/native.h"

_Static_assert(DRAINED_LOST == TRACE_LOST, "one mark of what is missing");

#define AT_ONCE 1024u

int
trace_file_open(struct trace_file *file, const struct record_options *options)
{
    file->options = options;
    file->began_ns = clock_ns(CLOCK_MONOTONIC);
    if (options->trace == NULL)
        return 0;
    return native_create(options->trace, options->replace, clock_ns(CLOCK_REALTIME),
                         &file->writer);
}

static uint64_t
now_ns(const struct trace_file *file)
{
    return (uint64_t)(clock_ns(CLOCK_MONOTONIC) - file->began_ns);
}

/* Closes the file; error: an error that has already happened. */
static void
finish(struct trace_file *file, long error)
{
    int closed = native_close(file->writer, now_ns(file));

    file->writer = NULL;
    if (error >= 0)
        error = closed;
    if (error < 0 && file->options->failed != NULL)
        file->options->failed(file->options->context, file->options->trace, (int)error);
}

void
trace_file_finish(struct trace_file *file)
{
    if (file->writer != NULL)
        finish(file, 0);
}

/* Passes on a result of the writer; on an error the file is given up. */
static long
checked(struct trace_file *file, long result)
{
    if (result < 0)
        finish(file, result);
    return result;
}

void
trace_file_image(struct trace_file *file, struct trace_image *image, pid_t pid,
                 uint32_t generation, const struct drain_image *about)
{
    int64_t created_ns = (int64_t)about->created_ns - file->began_ns;
    struct trace_process process = {
        .pid = (uint64_t)pid,
        .parent = (uint64_t)about->parent,
        .generation = generation,
        .program = (char *)about->program,
        .args = (char *)about->args,
        .args_size = about->args_size,
        .allocator = (char *)about->allocator,
        .accounting = about->accounting,
        .began_ns = created_ns > 0 ? (uint64_t)created_ns : 0,
        .baseline_bytes = about->baseline_bytes,
    };
    long number;

    if (file->writer == NULL)
        return;
    image->threads = calloc(SHARD_COUNT, sizeof *image->threads);
    if (image->threads == NULL)
        return;
    number = checked(file, native_process(file->writer, &process));
    image->open = number >= 0;
    image->told = about->args_size > 0;
    image->number = (uint32_t)number;
    image->created_ns = created_ns;
}

void
trace_file_arguments(struct trace_file *file, struct trace_image *image,
                     const struct drain_image *about)
{
    const struct trace_process process = {.program = (char *)about->program,
                                          .args = (char *)about->args,
                                          .args_size = about->args_size,
                                          .allocator = (char *)about->allocator,
                                          .accounting = about->accounting};

    if (file->writer == NULL || about->args_size == 0)
        return;
    checked(file, native_arguments(file->writer, image->number, &process));
    image->told = true;
}

/* From now on the ring belongs to the thread with that id. */
static void
take_thread(struct trace_file *file, struct trace_image *image, unsigned ring,
            uint64_t id)
{
    long number;

    if (file->writer == NULL)
        return;
    number = checked(file, native_thread(file->writer, image->number, id));
    if (number >= 0)
        image->threads[ring] = (uint32_t)number + 1;
}

static struct trace_event
convert(const struct trace_image *image, const struct drained *event)
{
    int64_t time_ns = image->created_ns + (int64_t)event->time_ns;

    return (struct trace_event){
        .time_ns = time_ns > 0 ? (uint64_t)time_ns : 0,
        .address = event->address,
        .size = event->size,
        .thread = image->threads[event->ring] - 1,
        .depth = event->depth,
        .kind = event->kind,
        .alignment = event->alignment,
    };
}

static void
put(struct trace_file *file, const struct trace_image *image,
    const struct trace_event *events, size_t count)
{
    if (count > 0 && file->writer != NULL)
        checked(file, native_events(file->writer, image->number, events, count));
}

/* Threads without a ring of their own share one, which counts as a thread with id 0. */
void
trace_file_take(struct trace_file *file, struct trace_image *image,
                const struct drained *events, size_t count)
{
    static struct trace_event batch[AT_ONCE];
    size_t filled = 0;

    if (!image->open)
        return;
    for (size_t i = 0; i < count && file->writer != NULL; i++) {
        if (events[i].kind == EVENT_THREAD)
            take_thread(file, image, events[i].ring, events[i].size);
        else if (image->threads[events[i].ring] == 0)
            take_thread(file, image, events[i].ring, 0);
        if (events[i].kind == EVENT_THREAD)
            continue;
        batch[filled++] = convert(image, &events[i]);
        if (filled == AT_ONCE) {
            put(file, image, batch, filled);
            filled = 0;
        }
    }
    put(file, image, batch, filled);
}

void
trace_file_ended(struct trace_file *file, struct trace_image *image)
{
    if (image->open && file->writer != NULL)
        checked(file, native_ended(file->writer, image->number, now_ns(file)));
    free(image->threads);
    *image = (struct trace_image){0};
}

void
trace_file_tick(struct trace_file *file)
{
    if (file->writer != NULL)
        checked(file, native_tick(file->writer, now_ns(file)));
}
