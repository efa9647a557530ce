/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cases that are difficult for interposing libraries, one for each word on the command
 * line.  Each prints the same line in every run, or fails.
 */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALTERNATE_STACK 8192

static void
allocate_some(unsigned count)
{
    void *blocks[16];

    while (count-- > 0) {
        for (size_t i = 0; i < 16; i++)
            memset(blocks[i] = malloc(i * 24 + 1), 7, i * 24 + 1);
        for (size_t i = 0; i < 16; i++)
            free(blocks[i]);
    }
}

static void
start(pthread_t *thread, void *(*routine)(void *))
{
    if (pthread_create(thread, NULL, routine, NULL) != 0)
        exit(1);
}

/* ---- main returns while four threads allocate ---- */

static atomic_uint running;

static void *
allocate_forever(void *unused)
{
    (void)unused;
    running++;
    for (;;)
        allocate_some(10);
    return NULL;
}

static void
start_and_see_running(unsigned count)
{
    pthread_t thread;

    for (unsigned i = 0; i < count; i++)
        start(&thread, allocate_forever);
    while (running < count)
        allocate_some(1);
}

static int
main_returns(void)
{
    start_and_see_running(4);
    return 0;
}

/* ---- destructors of keys allocate and set their keys again ---- */

static pthread_key_t key;
static atomic_uint destructions;

static void
destroy(void *value)
{
    unsigned long round = (unsigned long)value;

    allocate_some(10);
    destructions++;
    if (round < 3)
        pthread_setspecific(key, (void *)(round + 1));
}

static void *
set_key(void *unused)
{
    pthread_setspecific(key, (void *)1);
    return unused;
}

static int
destructors(void)
{
    pthread_t threads[8];

    pthread_key_create(&key, destroy);
    for (unsigned round = 0; round < 50; round++) {
        for (unsigned i = 0; i < 8; i++)
            start(&threads[i], set_key);
        for (unsigned i = 0; i < 8; i++)
            pthread_join(threads[i], NULL);
    }
    printf("%u destructions\n", destructions);
    return 0;
}

/* ---- a handler allocates on a small stack of its own ---- */

static volatile sig_atomic_t allocating;
static volatile sig_atomic_t handled;

static void
handle(int signal)
{
    (void)signal;
    if (allocating)
        return; /* glibc's malloc cannot be entered twice */
    allocate_some(1);
    handled = 1;
}

static int
handlers(void)
{
    static char stack[ALTERNATE_STACK];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    const struct itimerval often = {{0, 200}, {0, 200}};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK | SA_RESTART};

    sigfillset(&action.sa_mask);
    sigaltstack(&alternate, NULL);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    raise(SIGUSR1);
    setitimer(ITIMER_REAL, &often, NULL);
    for (unsigned i = 0; i < 20000; i++) {
        allocating = 1;
        allocate_some(1);
        allocating = 0;
        for (volatile unsigned spin = 0; spin < 300; spin++)
            ;
        if (i % 10 == 0)
            raise(SIGUSR1);
    }
    puts(handled ? "handled" : "never handled");
    return 0;
}

/* ---- fork ---- */

static int
fork_often(void)
{
    unsigned good = 0;
    int status;

    for (unsigned i = 0; i < 1000; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            allocate_some(3);
            _exit(7);
        }
        if (waitpid(pid, &status, 0) == pid && WIFEXITED(status)
            && WEXITSTATUS(status) == 7)
            good++;
    }
    printf("%u children\n", good);
    return good == 1000 ? 0 : 1;
}

static int
forks(void)
{
    allocate_some(1000);
    return fork_often();
}

static int
threads_fork(void)
{
    start_and_see_running(8);
    return fork_often();
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } programs[] = {
        {"main-returns", main_returns}, {"destructors", destructors},
        {"handlers", handlers},         {"forks", forks},
        {"threads-fork", threads_fork},
    };

    for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof *programs; i++)
        if (strcmp(argv[1], programs[i].name) == 0)
            return programs[i].run();
    fprintf(stderr, "usage: harm PROGRAM\n");
    return 2;
}
