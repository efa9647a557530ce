/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes that make processes. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "cases.h"

static void *blocks[10];

static void
ten_blocks(void)
{
    for (int i = 0; i < 10; i++)
        blocks[i] = malloc(100);
}

/* What every child does unless its case says otherwise. */
static void
as_child(void)
{
    errno = 4242;
    for (int i = 0; i < 3; i++)
        free(blocks[i]);
    for (int i = 0; i < 5; i++)
        REQUIRE(malloc(50) != NULL);
    REQUIRE(errno == 4242);
}

static void
wait_for(pid_t child)
{
    int status;

    REQUIRE(child > 0);
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
}

static void
simple(void)
{
    pid_t child;

    ten_blocks();
    child = fork();
    if (child == 0) {
        as_child();
        exit(0);
    }
    wait_for(child);
}

static void
grandchild(void)
{
    pid_t child;

    ten_blocks();
    child = fork();
    if (child == 0) {
        as_child();
        simple();
        exit(0);
    }
    wait_for(child);
}

static void *
fork_body(void *argument)
{
    pid_t child = fork();

    if (child == 0) {
        as_child();
        exit(0);
    }
    wait_for(child);
    return argument;
}

static void
in_thread(void)
{
    pthread_t thread;

    ten_blocks();
    pthread_create(&thread, NULL, fork_body, NULL);
    pthread_join(thread, NULL);
}

static void
raw(void)
{
    pid_t child;

    ten_blocks();
    child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        as_child();
        _exit(0);
    }
    wait_for(child);
}

/* The child shares our memory; the library must not take it for a child of fork(). */
static void
vfork_exec(void)
{
    pid_t child;

    ten_blocks();
    child = vfork();
    if (child == 0) {
        free(malloc(5));
        execl("/bin/true", "true", NULL);
        _exit(1);
    }
    wait_for(child);
    free(blocks[0]);
}

/* The child of vfork() gives up privileges for itself alone; then its parent forks. */
static void
vfork_promise(void)
{
    pid_t child;

    ten_blocks();
    child = vfork();
    if (child == 0)
        _exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : 1);
    wait_for(child);
    child = fork();
    if (child == 0) {
        free(malloc(5));
        _exit(0);
    }
    wait_for(child);
    free(blocks[0]);
}

static void
spawn(void)
{
    char *argv[] = {"true", NULL};
    pid_t child;

    ten_blocks();
    REQUIRE(posix_spawn(&child, "/bin/true", NULL, NULL, argv, environ) == 0);
    wait_for(child);
    free(blocks[0]);
}

static void
shell(void)
{
    ten_blocks();
    REQUIRE(system("exit 0") == 0);
    free(blocks[0]);
}

/* "chain N" calls malloc N+1 times and then executes itself as "chain N-1". */
static void
chain(void)
{
    char left[2] = {case_argv[2] != NULL ? case_argv[2][0] : '3', '\0'};

    for (char i = '0'; i <= left[0]; i++)
        REQUIRE(malloc(10) != NULL);
    if (left[0] == '0')
        return;
    left[0]--;
    execl("/proc/self/exe", "forks.run", "chain", left, NULL);
    REQUIRE(0);
}

static atomic_bool stop;

static void *
allocate_until_stop(void *argument)
{
    while (!stop)
        free(malloc(60));
    return argument;
}

/* No child may hang or count below zero. */
static void
storm(void)
{
    pthread_t threads[8];

    ten_blocks();
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, allocate_until_stop, NULL);
    for (int i = 0; i < 300; i++) {
        pid_t child = fork();
        if (child == 0) {
            as_child();
            exit(0);
        }
        wait_for(child);
    }
    stop = true;
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
}

/* For two threads that fork at the same time. */
static void *
fork_often(void *argument)
{
    for (int i = 0; i < 8; i++) {
        pid_t child = fork();
        if (child == 0) {
            free(malloc(10));
            exit(0);
        }
        wait_for(child);
    }
    return argument;
}

static void
two_forkers(void)
{
    pthread_t threads[2];

    ten_blocks();
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, fork_often, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void
many(void)
{
    ten_blocks();
    for (int i = 0; i < 1000; i++) {
        pid_t child = fork();
        if (child == 0) {
            free(malloc(10));
            exit(0);
        }
        wait_for(child);
    }
}

/* The program's own fork handler: it allocates before the fork, and after it in parent
   and child. */
static void
handler(void)
{
    free(malloc(13));
}

static void
with_handlers(void)
{
    ten_blocks();
    pthread_atfork(handler, handler, handler);
    simple();
}

/* A child that lives on after its parent has ended. */
static void
orphan(void)
{
    int gone[2];
    char byte;

    ten_blocks();
    REQUIRE(pipe(gone) == 0);
    if (fork() == 0) {
        close(gone[1]);
        REQUIRE(read(gone[0], &byte, 1) == 0);
        as_child();
        exit(0);
    }
}

/* Executes programs in every way, all without the library because their environment is
   empty.  The last one replaces this program. */
static char *const as_true[] = {"true", NULL}, *const nothing[] = {NULL};

static int
of_one(void)
{
    return execle("/bin/true", "true", (char *)NULL, nothing);
}

static int
of_vector(void)
{
    return execve("/bin/true", as_true, nothing);
}

static int
of_path(void)
{
    return execvpe("true", as_true, nothing);
}

static int
of_file(void)
{
    return fexecve(open("/bin/true", O_RDONLY | O_CLOEXEC), as_true, nothing);
}

static void
executes(void)
{
    static int (*const ways[])(void) = {of_one, of_vector, of_path, of_file};
    pid_t child;

    ten_blocks();
    /* Calls that fail execute nothing, and set errno. */
    errno = 0;
    REQUIRE(execl("/nowhere/none", "none", (char *)NULL) == -1 && errno == ENOENT);
    REQUIRE(execlp("nowhere-none", "none", (char *)NULL) == -1 && errno == ENOENT);
    REQUIRE(execv("/etc/passwd", as_true) == -1 && errno == EACCES);
    REQUIRE(execvp("nowhere-none", as_true) == -1 && errno == ENOENT);
    REQUIRE(posix_spawn(NULL, "/nowhere/none", NULL, NULL, as_true, nothing) == ENOENT);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        child = vfork();
        if (child == 0) {
            if (execl("/nowhere/none", "none", (char *)NULL) == -1)
                ways[i]();
            _exit(1);
        }
        wait_for(child);
    }
    REQUIRE(posix_spawn(&child, "/bin/true", NULL, NULL, as_true, nothing) == 0);
    wait_for(child);
    REQUIRE(posix_spawnp(&child, "true", NULL, NULL, as_true, nothing) == 0);
    wait_for(child);
    tell("last", (unsigned long long)child);
    of_vector();
    REQUIRE(0);
}

/* A failed exec leaves the program as it was. */
static void
executes_in_vain(void)
{
    ten_blocks();
    REQUIRE(execl("/nowhere/none", "none", (char *)NULL) == -1);
    _exit(0);
}

CASES
CASE(executes)
CASE(executes_in_vain) CASE(simple) CASE(grandchild) CASE(in_thread) CASE(raw)
    CASE(vfork_exec) CASE(vfork_promise) CASE(spawn) CASE(shell) CASE(chain) CASE(storm)
        CASE(two_forkers) CASE(many) CASE(with_handlers) CASE(orphan) END_CASES
