/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Passes reading on to the reader for the file's kind. */
#include "config.h"

#include "files/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "files/trace-form.h"

/* The most threads of a process, and the most processes of a trace. */
#define TABLE_MAX ((size_t)1 << 24)

static const struct trace_reader *const readers[KINDS] = {
    [KIND_TRACE] = &trace_native,
    [KIND_CSV] = &trace_csv,
    [KIND_LOG] = &trace_log,
    [KIND_MUNGED] = &trace_log,
};

/* ---- tables ---- */

struct trace_process *
trace_add_process(struct trace *trace)
{
    size_t count = trace->info.processes;

    if (count >= TABLE_MAX || !ARRAY_GROW(trace->processes, trace->room, count + 1))
        return NULL;
    trace->info.process = trace->processes;
    trace->info.processes++;
    return &trace->processes[count];
}

/* Memory for thread ids is a power of two that doubles when it is full. */
bool
trace_add_thread(struct trace_process *process, uint64_t id)
{
    uint64_t *thread = (uint64_t *)process->thread;
    size_t count = process->threads;

    if (count >= TABLE_MAX)
        return false;
    if ((count & (count - 1)) == 0) {
        thread = reallocarray(thread, count > 0 ? count * 2 : 1, sizeof *thread);
        if (thread == NULL)
            return false;
        process->thread = thread;
    }
    thread[process->threads++] = id;
    return true;
}

/* ---- opening ---- */

static int
choose_reader(struct trace *trace)
{
    int error = kind_of_input(&trace->input, &trace->info.kind);

    if (error != 0)
        return error;
    if (trace->info.kind == KIND_EMPTY)
        return -ENODATA;
    trace->reader = readers[trace->info.kind];
    return trace->reader != NULL ? trace->reader->open(trace) : -ENOEXEC;
}

static int
open_file(struct trace *trace, const char *path)
{
    int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                    : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat st;
    off_t at;

    input_init(&trace->input, fd);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    at = lseek(fd, 0, SEEK_CUR);
    if (S_ISREG(st.st_mode) && at >= 0 && st.st_size > at) {
        trace->size = (uint64_t)(st.st_size - at);
        input_limit(&trace->input, trace->size); /* the file may still be growing */
    }
    return choose_reader(trace);
}

/* Returns the trace, or closes it if it could not be opened. */
static int
opened(struct trace *trace, int error, struct trace **out)
{
    if (error != 0)
        trace_close(trace);
    else
        *out = trace;
    return error;
}

int
trace_open_any(const char *path, const struct trace_progress *progress,
               enum file_kind *kind, struct trace **out)
{
    struct trace *trace = calloc(1, sizeof *trace);
    int error;

    if (trace == NULL)
        return -ENOMEM;
    if (progress != NULL)
        trace->progress = *progress;
    error = open_file(trace, path);
    *kind = trace->info.kind;
    return opened(trace, error, out);
}

int
trace_open(const char *path, const struct trace_progress *progress, struct trace **out)
{
    enum file_kind kind;

    return trace_open_any(path, progress, &kind, out);
}

int
trace_open_input(const struct input *input, struct trace **out)
{
    struct trace *trace = calloc(1, sizeof *trace);

    if (trace == NULL) {
        close(input->fd);
        return -ENOMEM;
    }
    trace->input = *input;
    return opened(trace, choose_reader(trace), out);
}

/* ---- reading ---- */

long
trace_read(struct trace *trace, struct trace_event *events, size_t count)
{
    long got = trace->reader->read(trace, events, count);

    if (got > 0)
        trace->info.events += (uint64_t)got;
    if (trace->progress.tell != NULL)
        trace->progress.tell(trace->progress.context, trace->input.taken, trace->size);
    return got;
}

const struct trace_info *
trace_about(const struct trace *trace)
{
    return &trace->info;
}

void
trace_close(struct trace *trace)
{
    if (trace == NULL)
        return;
    if (trace->reader != NULL)
        trace->reader->close(trace);
    for (uint32_t i = 0; i < trace->info.processes; i++) {
        free((uint64_t *)trace->processes[i].thread);
        free(trace->processes[i].program);
        free(trace->processes[i].args);
        free(trace->processes[i].allocator);
    }
    free(trace->processes);
    if (trace->input.fd >= 0)
        close(trace->input.fd);
    free(trace);
}

/* ---- one process of many ---- */

/* Is this image one of the followed process?  A later image has the same pid and a
   higher generation; a new process with a reused pid does not. */

static bool
is_it(const struct follow *follow, const struct trace_info *info, uint32_t number)
{
    const struct trace_process *process = &info->process[number];
    const struct trace_process *now = &info->process[follow->process];

    if (!follow->begun)
        return follow->pid == 0 || process->pid == follow->pid;
    return number > follow->process && process->pid == now->pid
           && process->generation > now->generation;
}

enum followed
follow_take(struct follow *follow, const struct trace_info *info,
            const struct trace_event *event)
{
    if (follow->begun && event->process == follow->process)
        return FOLLOW_ON;
    if (!is_it(follow, info, event->process))
        return FOLLOW_OTHER;
    follow->begun = true;
    follow->process = event->process;
    return FOLLOW_NEW;
}
