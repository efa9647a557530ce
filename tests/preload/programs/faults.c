/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs that run out of memory, descriptors and the like, and programs that print
   what a library may have changed in their process. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "cases.h"

#define BLOCK ((size_t)1 << 20)

static void
pairs(int count)
{
    for (int i = 0; i < count; i++)
        free(malloc((size_t)i));
}

static void *
body(void *argument)
{
    pairs(1000);
    return argument;
}

static void
in_thread(void)
{
    pthread_t thread;

    REQUIRE(pthread_create(&thread, NULL, body, NULL) == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
}

static void
in_child(void)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        pairs(1000);
        exit(0);
    }
    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
}

static void
limit(int resource, rlim_t value)
{
    struct rlimit both = {value, value};

    REQUIRE(setrlimit(resource, &both) == 0);
}

/* ---- running out ---- */

/* Allocates until there is no more memory, checks the errors, and frees everything. */
static void
exhaust(void)
{
    static void *blocks[4096];
    unsigned count = 0;

    errno = 0;
    while (count < 4096 && (blocks[count] = malloc(BLOCK)) != NULL)
        count++;
    REQUIRE(count > 10 && count < 4096 && errno == ENOMEM);
    REQUIRE(calloc(4, BLOCK) == NULL && errno == ENOMEM);
    REQUIRE(realloc(blocks[0], 4 * BLOCK) == NULL && errno == ENOMEM);
    while (count > 0)
        free(blocks[--count]);
}

static void
addresses(void)
{
    limit(RLIMIT_AS, (rlim_t)200 << 20);
    exhaust();
    in_thread();
    in_child();
}

static void
data(void)
{
    limit(RLIMIT_DATA, (rlim_t)64 << 20);
    exhaust();
    in_thread();
    in_child();
}

static void
descriptors(void)
{
    limit(RLIMIT_NOFILE, 3);
    pairs(1000);
    in_thread();
    in_child();
    REQUIRE(open("/dev/null", O_RDONLY) == -1 && errno == EMFILE);
}

static void
file_size(void)
{
    limit(RLIMIT_FSIZE, 0);
    pairs(1000);
    in_thread();
    in_child();
}

/* Takes all the memory there is, until it is killed. */
static void
devour(void)
{
    REQUIRE(write(1, "begun\n", 6) == 6);
    for (;;) {
        char *block = malloc(BLOCK);
        if (block != NULL)
            memset(block, 1, BLOCK);
    }
}

static void
locked(void)
{
    tell("locked", mlockall(MCL_CURRENT | MCL_FUTURE) == 0);
    pairs(1000);
    in_thread();
    in_child();
}

/* ---- what the library must not change ---- */

static void
dump(const char *path)
{
    char text[8192], *line;
    int fd = open(path, O_RDONLY);
    ssize_t size = read(fd, text, sizeof text - 1);

    REQUIRE(size > 0);
    text[size] = '\0';
    close(fd);
    for (line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        if ((strncmp(line, "Sig", 3) == 0 && line[3] != 'Q')
            || strncmp(line, "Shd", 3) == 0 || strncmp(line, "Threads", 7) == 0
            || strncmp(line, "Cap", 3) == 0 || strncmp(line, "NoNewPrivs", 10) == 0
            || strncmp(line, "Seccomp", 7) == 0 || strncmp(line, "Umask", 5) == 0)
            puts(line);
}

static void
untouched(void)
{
    struct itimerval timer;

    errno = 0;
    pairs(1000);
    REQUIRE(errno == 0);
    dump("/proc/self/status");
    for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
        getitimer(which, &timer);
        printf("timer %d %ld %ld\n", which, (long)timer.it_value.tv_sec,
               (long)timer.it_value.tv_usec);
    }
    printf("dumpable %d\n", prctl(PR_GET_DUMPABLE));
    printf("name spaces %d\n", unshare(CLONE_NEWUSER) == 0 ? 0 : errno);
}

/* ---- threads ---- */

static void *
first_calls(void *argument)
{
    void *block = realloc(malloc(10), 5000);

    free(calloc(3, 100));
    free(block);
    return argument;
}

/* The first call of a thread takes the library's longest path; it must fit on the
   smallest stack. */
static void
small_stacks(void)
{
    pthread_attr_t small;
    pthread_t thread;

    pthread_attr_init(&small);
    REQUIRE(pthread_attr_setstacksize(&small, (size_t)PTHREAD_STACK_MIN) == 0);
    for (int i = 0; i < 100; i++) {
        REQUIRE(pthread_create(&thread, &small, first_calls, NULL) == 0);
        pthread_join(thread, NULL);
    }
}

static void *
until_cancelled(void *argument)
{
    for (;;) {
        free(malloc(100));
        pthread_testcancel();
    }
    return argument;
}

static void
cancelled(void)
{
    pthread_t threads[4];
    void *result;

    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 4; i++)
            REQUIRE(pthread_create(&threads[i], NULL, until_cancelled, NULL) == 0);
        for (int i = 0; i < 4; i++)
            pthread_cancel(threads[i]);
        for (int i = 0; i < 4; i++)
            REQUIRE(pthread_join(threads[i], &result) == 0 && result == PTHREAD_CANCELED);
    }
}

/* ---- the library as a plugin ---- */

static void
plugged(void)
{
    void *before = malloc(100);

    for (int i = 0; i < 3; i++) {
        void *library = dlopen(case_argv[2], RTLD_NOW | (i == 1 ? RTLD_GLOBAL : 0));
        REQUIRE(library != NULL);
        in_thread();
        in_child();
        REQUIRE(dlclose(library) == 0);
        in_thread();
        in_child();
    }
    free(before);
}

/* ---- threads and children, until it is killed ---- */

static void *
restless(void *argument)
{
    void *kept[8] = {NULL};

    for (unsigned i = 0;; i++) {
        void **slot = &kept[i % 8];
        *slot = i % 3 == 0 ? realloc(*slot, i % 5000 + 1)
                           : (free(*slot), malloc(i % 700));
    }
    return argument;
}

static void
until_killed(void)
{
    pthread_t thread;

    for (int i = 0; i < 3; i++)
        REQUIRE(pthread_create(&thread, NULL, restless, NULL) == 0);
    REQUIRE(write(1, "running\n", 8) == 8);
    for (;;) {
        pid_t child = fork();
        if (child == 0) {
            pairs(10);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        pairs(100);
    }
}

CASES
    CASE(addresses) CASE(data) CASE(descriptors) CASE(file_size) CASE(devour)
    CASE(locked) CASE(untouched) CASE(small_stacks) CASE(cancelled) CASE(plugged)
    CASE(until_killed)
END_CASES
