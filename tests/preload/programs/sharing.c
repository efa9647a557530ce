/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sharing PHASE THREADS STEPS KEPT: threads that only allocate, for sharing.sh, which
 * reads a trace of what they access.  The steps lie between two stores to the word whose
 * address is printed, with where the library's code is.  KEPT bytes are alone in a block.
 *
 *   pairs    a malloc and a free of 64 bytes
 *   growth   a malloc of 1 to 512 bytes
 */
#include <pthread.h>
#include <stdint.h>

#include "cases.h"

#define WARM_STEPS 700u /* more than a thread's first quantum */

static volatile uint64_t mark;
static pthread_barrier_t line;
static unsigned steps;
static int grows;

static void
take_steps(unsigned count, unsigned *seed)
{
    static __thread void *volatile last;

    for (; count > 0; count--) {
        *seed = *seed * 1103515245 + 12345;
        if (grows)
            last = malloc(1 + (*seed >> 16) % 512);
        else
            free(malloc(64));
    }
}

static void *
worker(void *argument)
{
    unsigned seed = (unsigned)(uintptr_t)argument;

    take_steps(WARM_STEPS, &seed);
    pthread_barrier_wait(&line);
    pthread_barrier_wait(&line);
    take_steps(steps, &seed);
    pthread_barrier_wait(&line);
    pthread_barrier_wait(&line); /* no thread ends before the second mark */
    return NULL;
}

static void
print_places(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char text[512];

    REQUIRE(maps != NULL);
    while (fgets(text, sizeof text, maps) != NULL)
        if (strstr(text, "/libmemtop.so") != NULL && strstr(text, " r-xp ") != NULL)
            fputs(text, stdout);
    fclose(maps);
    printf("%016lx\n", (unsigned long)(uintptr_t)&mark);
    fflush(stdout);
}

int
main(int argc, char **argv)
{
    unsigned count;
    pthread_t thread;

    REQUIRE(argc == 5);
    grows = strcmp(argv[1], "growth") == 0;
    count = (unsigned)atoi(argv[2]);
    steps = (unsigned)atoi(argv[3]);
    print_places();
    REQUIRE(malloc((size_t)atol(argv[4])) != NULL);
    REQUIRE(pthread_barrier_init(&line, NULL, count + 1) == 0);
    for (uintptr_t i = 0; i < count; i++)
        REQUIRE(pthread_create(&thread, NULL, worker, (void *)i) == 0);
    pthread_barrier_wait(&line);
    mark = 1;
    pthread_barrier_wait(&line);
    pthread_barrier_wait(&line);
    mark = 2;
    pthread_barrier_wait(&line);
    return 0;
}
