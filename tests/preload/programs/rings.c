/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs whose events are known. */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>

#include "cases.h"

#define SLOTS 256
#define EXCHANGES 50000
#define MANY 2000

static void *volatile kept[MANY];

static void
sequence(void)
{
    volatile size_t huge = SIZE_MAX / 2;
    void *a = malloc(10), *b = calloc(2, 30), *c, *d;

    a = realloc(a, 20);
    a = realloc(a, 5);
    c = realloc(NULL, 7);
    REQUIRE(realloc(c, 0) == NULL);
    REQUIRE(realloc(b, huge) == NULL);
    free(b);
    REQUIRE(posix_memalign(&d, 64, 100) == 0);
    free(d);
    REQUIRE(malloc(huge) == NULL);
    free(NULL);
    d = aligned_alloc(64, 128);
    free(reallocarray(d, 3, 50));
    kept[0] = a;
}

/* Most blocks are freed by another thread than the one that allocated them. */
static _Atomic(void *) slots[SLOTS];

static void *
exchange(void *argument)
{
    uint32_t seed = (uint32_t)(uintptr_t)argument;

    for (int i = 0; i < EXCHANGES; i++) {
        void *block;
        seed = seed * 1664525 + 1013904223;
        block = malloc(seed >> 24);
        if (seed & 0x100)
            block = realloc(block, (seed >> 23) + 1);
        free(atomic_exchange(&slots[(seed >> 12) % SLOTS], block));
    }
    return NULL;
}

static void
exchanges(void)
{
    pthread_t threads[4];

    for (uintptr_t i = 0; i < 4; i++)
        REQUIRE(pthread_create(&threads[i], NULL, exchange, (void *)(i + 1)) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* Number of times that the process has slept, however long. */
static unsigned long long
sleeps(void)
{
    struct rusage usage;

    REQUIRE(getrusage(RUSAGE_SELF, &usage) == 0);
    return (unsigned long long)usage.ru_nvcsw;
}

static void
many(void)
{
    unsigned long long before = sleeps();

    for (int i = 0; i < MANY; i++)
        kept[i] = malloc(8);
    tell("sleeps", sleeps() - before);
}

static void
killed(void)
{
    for (int i = 0; i < 100; i++)
        kept[i] = malloc((size_t)i);
    kill(getpid(), SIGKILL);
}

CASES
    CASE(sequence) CASE(exchanges) CASE(many) CASE(killed)
END_CASES
