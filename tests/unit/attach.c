/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attaching from outside to a process in a container: with other pid and mount name
 * spaces, and its segment on a /dev/shm that is mounted only there.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "monitor/system-list.h"
#include "monitor/session.h"
#include "monitor/tracked.h"
#include "base/clock.h"

#define CAP_NS INT64_C(20000000000)

/* unshare(1), and the program that is its child. */
struct container {
    pid_t unshare;
    pid_t program; /* pid outside */
    int in, out;   /* the program's standard input and output */
};

static void
become_container(const char *preparation, const char *what, int in, int out)
{
    char command[3 * PATH_MAX], here[PATH_MAX];

    if (getcwd(here, sizeof here) == NULL)
        _exit(99);
    snprintf(command, sizeof command,
             "%s && MEMTOP_OPTIONS= LD_PRELOAD='%s/libmemtop.so' "
             "exec '%s/tests/preload/programs/harm.run' %s",
             preparation, here, here, what);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    unsetenv("MEMTOP_DIR");
    unsetenv("XDG_RUNTIME_DIR");
    execlp("unshare", "unshare", "-Urpmf", "--mount-proc", "sh", "-c", command, NULL);
    _exit(127);
}

/* The only child of a process; 0 if there is none. */
static pid_t
child_of(pid_t pid)
{
    char path[64];
    long child = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)pid, (long)pid);
    file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%ld", &child) != 1)
            child = 0;
        fclose(file);
    }
    return (pid_t)child;
}

