/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Written beside the file, under a name that no collector takes for its own, and then
 * renamed.  Readable for all: the collector is another user.
 */
#include "config.h"

#include "app/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/roster.h"
#include "report/metrics.h"

#define NAME_LENGTH 64

/* Opens what will be renamed; -errno. */
static int
open_beside(const char *file, char beside[PATH_MAX])
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int descriptor;

    if (snprintf(beside, PATH_MAX, "%s.%ld", file, (long)getpid()) >= PATH_MAX)
        return -ENAMETOOLONG;
    descriptor = open(beside, flags, 0644);
    if (descriptor < 0 && errno == EEXIST) { /* left by one that was killed */
        unlink(beside);
        descriptor = open(beside, flags, 0644);
    }
    return descriptor >= 0 ? descriptor : -errno;
}

int
metrics_check(const char *file)
{
    char beside[PATH_MAX];
    struct stat st;
    int descriptor;

    /* A directory or device would be replaced, or not: nobody means that. */
    if (stat(file, &st) == 0 && !S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
    descriptor = open_beside(file, beside);
    if (descriptor < 0)
        return descriptor;
    close(descriptor);
    unlink(beside);
    return 0;
}

/* What a program is called: the file name in the first of its arguments. */
static void
copy_name(char name[NAME_LENGTH], const char *command, size_t length)
{
    const char *slash = memrchr(command, '/', length);

    if (slash != NULL) {
        length -= (size_t)(slash + 1 - command);
        command = slash + 1;
    }
    snprintf(name, NAME_LENGTH, "%.*s", (int)length, command);
}

/* All processes that live, and the root. */
struct figures {
    struct metrics_process *processes;
    char (*names)[NAME_LENGTH];
    size_t count;
};

static void
add_root(struct figures *figures, const struct process *process, const char *program)
{
    const struct identity *identity = &process->identity;
    const char *command = process->measured && identity->args_size > 0 ? identity->args
                                                                      : program;
    char *name = figures->names[figures->count];

    copy_name(name, command, strlen(command));
    figures->processes[figures->count++] = (struct metrics_process){
        .pid = process->pid,
        .program = name,
        .running = !process->ended,
        .measured = process->measured,
        .run_ns = process->run_ns,
        .rss = process->os_known ? process->os.rss : 0,
        .rss_anon = process->os_known ? process->os.rss_anon : 0,
        .heap = process->now.live_bytes,
        .heap_peak = process->heap_peak,
        .counters = process_knows(process, PART_COUNTERS) ? &process->now : NULL,
        .children_seen = process->children_seen,
    };
}

static void
add_entry(struct figures *figures, const struct roster_entry *entry)
{
    char *name = figures->names[figures->count];

    copy_name(name, entry->command, strcspn(entry->command, " "));
    figures->processes[figures->count++] = (struct metrics_process){
        .pid = entry->pid,
        .program = name,
        .running = true,
        .measured = entry->measured,
        .run_ns = entry->run_ns,
        .rss = entry->rss,
        .heap = entry->heap,
        .heap_peak = entry->heap_peak,
    };
}

/* The roster may be a second late. */
static bool
lives(const struct roster_entry *entry)
{
    return !entry->ended && (kill(entry->pid, 0) == 0 || errno != ESRCH);
}

/* False if memory is short. */
static bool
gather(struct figures *figures, const struct session *session, const char *program)
{
    const struct process *root = session_process(session);
    const struct roster *roster = session_roster(session);
    size_t most = (roster != NULL ? roster_count(roster) : 0) + 1;

    figures->processes = calloc(most, sizeof *figures->processes);
    figures->names = calloc(most, sizeof *figures->names);
    if (figures->processes == NULL || figures->names == NULL)
        return false;
    add_root(figures, root, program);
    for (size_t i = 0; i + 1 < most; i++) {
        const struct roster_entry *entry = roster_at(roster, i);
        if (entry->pid != root->pid && lives(entry))
            add_entry(figures, entry);
    }
    return true;
}

/* Writes and closes; 0 or -errno. */
static int
write_figures(int descriptor, const struct figures *figures)
{
    FILE *out = fdopen(descriptor, "w");
    int error = 0;

    if (out == NULL) {
        error = -errno;
        close(descriptor);
        return error;
    }
    errno = EIO;
    if (!report_metrics(out, figures->processes, figures->count))
        error = -errno;
    if (fclose(out) != 0 && error == 0)
        error = -errno;
    return error;
}

int
metrics_write(const char *file, const struct session *session, const char *program)
{
    struct figures figures = {NULL, NULL, 0};
    char beside[PATH_MAX];
    int error = -ENOMEM;

    if (gather(&figures, session, program)) {
        int descriptor = open_beside(file, beside);
        error = descriptor < 0 ? descriptor : write_figures(descriptor, &figures);
        if (error == 0 && rename(beside, file) != 0)
            error = -errno;
        if (error != 0 && descriptor >= 0)
            unlink(beside);
    }
    free(figures.processes);
    free(figures.names);
    return error;
}
