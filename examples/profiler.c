/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program with a profiler of its own (memprof(3)): at its end it prints the stacks of
 * the blocks that are alive, in the format from which flame graphs are made.  "profiler
 * stay" runs on, and prints them at each SIGUSR1.
 *
 *   cc -rdynamic -o profiler profiler.c $(pkg-config --cflags --libs memtop) -pthread
 *   LD_PRELOAD=libmemtop.so ./profiler | flamegraph.pl >live.svg
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include <memtop/memprof.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 1e-3

struct block {
    struct block *next, **link; /* in the list of those alive */
    double bytes;               /* that it stands for */
    int depth;
    const void *stack[];
};

static struct block *alive;

/* Recursive: functions that are called while it is held may allocate, and that may be
   sampled. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void *
on_alloc(const struct memprof_allocation *a, void *ctx)
{
    struct block *block =
        malloc(sizeof *block + (size_t)a->n_frames * sizeof *a->callstack);

    (void)ctx;
    if (block == NULL)
        return NULL;
    block->bytes = (double)a->n_samples * (double)a->size
                   / (RATE * (double)memprof_words(a->size));
    block->depth = a->n_frames;
    memcpy(block->stack, a->callstack, (size_t)a->n_frames * sizeof *a->callstack);
    pthread_mutex_lock(&lock);
    block->link = &alive;
    block->next = alive;
    if (alive != NULL)
        alive->link = &block->next;
    alive = block;
    pthread_mutex_unlock(&lock);
    return block;
}

static void
on_dealloc(void *data, void *ctx)
{
    struct block *block = data;

    (void)ctx;
    pthread_mutex_lock(&lock);
    *block->link = block->next;
    if (block->next != NULL)
        block->next->link = block->link;
    pthread_mutex_unlock(&lock);
    free(block);
}

static void
print_live(void)
{
    Dl_info at;

    pthread_mutex_lock(&lock);
    for (const struct block *block = alive; block != NULL; block = block->next) {
        for (int i = block->depth; i-- > 0;) {
            /* The call is before its return address. */
            int found = dladdr((const char *)block->stack[i] - 1, &at);
            printf("%s%s", found != 0 && at.dli_sname != NULL ? at.dli_sname : "?",
                   i > 0 ? ";" : "");
        }
        printf(" %.0f\n", block->bytes);
    }
    pthread_mutex_unlock(&lock);
    fflush(stdout);
}

/* ---- and a program to profile: it keeps some of what it makes, and forgets some ---- */

static void *cache[1000];

void fill_cache(int step);
void forget(void);

__attribute__((noinline)) void
fill_cache(int step)
{
    free(cache[step % 1000]);
    cache[step % 1000] = malloc(1000);
}

__attribute__((noinline)) void
forget(void)
{
    void *volatile lost = malloc(200);

    (void)lost;
}

int
main(int argc, char **argv)
{
    static const struct memprof_tracker tracker = {on_alloc, NULL, on_dealloc};
    bool stay = argc > 1 && strcmp(argv[1], "stay") == 0;
    sigset_t signals;
    int number;

    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    if (memprof_start(RATE, -1, &tracker, NULL) == NULL) {
        perror("profiler: memprof_start");
        return 1;
    }
    for (int step = 0; step < 20000; step++) {
        fill_cache(step);
        forget();
    }
    print_live();
    while (stay && sigwait(&signals, &number) == 0)
        print_live();
    return 0;
}