/* Returns false if containers cannot be made here. */
static bool
container_start(const char *preparation, const char *what, struct container *container)
{
    int in[2], out[2];
    char line[5];

    assert_int_equal(0, pipe2(in, O_CLOEXEC));
    assert_int_equal(0, pipe2(out, O_CLOEXEC));
    container->unshare = fork();
    if (container->unshare == 0)
        become_container(preparation, what, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    container->in = in[1];
    container->out = out[0];
    if (read(out[0], line, sizeof line) == sizeof line) {
        assert_memory_equal(line, "held\n", sizeof line);
        container->program = child_of(container->unshare);
        if (container->program > 0)
            return true;
    }
    close(container->in);
    close(container->out);
    waitpid(container->unshare, NULL, 0);
    return false;
}

static void
container_stop(struct container *container)
{
    close(container->in);
    waitpid(container->unshare, NULL, 0);
    close(container->out);
}

/* Polls until the process has ended. */
static void
await_end(struct session *session)
{
    const int64_t cap = clock_ns(CLOCK_MONOTONIC) + CAP_NS;

    while (!session_process(session)->ended) {
        const struct timespec step = {.tv_nsec = 10000000};
        int64_t now = clock_ns(CLOCK_MONOTONIC);

        assert_true(now < cap);
        session_poll(session, now, true);
        nanosleep(&step, NULL);
    }
}

static void
check_attached(const char *preparation)
{
    const struct session_options options = {NULL, false};
    const struct process *process;
    struct container container;
    struct session *session;

    if (!container_start(preparation, "held", &container))
        skip();
    session = session_new(&options);
    assert_non_null(session);
    assert_int_equal(0, session_attach(session, container.program));
    session_poll(session, clock_ns(CLOCK_MONOTONIC), true);
    process = session_process(session);
    assert_int_equal(container.program, process->pid);
    assert_string_equal("", process->why_not);
    assert_true(process->measured);
    assert_int_equal(1, process->identity.pid); /* pid inside */
    assert_in_range(process->now.live_bytes, 1234567, 1300000);
    assert_true(process->os_known && process->os.rss > 0);
    container_stop(&container);
    await_end(session);
    assert_true(process->now.live_bytes >= 1234567); /* the segment stays mapped to the
                                                        end */
    session_free(session);
}

static void
test_private_shm(void **state)
{
    (void)state;
    check_attached("mount -t tmpfs none /dev/shm");
}

static void
test_read_only_root(void **state)
{
    (void)state;
    check_attached(
        "mount -t tmpfs -o size=64m none /dev/shm && mount -o remount,bind,ro /");
}

static const struct process_entry *
find_entry(const struct process_list *process_list, pid_t pid)
{
    for (size_t i = 0; i < process_list_count(process_list); i++)
        if (process_list_at(process_list, i)->pid == pid)
            return process_list_at(process_list, i);
    return NULL;
}

/* Its processes have their pids outside; the same numbers inside belong to others. */
static void
test_family(void **state)
{
    const struct session_options options = {NULL, false};
    const struct process_entry *entry;
    const struct process_list *process_list;
    struct container container;
    struct session *session;
    struct thread thread;
    pid_t child;

    (void)state;
    if (!container_start("mount -t tmpfs none /dev/shm", "held_family", &container))
        skip();
    child = child_of(container.program);
    session = session_new(&options);
    assert_non_null(session);
    assert_int_equal(0, session_attach(session, container.program));
    assert_true(session_keep_processes(session));
    session_want_figures(session, true);
    session_poll(session, clock_ns(CLOCK_MONOTONIC), true);
    process_list = session_processes(session);
    assert_int_equal(2, process_list_count(process_list));
    entry = find_entry(process_list, child);
    assert_non_null(entry);
    assert_true(entry->measured);
    assert_int_equal(container.program, entry->parent);
    assert_in_range(entry->heap, 7654321, 8000000);
    assert_string_equal("harm.run held_family", entry->command);

    /* Threads have different ids inside, too. */
    assert_int_equal(1, session_threads(session, &thread, 1));
    assert_int_equal(1, thread.counters.tid);
    assert_string_equal("harm.run", thread.name);

    assert_int_equal(0, session_show(session, child));
    session_poll(session, clock_ns(CLOCK_MONOTONIC), true);
    assert_true(session_shown(session)->process.measured);
    assert_in_range(session_shown(session)->process.identity.pid, 2, 9); /* pid inside */
    assert_int_equal(1, session_threads(session, &thread, 1));
    assert_string_equal("harm.run", thread.name);
    container_stop(&container);
    await_end(session);
    session_free(session);
}

/* The system-wide list includes processes of containers. */
static void
test_observed(void **state)
{
    const struct process_entry *entry;
    struct container container;
    struct system_list *systemwide;
    pid_t child;

    (void)state;
    if (!container_start("mount -t tmpfs none /dev/shm", "held_family", &container))
        skip();
    child = child_of(container.program);
    systemwide = system_list_new();
    assert_non_null(systemwide);
    system_list_poll(systemwide, clock_ns(CLOCK_MONOTONIC));
    entry = find_entry(system_list_processes(systemwide), container.program);
    assert_non_null(entry);
    assert_true(entry->measured);
    assert_in_range(entry->heap, 1234567, 1300000);
    entry = find_entry(system_list_processes(systemwide), child);
    assert_non_null(entry);
    assert_int_equal(container.program, entry->parent);
    assert_in_range(entry->heap, 7654321, 8000000);
    container_stop(&container);
    system_list_free(systemwide);
}

/* Without a segment there are the figures of /proc, and a reason for no others. */
static void
test_nowhere(void **state)
{
    const struct session_options options = {NULL, false};
    struct container container;
    struct session *session;

    (void)state;
    if (!container_start("mount -t tmpfs -o size=8k none /dev/shm", "held",
                         &container))
        skip();
    session = session_new(&options);
    assert_non_null(session);
    assert_int_equal(0, session_attach(session, container.program));
    session_poll(session, clock_ns(CLOCK_MONOTONIC), true);
    assert_false(session_process(session)->measured);
    assert_string_not_equal("", session_process(session)->why_not);
    assert_true(session_process(session)->os_known);
    container_stop(&container);
    await_end(session);
    session_free(session);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_private_shm),
        cmocka_unit_test(test_read_only_root),
        cmocka_unit_test(test_family),
        cmocka_unit_test(test_observed),
        cmocka_unit_test(test_nowhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
