/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A reader process that munges a trace for the replay.  It ends if nobody reads its
   output. */
#include "config.h"

#include "programs/replay-trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/as-log.h"
#include "replay/munge.h"
#include "files/trace.h"

#define AT_ONCE 4096u
#define PIPE_BYTES (1 << 20)

/* ---- in the reader process ---- */

static void
put(void *context, const struct logalloc_line *line)
{
    fwrite_unlocked(line, 1, sizeof *line, context);
}

/* Returns 0 or -errno. */
static int
munge_trace(struct trace *trace, struct munge *munge, struct as_log *log, FILE *out)
{
    static struct trace_event events[AT_ONCE];
    long got;

    while ((got = trace_read(trace, events, AT_ONCE)) > 0 && !ferror(out))
        for (long i = 0; i < got; i++) {
            struct logalloc_line line;
            int made = as_log_line(log, trace_about(trace), &events[i], &line);

            if (made > 0 && munge_call(munge, &line) == MUNGE_NO_MEMORY)
                made = -ENOMEM;
            if (made < 0)
                return made;
        }
    return (int)got;
}

/* Memory that both processes share. */
struct replay_shared {
    struct trace_info about;
    int error; /* 0 once everything is read */
};

/* Returns 0 or -errno. */
static int
read_trace(const struct input *input, int pipe, struct trace_info *about)
{
    FILE *out = fdopen(pipe, "w");
    const struct munge_options options = {.put = put, .context = out};
    struct munge *munge = munge_new(&options);
    struct as_log *log = as_log_new();
    struct trace *trace = NULL;
    int error = -ENOMEM;

    if (out == NULL || munge == NULL || log == NULL)
        return error;
    setvbuf(out, NULL, _IOFBF, PIPE_BYTES / 16);
    error = trace_open_input(input, &trace);
    if (error == 0)
        error = munge_trace(trace, munge, log, out);
    if (error == 0) {
        *about = *trace_about(trace);
        about->process = NULL; /* points to memory of this process */
        about->processes = 0;
        fclose(out);
    }
    return error;
}

/* ---- in the replaying process ---- */

static int
start(struct replay_trace *reader, struct input *input)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES); /* only a wish */
    reader->child = fork();
    if (reader->child == 0) {
        close(ends[0]);
        reader->shared->error = read_trace(input, ends[1], &reader->shared->about);
        _exit(0);
    }
    close(ends[1]);
    if (reader->child > 0) {
        input_init(input, ends[0]);
        return 0;
    }
    int error = -errno;
    close(ends[0]);
    return error;
}

int
replay_trace_begin(struct replay_trace *reader, struct input *input)
{
    int error;

    reader->shared = mmap(NULL, sizeof *reader->shared, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (reader->shared == MAP_FAILED)
        return -errno;
    reader->shared->error = -EIO; /* remains if the reader is killed */
    error = start(reader, input);
    if (error != 0)
        munmap(reader->shared, sizeof *reader->shared);
    return error;
}

int
replay_trace_end(struct replay_trace *reader, struct trace_info *about)
{
    int error;

    while (waitpid(reader->child, NULL, 0) < 0 && errno == EINTR)
        ;
    *about = reader->shared->about;
    error = reader->shared->error;
    munmap(reader->shared, sizeof *reader->shared);
    return error;
}
