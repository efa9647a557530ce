/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing to a file that fails is given up and reported; no file replaces it. */
#include "config.h"

#include "record/record-parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "files/dat.h"

static uint64_t
epoch_now(const struct dat_files *files)
{
    return (uint64_t)(files->epoch_ns + clock_ns(CLOCK_MONOTONIC));
}

int
dat_files_open(struct dat_files *files, const struct record_options *options)
{
    files->options = options;
    files->epoch_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
    if (options->path == NULL)
        return 0;
    return dat_create(options->path, options->replace, epoch_now(files),
                      options->buffered, &files->first);
}

static void
give_up(const struct dat_files *files, const char *path, int error)
{
    if (files->options->failed != NULL)
        files->options->failed(files->options->context, path, error);
}

/* ---- a process's file ---- */

/* FILE.PID, or FILE.PID.GENERATION for a second process with that pid. */
static char *
name_file(const struct dat_files *files, pid_t pid, uint32_t generation, bool another)
{
    const char *first = files->options->path;
    char *path;
    int length = another ? asprintf(&path, "%s.%ld.%lu", first, (long)pid,
                                    (unsigned long)generation)
                         : asprintf(&path, "%s.%ld", first, (long)pid);

    return length < 0 ? NULL : path;
}

void
dat_files_process(struct dat_files *files, struct dat_file *file, pid_t pid,
                  uint32_t generation, bool another)
{
    int error;

    if (files->options->path == NULL)
        return;
    if (file->first) {
        file->file = files->first;
        files->first = NULL;
        return;
    }
    file->path = name_file(files, pid, generation, another);
    if (file->path == NULL)
        return;
    error = dat_create(file->path, files->options->replace,
                       (uint64_t)(files->epoch_ns + file->image_ns),
                       files->options->buffered, &file->file);
    if (error != 0)
        give_up(files, file->path, error);
}

void
dat_files_close(const struct dat_files *files, struct dat_file *file)
{
    int error;

    if (file->file == NULL)
        return;
    error = dat_close(file->file, epoch_now(files));
    file->file = NULL;
    if (error != 0)
        give_up(files, file->path != NULL ? file->path : files->options->path, error);
}

void
dat_files_finish(struct dat_files *files)
{
    struct dat_file unused = {.file = files->first};

    dat_files_close(files, &unused);
    files->first = NULL;
}

/* ---- records ---- */

void
dat_files_image(struct dat_file *file, const struct drain_image *image)
{
    file->image_ns = (int64_t)image->created_ns;
    file->heap = image->baseline_bytes;
}

static void
write_record(const struct dat_files *files, struct dat_file *file,
             const struct drained *event)
{
    const struct dat_record data = {
        .heap = file->heap,
        .stack = event->depth,
        .time = (uint64_t)(files->epoch_ns + file->image_ns) + event->time_ns,
    };
    int error = 0;

    if (file->first && files->options->watch != NULL)
        files->options->watch(files->options->context, &data);
    if (file->file != NULL)
        error = dat_write(file->file, &data);
    if (error != 0)
        dat_files_close(files, file); /* reports it */
}

/* Each event is applied on its own, so that a lost one causes no more error than its
   size. */
static void
apply(const struct dat_files *files, struct dat_file *file, const struct drained *event)
{
    switch (event->kind) {
    case FN_FREE:
    case EVENT_REALLOC_FROM:
        file->heap -= event->size < file->heap ? event->size : file->heap;
        break;
    case EVENT_REALLOC_FREED:
        break;
    case EVENT_CUSTOM_MADE: /* inside blocks that are counted already */
    case EVENT_CUSTOM_FREED:
    case EVENT_THREAD:
    case DRAINED_LOST:
        return;
    default:
        file->heap += event->size;
    }
    if (event->kind != EVENT_REALLOC_FROM && event->kind != EVENT_REALLOC_KEPT)
        write_record(files, file, event);
}

void
dat_files_take(const struct dat_files *files, struct dat_file *file,
               const struct drained *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        apply(files, file, &events[i]);
}
