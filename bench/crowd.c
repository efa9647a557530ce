/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Large programs whose sums are known.
 *
 *   crowd threads COUNT     COUNT threads, each with a block of 100 bytes; every
 *                           10 ms one of them allocates and frees another
 *   crowd lives COUNT       COUNT short-lived threads, some at a time, each of which
 *                           allocates 3 blocks and frees 2
 *   crowd processes COUNT   COUNT children, each with a block of 100 bytes
 *   crowd blocks COUNT      COUNT live blocks of 16 to 79 bytes
 *   crowd calls COUNT       COUNT calls, of all kinds that a log has
 *
 * Prints "ready" when all are there, and ends when its input ends.  After "calls" it
 * prints the peaks: "BYTES BLOCKS".
 */
#include "config.h"

#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_A_TIME 16

static unsigned long count;
static pthread_barrier_t there;

static void *volatile sink;

static void
ready(void)
{
    if (write(1, "ready\n", 6) < 0)
        exit(1);
}

/* Waits up to ms milliseconds; returns true when the input has ended. */
static bool
input_ends(int ms)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    char byte;

    return poll(&input, 1, ms) > 0 && read(0, &byte, 1) <= 0;
}

static void
until_input_ends(void)
{
    while (!input_ends(-1))
        ;
}

/* Memory that does not come from malloc. */
static void *
table(size_t size)
{
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0);

    if (mapped == MAP_FAILED)
        exit(1);
    return mapped;
}

static pthread_t
start(void *(*body)(void *), void *argument)
{
    pthread_attr_t small;
    pthread_t thread;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    if (pthread_create(&thread, &small, body, argument) != 0) {
        perror("pthread_create");
        exit(1);
    }
    return thread;
}

/* ---- threads ---- */

static void *
member(void *argument)
{
    unsigned long number = (uintptr_t)argument;
    int pause = (int)count * 10;

    sink = malloc(100);
    pthread_barrier_wait(&there);
    poll(NULL, 0, (int)number * 10);
    for (;;) {
        free(sink = malloc(number));
        poll(NULL, 0, pause);
    }
    return NULL;
}

static void
threads(void)
{
    pthread_barrier_init(&there, NULL, (unsigned)count + 1);
    for (unsigned long i = 0; i < count; i++)
        start(member, (void *)i);
    pthread_barrier_wait(&there);
    ready();
    until_input_ends();
}

/* ---- lives ---- */

static void *
life(void *argument)
{
    void *first = malloc(100), *second = malloc(200), *third = malloc(300);

    (void)argument;
    sink = second;
    free(first);
    free(third);
    return NULL;
}

static void
lives(void)
{
    pthread_t running[AT_A_TIME];

    for (unsigned long i = 0; i < count; i++) {
        if (i >= AT_A_TIME)
            pthread_join(running[i % AT_A_TIME], NULL);
        running[i % AT_A_TIME] = start(life, NULL);
    }
    for (unsigned long i = 0; i < AT_A_TIME && i < count; i++)
        pthread_join(running[i], NULL);
    ready();
    until_input_ends();
}

/* ---- processes ---- */

static void
processes(void)
{
    pid_t *children = table(count * sizeof *children);

    for (unsigned long i = 0; i < count; i++) {
        children[i] = fork();
        if (children[i] < 0)
            exit(1);
        if (children[i] == 0) {
            sink = malloc(100);
            pause();
            _exit(0);
        }
    }
    ready();
    until_input_ends();
    for (unsigned long i = 0; i < count; i++)
        kill(children[i], SIGTERM);
    while (wait(NULL) > 0)
        ;
}

/* ---- blocks ---- */

static void
blocks(void)
{
    void **all = table(count * sizeof *all);

    for (unsigned long i = 0; i < count; i++)
        all[i] = malloc(16 + i % 64);
    ready();
    until_input_ends();
}

/* ---- calls ---- */

struct crowd_slot {
    void *block;
    size_t size;
};

/* Puts another block into the slot, or empties it. */
static void
change(struct crowd_slot *slot, unsigned long random)
{
    size_t size = 1 + random % 2000;

    if (slot->block != NULL && random % 3 == 0) {
        slot->block = realloc(slot->block, size);
    } else if (slot->block != NULL) {
        free(slot->block);
        slot->block = NULL;
        size = 0;
    } else if (random % 5 == 0) {
        slot->block = calloc(1, size);
    } else if (random % 7 == 0) {
        slot->block = memalign(64, size);
    } else {
        slot->block = malloc(size);
    }
    if (size > 0 && slot->block == NULL)
        exit(1);
    slot->size = size;
}

static void
calls(void)
{
    static struct crowd_slot slots[4096];
    unsigned long random = 1, bytes = 0, blocks = 0, most = 0, most_blocks = 0;
    char text[64];

    for (unsigned long i = 0; i < count; i++) {
        struct crowd_slot *slot;

        random = random * 6364136223846793005 + 1442695040888963407;
        slot = &slots[random >> 52];
        bytes -= slot->size;
        blocks -= slot->block != NULL;
        change(slot, random >> 20);
        bytes += slot->size;
        blocks += slot->block != NULL;
        if (bytes > most) {
            most = bytes;
            most_blocks = blocks;
        }
    }
    if (write(1, text,
              (size_t)snprintf(text, sizeof text, "%lu %lu\n", most, most_blocks))
        < 0)
        exit(1);
}

int
main(int argc, char **argv)
{
    const char *what = argc == 3 ? argv[1] : "";

    count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (strcmp(what, "threads") == 0)
        threads();
    else if (strcmp(what, "lives") == 0)
        lives();
    else if (strcmp(what, "processes") == 0)
        processes();
    else if (strcmp(what, "blocks") == 0)
        blocks();
    else if (strcmp(what, "calls") == 0)
        calls();
    else
        return 2;
    return 0;
}
