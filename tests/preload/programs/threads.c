/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that allocate: a few busy ones, many, short-lived ones, and some that outlive
   main. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "cases.h"

#define PAIRS 200000
#define WORKERS 8
#define BLOCKS 20000

static pthread_barrier_t barrier;
static atomic_uint turns;

static pthread_t
start(void *(*body)(void *), void *argument)
{
    pthread_attr_t small;
    pthread_t thread;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    REQUIRE(pthread_create(&thread, &small, body, argument) == 0);
    pthread_attr_destroy(&small);
    return thread;
}

static void *
pairs(void *argument)
{
    size_t size = (size_t)(uintptr_t)argument;

    for (int i = 0; i < PAIRS; i++)
        free(malloc(size));
    return NULL;
}

static void
busy(void)
{
    pthread_t threads[4];

    for (uintptr_t i = 0; i < 4; i++)
        threads[i] = start(pairs, (void *)((i + 1) * 10));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void *
ten_blocks(void *argument)
{
    (void)argument;
    for (int i = 0; i < 10; i++)
        REQUIRE(malloc(100) != NULL);
    pthread_barrier_wait(&barrier);
    free(malloc(7));
    return NULL;
}

/* 2000 threads, 1500 of them at the same time. */
static void
crowd(void)
{
    static pthread_t threads[1500];

    for (unsigned round = 0; round < 2; round++) {
        unsigned count = round == 0 ? 500 : 1500;
        pthread_barrier_init(&barrier, NULL, count);
        for (unsigned i = 0; i < count; i++)
            threads[i] = start(ten_blocks, NULL);
        for (unsigned i = 0; i < count; i++)
            pthread_join(threads[i], NULL);
    }
}

static void *
one_pair(void *argument)
{
    free(malloc(50));
    return argument;
}

static void
churn(void)
{
    for (int i = 0; i < 20000; i++)
        pthread_join(start(one_pair, NULL), NULL);
}

static void *
rise_and_fall(void *argument)
{
    void **blocks = malloc(BLOCKS * sizeof *blocks);

    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(100);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    free(blocks);
    return argument;
}

/* Everything is allocated before anything is freed, so the peak is the sum of all. */
static void
peak(void)
{
    pthread_t threads[WORKERS];

    pthread_barrier_init(&barrier, NULL, WORKERS);
    for (int i = 0; i < WORKERS; i++)
        threads[i] = start(rise_and_fall, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
}

static void *
for_ever(void *argument)
{
    for (;; turns++)
        free(malloc(60));
    return argument;
}

static void
main_returns(void)
{
    for (int i = 0; i < 4; i++)
        start(for_ever, NULL);
    while (turns < 1000)
        ;
}

static void *
after_main(void *argument)
{
    pthread_t main_thread = *(pthread_t *)argument;

    REQUIRE(pthread_join(main_thread, NULL) == 0);
    for (int i = 0; i < 1000; i++)
        free(malloc(9));
    exit(0);
}

static void
main_leaves(void)
{
    static pthread_t self;

    self = pthread_self();
    REQUIRE(malloc(60000) != NULL);
    start(after_main, &self);
    pthread_exit(NULL);
}

CASES
    CASE(busy) CASE(crowd) CASE(churn) CASE(peak) CASE(main_returns) CASE(main_leaves)
END_CASES
