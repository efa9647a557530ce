/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The socket has an abstract name, so no file is left behind.  The name contains the pid
 * of the recording memtop, which the asking one finds among the ancestors of the
 * process.
 *
 * A child process writes the answer: it has a copy of all counts at that moment, and the
 * recording does not wait for a slow reader.
 */
#include "config.h"

#include "programs/blockask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs/blocklive.h"
#include "programs/output.h"
#include "programs/run.h"
#include "programs/say.h"
#include "programs/status.h"
#include "base/i18n.h"
#include "system/procfs.h"

#define REQUEST_MAX   256
#define ANSWER_SECS   10
#define ANCESTORS_MAX 64

/* A request as text: version, pid, then values of enums. */
#define REQUEST "memtop-report 1 %ld %u %d %d %d %d %d\n"

static socklen_t
address_of(struct sockaddr_un *address, pid_t recorder)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "memtop-report-%ld",
             (long)recorder);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1
                       + strlen(address->sun_path + 1));
}

/* Does the other end belong to the same user, or to root? */
static bool
is_trusted(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0
           && (peer.uid == geteuid() || peer.uid == 0);
}

/* ---- the recording side ---- */

int
blockask_listen(void)
{
    struct sockaddr_un address;
    socklen_t size = address_of(&address, getpid());
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, 4) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Sets options, params and pid as a request says; returns false if it is not valid. */
static bool
understand(const char *text, const struct run *run, struct report_options *options,
           struct blockparams *params, pid_t *pid)
{
    int format, compat, view, sort, all;
    unsigned reports;
    long process;

    if (sscanf(text, REQUEST, &process, &reports, &format, &compat, &view, &sort, &all)
            != 7
        || process < 1 || reports == 0 || reports > BLOCK_FULL || format < 0
        || format > REPORT_CSV || view < 0 || view > REPORT_VIEW_BOTH || sort < 0
        || sort > BLOCK_BY_SIZE)
        return false;
    *params = run->blocks.params;
    params->reports = reports & ~(unsigned)BLOCK_LOG;
    params->sort = (enum block_sort)sort;
    *options = (struct report_options){.reports = params->reports,
                                       .format = (enum report_format)format,
                                       .compat = compat != 0,
                                       .view = (enum report_view)view,
                                       .process = all != 0 ? "all" : NULL};
    *pid = all != 0 ? 0 : (pid_t)process;
    return true;
}

/* Answers a request; runs in the child. */
static void
answer(int fd, const struct run *run)
{
    char text[REQUEST_MAX] = "";
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    struct report_options options;
    struct blockparams params;
    pid_t pid;
    FILE *out;

    alarm(ANSWER_SECS);
    fcntl(fd, F_SETFL, 0);
    if (poll(&ready, 1, ANSWER_SECS * 1000) != 1
        || read(fd, text, sizeof text - 1) <= 0
        || !understand(text, run, &options, &params, &pid))
        return;
    out = fdopen(fd, "w");
    if (out == NULL)
        return;
    if (pid != 0 && record_blocks(run->record, pid, RECORD_BLOCKS_MALLOC) == NULL)
        /* This is the program itself, or a process that is not recorded. */
        pid = 0;
    blocklive_write(run, &options, &params, pid, out);
    fflush(out);
}

void
blockask_serve(struct run *run)
{
    int fd;
    pid_t child;

    if (run->blocks.listener < 0 || run->record == NULL)
        return;
    fd = accept4(run->blocks.listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    child = is_trusted(fd) ? fork() : -1;
    if (child == 0) {
        /* The answering process must not be a child of memtop, which waits for the
           program only.  So it forks twice. */
        if (fork() == 0)
            answer(fd, run);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    close(fd);
}

/* ---- the asking side ---- */

/* Returns a connection to the memtop that records the process, -1 if there is none. */
static int
find_recorder(pid_t pid)
{
    struct procfs_stat stat;

    for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++, pid = stat.parent) {
        struct sockaddr_un address;
        socklen_t size = address_of(&address, pid);
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd >= 0 && connect(fd, (struct sockaddr *)&address, size) == 0
            && is_trusted(fd))
            return fd;
        if (fd >= 0)
            close(fd);
        if (procfs_stat(pid, &stat) != 0)
            return -1;
    }
    return -1;
}

static bool
copy_answer(int fd, FILE *out)
{
    char bytes[4096];
    ssize_t got;
    bool some = false;

    while ((got = read(fd, bytes, sizeof bytes)) > 0
           || (got < 0 && errno == EINTR)) {
        if (got > 0)
            fwrite(bytes, 1, (size_t)got, out);
        some = true;
    }
    return some && got == 0;
}

int
blockask(const struct options *options, pid_t pid)
{
    const struct report_options *report = &options->report;
    struct blockparams params;
    struct output output;
    bool answered;
    int fd, error, status = report_params(report, &params);

    if (status != 0)
        return status;
    if ((params.reports & ~(unsigned)BLOCK_LOG) == 0) {
        say(_("%s can only be used with PROGRAM"), "--report=logfile");
        return status_of(STATUS_USAGE);
    }
    fd = find_recorder(pid);
    if (fd < 0) {
        say(_("no memtop records the calls of process %ld: start it with memtop --report "
              "or --record"),
            (long)pid);
        return status_of(STATUS_FAILED);
    }
    error = output_open(&output, options->output != NULL ? options->output : "-");
    if (error != 0) {
        output_lost(options->output, error);
        close(fd);
        return status_of(STATUS_OUTPUT);
    }
    dprintf(fd, REQUEST, (long)pid, params.reports, (int)report->format, report->compat,
            (int)report->view, (int)params.sort,
            report->process != NULL && strcmp(report->process, "all") == 0);
    output_keep(&output);
    answered = copy_answer(fd, output.file);
    close(fd);
    if (!answered)
        say(_("the memtop that records process %ld does not answer"), (long)pid);
    output_close(&output);
    return answered && !output.failed ? 0 : status_of(STATUS_OUTPUT);
}
