/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Figures are written beside the file, under a name that no collector reads, and then
 * renamed.  Everybody may read the file, because collectors run as another user.
 */
#include "config.h"

#include "programs/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/procfs.h"
#include "report/metrics.h"
#include "programs/output.h"
#include "programs/status.h"
#include "monitor/system-list.h"
#include "system/signals.h"
#include "base/clock.h"

#define NAME_LENGTH 64

/* Creates the file to be renamed.  Returns its descriptor or -errno. */
static int
open_beside(const char *file, char beside[PATH_MAX])
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int descriptor;

    if (snprintf(beside, PATH_MAX, "%s.%ld", file, (long)getpid()) >= PATH_MAX)
        return -ENAMETOOLONG;
    descriptor = open(beside, flags, 0644);
    if (descriptor < 0 && errno == EEXIST) { /* left by a killed memtop with the same
                                                pid */
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

    /* Replacing a directory or device is refused; nobody would want that. */
    if (stat(file, &st) == 0 && !S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
    descriptor = open_beside(file, beside);
    if (descriptor < 0)
        return descriptor;
    close(descriptor);
    unlink(beside);
    return 0;
}

/* The name of a program: the file name in its first argument. */
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

/* All living processes, and the root if there is one. */
struct figures {
    struct metrics_process *processes;
    char (*names)[NAME_LENGTH];
    size_t count;
};

/* Other arguments are left out, because they may contain passwords. */
static void
copy_first_word(char name[NAME_LENGTH], const char *command)
{
    copy_name(name, command, strcspn(command, " "));
}

static void
add_root(struct figures *figures, const struct session *session, const char *program)
{
    const struct process *process = session_process(session);
    const struct identity *identity = &process->identity;
    char *name = figures->names[figures->count];

    if (process->measured && identity->args_size > 0)
        program = identity->args;
    if (program != NULL)
        copy_name(name, program, strlen(program));
    else
        copy_first_word(name, session_command(session));
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
        .children_known = process_knows(process, PART_COUNTERS),
        .children_seen = process->children_seen,
    };
}

/* The process list may be a second old: ended processes are left out. */
static void
add_entry(struct figures *figures, const struct process_entry *entry)
{
    char *name = figures->names[figures->count];
    struct procfs_memory memory;

    if (entry->ended || procfs_memory(entry->pid, &memory) != 0 || memory.state == 'Z')
        return;
    copy_first_word(name, entry->command);
    figures->processes[figures->count++] = (struct metrics_process){
        .pid = entry->pid,
        .program = name,
        .running = true,
        .measured = entry->measured,
        .run_ns = entry->run_ns,
        .rss = memory.rss,
        .rss_anon = memory.rss_anon,
        .heap = entry->heap,
        .heap_peak = entry->heap_peak,
        .counters = entry->measured ? &entry->counters : NULL,
    };
}

/* Allocates elements for a root and for the processes of the list, which may be NULL.
   Returns false if memory is short. */
static bool
make_figures(struct figures *figures, const struct process_list *process_list)
{
    size_t most = (process_list != NULL ? process_list_count(process_list) : 0) + 1;

    figures->count = 0;
    figures->processes = calloc(most, sizeof *figures->processes);
    figures->names = calloc(most, sizeof *figures->names);
    if (figures->processes != NULL && figures->names != NULL)
        return true;
    free(figures->processes);
    free(figures->names);
    return false;
}

static void
add_process_list(struct figures *figures, const struct process_list *process_list,
                 pid_t root)
{
    for (size_t i = 0; process_list != NULL && i < process_list_count(process_list); i++)
        if (process_list_at(process_list, i)->pid != root)
            add_entry(figures, process_list_at(process_list, i));
}

/* Writes the figures and closes the descriptor.  Returns 0 or -errno. */
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

/* Replaces the file by the figures and frees them.  Returns 0 or -errno. */
static int
replace(const char *file, struct figures *figures)
{
    char beside[PATH_MAX];
    int descriptor = open_beside(file, beside);
    int error = descriptor < 0 ? descriptor : write_figures(descriptor, figures);

    if (error == 0 && rename(beside, file) != 0)
        error = -errno;
    if (error != 0 && descriptor >= 0)
        unlink(beside);
    free(figures->processes);
    free(figures->names);
    return error;
}

int
metrics_write(const char *file, const struct session *session, const char *program)
{
    const struct process_list *process_list = session_processes(session);
    struct figures figures;

    if (!make_figures(&figures, process_list))
        return -ENOMEM;
    add_root(&figures, session, program);
    add_process_list(&figures, process_list, session_process(session)->pid);
    return replace(file, &figures);
}

int
metrics_write_all(const char *file, const struct process_list *process_list)
{
    struct figures figures;

    if (!make_figures(&figures, process_list))
        return -ENOMEM;
    add_process_list(&figures, process_list, 0);
    return replace(file, &figures);
}

/* ---- all processes, as a service ---- */

/*
 * memtop -B --metrics FILE without PROGRAM: a service that writes figures of all
 * processes with the library, without touching them.  It goes on if there are none at
 * the moment.
 */

/* Sleeps until due_ns; returns false if a signal asks memtop to end. */
static bool
wait_until(int64_t due_ns)
{
    struct pollfd signals = {.fd = signals_fd(), .events = POLLIN};

    for (int64_t left_ns; (left_ns = due_ns - clock_ns(CLOCK_MONOTONIC)) > 0;) {
        const struct timespec left = {left_ns / 1000000000, left_ns % 1000000000};
        struct signal_event event;

        if (ppoll(&signals, 1, &left, NULL) <= 0)
            continue;
        while (signals_next(false, clock_ns(CLOCK_MONOTONIC), &event))
            if (event.action == SIGNAL_FORWARD || event.action == SIGNAL_QUIT
                || event.action == SIGNAL_DETACH)
                return false;
    }
    return true;
}

/* Reports only the first failure in a row; the next attempt may succeed. */
static void
write_file(const char *file, const struct process_list *process_list, bool *failed)
{
    int error = metrics_write_all(file, process_list);

    if (error != 0 && !*failed)
        output_say(file, error);
    *failed = error != 0;
}

int
fleet_run(const struct options *options)
{
    struct system_list *systemwide = system_list_new();
    int64_t due_ns = clock_ns(CLOCK_MONOTONIC);
    int error = metrics_check(options->metrics);
    bool failed = false;

    if (systemwide == NULL || error != 0) {
        output_lost(options->metrics, error != 0 ? error : -ENOMEM);
        system_list_free(systemwide);
        return status_of(STATUS_OUTPUT);
    }
    signals_open();
    for (unsigned long taken = 0; options->iterations == 0 || taken < options->iterations;
         taken++) {
        if (!wait_until(due_ns))
            break;
        due_ns += options->interval_ns;
        system_list_poll(systemwide, clock_ns(CLOCK_MONOTONIC));
        write_file(options->metrics, system_list_processes(systemwide), &failed);
    }
    system_list_free(systemwide);
    return failed ? status_of(STATUS_OUTPUT) : 0;
}
