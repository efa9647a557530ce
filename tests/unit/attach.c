/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attaching from outside to a process in a container: another pid and mount name
 * space, its segment on a /dev/shm that nobody else has mounted.
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

#include "monitor/session.h"
#include "segment/clock.h"

#define CAP_NS INT64_C(20000000000)

/* unshare(1), and the program below it. */
struct container {
    pid_t unshare;
    pid_t program; /* as we see it */
    int in, out;   /* the program's standard input and output */
};

static void
become_container(const char *preparation, int in, int out)
{
    char command[3 * PATH_MAX], here[PATH_MAX];

    if (getcwd(here, sizeof here) == NULL)
        _exit(99);
    snprintf(command, sizeof command,
             "%s && MEMTOP_OPTIONS= LD_PRELOAD='%s/libmemtop.so' "
             "exec '%s/tests/preload/programs/harm.run' held",
             preparation, here, here);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    unsetenv("MEMTOP_DIR");
    unsetenv("XDG_RUNTIME_DIR");
    execlp("unshare", "unshare", "-Urpmf", "--mount-proc", "sh", "-c", command, NULL);
    _exit(127);
}

/* The only child of unshare: 0 if there is none. */
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

/* False where it cannot be made. */
static bool
container_start(const char *preparation, struct container *container)
{
    int in[2], out[2];
    char line[5];

    assert_int_equal(0, pipe2(in, O_CLOEXEC));
    assert_int_equal(0, pipe2(out, O_CLOEXEC));
    container->unshare = fork();
    if (container->unshare == 0)
        become_container(preparation, in[0], out[1]);
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

    if (!container_start(preparation, &container))
        skip();
    session = session_new(&options);
    assert_non_null(session);
    assert_int_equal(0, session_attach(session, container.program));
    session_poll(session, clock_ns(CLOCK_MONOTONIC), true);
    process = session_process(session);
    assert_int_equal(container.program, process->pid);
    assert_string_equal("", process->why_not);
    assert_true(process->measured);
    assert_int_equal(1, process->identity.pid); /* inside */
    assert_in_range(process->now.live_bytes, 1234567, 1300000);
    assert_true(process->os_known && process->os.rss > 0);
    container_stop(&container);
    await_end(session);
    assert_true(process->now.live_bytes >= 1234567); /* mapped to the end */
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
    check_attached("mount -t tmpfs -o size=64m none /dev/shm && mount -o remount,bind,ro /");
}

/* It has no segment: what /proc tells is there, and why there is not more. */
static void
test_nowhere(void **state)
{
    const struct session_options options = {NULL, false};
    struct container container;
    struct session *session;

    (void)state;
    if (!container_start("mount -t tmpfs -o size=64k none /dev/shm", &container))
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
        cmocka_unit_test(test_nowhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
