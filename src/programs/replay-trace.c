/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The process that reads ends when nobody takes what it writes. */
#include "config.h"

#include "programs/replay-trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs/say.h"
#include "base/i18n.h"
#include "files/as-log.h"
#include "replay/munge.h"
#include "files/native-format.h"
#include "files/trace.h"

#define AT_ONCE 4096u
#define PIPE_BYTES (1 << 20)

bool
replay_trace_is(int fd)
{
    char start[NATIVE_MAGIC_SIZE];
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
           && pread(fd, start, sizeof start, 0) == (ssize_t)sizeof start
           && memcmp(start, NATIVE_MAGIC, sizeof start) == 0;
}

/* ---- the process that reads ---- */

static void
put(void *context, const struct logalloc_line *line)
{
    fwrite_unlocked(line, 1, sizeof *line, context);
}

/* 0 or -errno. */
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

/* The exit status. */
static int
read_trace(int fd, int pipe)
{
    FILE *out = fdopen(pipe, "w");
    const struct munge_options options = {.put = put, .context = out};
    struct munge *munge = munge_new(&options);
    struct as_log *log = as_log_new();
    struct trace *trace = NULL;
    char path[32];
    int error = -ENOMEM;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (out != NULL)
        setvbuf(out, NULL, _IOFBF, PIPE_BYTES / 16);
    if (out != NULL && munge != NULL && log != NULL)
        error = trace_open(path, NULL, &trace);
    if (error == 0)
        error = munge_trace(trace, munge, log, out);
    if (error == 0) {
        fclose(out);
        return 0;
    }
    say(_("cannot read the trace: %s"), strerror(-error));
    return 1;
}

/* ---- from outside ---- */

int
replay_trace_open(int fd, pid_t *child)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES); /* if it may be */
    *child = fork();
    if (*child == 0) {
        close(ends[0]);
        _exit(read_trace(fd, ends[1]));
    }
    close(ends[1]);
    if (*child > 0)
        return ends[0];
    int error = -errno;
    close(ends[0]);
    return error;
}

bool
replay_trace_wait(pid_t child)
{
    int status;

    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
