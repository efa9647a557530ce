/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that need more of the segment than is mapped at the start, in various ways;
   and the memory that the library adds to a process. */
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "cases.h"

#define HELD 40

static pthread_barrier_t all_there, may_end;
static atomic_uint handled, called;

static pthread_t
start(void *(*body)(void *))
{
    pthread_attr_t small;
    pthread_t thread;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    REQUIRE(pthread_create(&thread, &small, body, NULL) == 0);
    pthread_attr_destroy(&small);
    return thread;
}

static void
pairs(int count)
{
    for (int i = 0; i < count; i++)
        free(malloc(50));
}

static void *
call_and_stay(void *argument)
{
    void *block;

    pthread_barrier_wait(&all_there);
    pairs(100);
    block = malloc(100);
    called++;
    pthread_barrier_wait(&may_end);
    free(block);
    return argument;
}

/* Starts threads that all make their first call at the same time and then wait. */
static void
start_together(pthread_t *threads, unsigned count)
{
    pthread_barrier_init(&all_there, NULL, count);
    pthread_barrier_init(&may_end, NULL, count + 1);
    for (unsigned i = 0; i < count; i++)
        threads[i] = start(call_and_stay);
}

static void
end_together(pthread_t *threads, unsigned count)
{
    pthread_barrier_wait(&may_end);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void
together(unsigned count)
{
    pthread_t threads[HELD];

    start_together(threads, count);
    end_together(threads, count);
}

static unsigned
segment_mappings(void)
{
    static char text[1 << 18];
    int fd = open("/proc/self/maps", O_RDONLY);
    size_t used = 0;
    ssize_t got;
    unsigned count = 0;

    while ((got = read(fd, text + used, sizeof text - 1 - used)) > 0)
        used += (size_t)got;
    close(fd);
    text[used] = '\0';
    for (char *at = text; (at = strstr(at, "/memtop-")) != NULL; at++)
        count++;
    return count;
}

/* The threads call one after the other, so that no window is mapped twice. */
static void
start_in_turn(pthread_t *threads, unsigned count)
{
    pthread_barrier_init(&all_there, NULL, 1);
    pthread_barrier_init(&may_end, NULL, count + 1);
    for (unsigned i = 0; i < count; i++) {
        threads[i] = start(call_and_stay);
        while (called < i + 1)
            sched_yield();
    }
}

/* Uses a new process, because a process maps each window only once.  Stores the number
   of mappings of the segment in *mappings, or compares it if that is not 0. */
static void
child_at_once(unsigned *mappings)
{
    pthread_t threads[HELD];

    if (*mappings == 0)
        start_in_turn(threads, 24);
    else
        start_together(threads, 24);
    while (called < 24)
        sched_yield();
    if (*mappings == 0)
        *mappings = segment_mappings();
    REQUIRE(segment_mappings() == *mappings);
    end_together(threads, 24);
    exit(0);
}

static void
at_once(void)
{
    unsigned *mappings = mmap(NULL, sizeof *mappings, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    for (int i = 0; i < 25; i++) {
        int status;
        pid_t child = fork();

        if (child == 0)
            child_at_once(mappings);
        REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    }
    tell("mappings", *mappings);
}

static void
handle(int number)
{
    (void)number;
    free(malloc(70));
    handled++;
}

static void *
wait_for_signal(void *argument)
{
    sigset_t none;

    pthread_barrier_wait(&all_there);
    sigemptyset(&none);
    sigsuspend(&none);
    pthread_barrier_wait(&may_end);
    return argument;
}

/* The first call of each thread is in a signal handler. */
static void
in_handlers(void)
{
    struct sigaction action = {.sa_handler = handle};
    pthread_t threads[HELD];
    sigset_t blocked;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    sigaction(SIGUSR1, &action, NULL);
    pthread_barrier_init(&all_there, NULL, HELD + 1);
    pthread_barrier_init(&may_end, NULL, HELD + 1);
    for (int i = 0; i < HELD; i++)
        threads[i] = start(wait_for_signal);
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < HELD; i++)
        REQUIRE(pthread_kill(threads[i], SIGUSR1) == 0);
    end_together(threads, HELD);
    REQUIRE(handled == HELD);
}

/* A child of a process with many windows does not inherit any. */
static void
forked(void)
{
    pthread_t threads[HELD];
    int status;
    pid_t child;

    start_together(threads, HELD);
    pairs(1);
    child = fork();
    if (child == 0) {
        unsigned before = segment_mappings();
        together(HELD);
        REQUIRE(segment_mappings() >= before);
        tell("mappings", before);
        exit(0);
    }
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    end_together(threads, HELD);
}

static void
held(void)
{
    together(HELD);
}

/* Some threads run before prctl(), more after it. */
static void
shut_in(void)
{
    together(5);
    REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    together(HELD);
}

/* ---- limits ---- */

static void
become_ordinary(void)
{
    struct rlimit most = {8 << 20, 8 << 20};

    REQUIRE(setrlimit(RLIMIT_MEMLOCK, &most) == 0);
    if (geteuid() == 0)
        REQUIRE(setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0);
}

static void
locked(void)
{
    become_ordinary();
    REQUIRE(mlockall(MCL_CURRENT | MCL_FUTURE) == 0);
    pairs(1000);
    together(12);
}

/* Prints VmPeak, in bytes. */
static void
addresses(void)
{
    char text[8192], *line;
    int fd;

    pairs(1000);
    fd = open("/proc/self/status", O_RDONLY);
    REQUIRE(fd >= 0);
    text[read(fd, text, sizeof text - 1)] = '\0';
    close(fd);
    line = strstr(text, "VmPeak:");
    REQUIRE(line != NULL);
    tell("addresses", strtoull(line + 7, NULL, 10) << 10);
}

CASES
    CASE(at_once) CASE(in_handlers) CASE(forked) CASE(held) CASE(shut_in)
    CASE(locked) CASE(addresses)
END_CASES
