/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A demonstration: a program that does what programs typically do with memory, one thing
 * after the other.  It says what it is doing, so that you can compare its output with the
 * picture.
 *
 *   tour [SECONDS]      each part takes SECONDS (default 6)
 */
#include "config.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEPS 200
#define BLOCKS 20000

static double part_seconds = 6;

static void
pause_step(void)
{
    int64_t ns = (int64_t)(part_seconds / STEPS * 1e9);
    const struct timespec step = {ns / 1000000000, ns % 1000000000};

    nanosleep(&step, NULL);
}

static void
announce(const char *text)
{
    printf("%s\n", text);
    fflush(stdout);
}

/* A list that grows and is freed at once: a ramp and a cliff. */
static void
grow_list(void)
{
    static void *blocks[BLOCKS];

    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(16 + (size_t)i % 480);
        if (i % (BLOCKS / STEPS) == 0)
            pause_step();
    }
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
}

/* One buffer that doubles: a staircase, and reallocs that move or stay in place. */
static void
grow_buffer(void)
{
    char *buffer = NULL;
    size_t size = 1024;

    for (int step = 0; step < STEPS; step++) {
        if (step % 15 == 0) {
            char *larger = realloc(buffer, size *= 2);
            if (larger == NULL)
                break;
            buffer = memset(larger, step, size);
        }
        pause_step();
    }
    free(buffer);
}

static void *
churn(void *seed)
{
    unsigned state = (unsigned)(uintptr_t)seed;
    void *blocks[256] = {NULL};

    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < 1000; i++) {
            state = state * 1103515245 + 12345;
            void **block = &blocks[state >> 24];
            free(*block);
            *block = (state & 7) == 0 ? calloc(1, 4096) : malloc(state >> 16 & 2047);
        }
        pause_step();
    }
    for (int i = 0; i < 256; i++)
        free(blocks[i]);
    return NULL;
}

/* Four threads, many calls, no growth: a flat line and high rates. */
static void
run_threads(void)
{
    pthread_t threads[4];

    for (uintptr_t i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, churn, (void *)(i + 1)) != 0)
            exit(1);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* A deep recursion that allocates: the graph of the stack. */
static size_t
descend(int depth)
{
    volatile char frame[16384];
    char *block = malloc(100);

    frame[0] = block != NULL;
    pause_step();
    size_t sum = (size_t)frame[0] + (depth > 0 ? descend(depth - 1) : 0);
    free(block);
    return sum;
}

/* One block in a hundred is forgotten, and a request fails. */
static void
leak(void)
{
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < 100; i++) {
            char *block = malloc(2000);
            if (block != NULL)
                block[0] = 1;
            if (i != 0)
                free(block);
        }
        pause_step();
    }
    void *volatile refused = malloc(SIZE_MAX / 2 - (size_t)time(NULL));
    free(refused);
}

int
main(int argc, char **argv)
{
    if (argc > 1)
        part_seconds = atof(argv[1]);

    announce("A list grows block by block and is freed at once.");
    grow_list();
    announce("A buffer doubles now and then.");
    grow_buffer();
    announce("Four threads allocate and free.");
    run_threads();
    announce("A recursion goes deep.");
    descend(STEPS);
    announce("One block in a hundred is never freed.");
    leak();
    announce("The end.");
    return 0;
}
