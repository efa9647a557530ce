/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small deterministic programs, one per case, to compare with glibc's memusage.  A case
 * must not depend on the addresses of blocks: both tools make blocks a little larger, by
 * different amounts.
 */
#include "config.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The compiler must not see the use of blocks, or it would remove the calls. */
static void *volatile slot[100];

static void
no_calls(void)
{
}

static void
plain(void)
{
    for (int i = 0; i < 100; i++)
        slot[i] = malloc((size_t)i * i * 7);
    for (int i = 0; i < 100; i += 3)
        free(slot[i]);
    slot[0] = calloc(7, 91);
    slot[3] = calloc(0, 8);
}

static void
sizes_at_the_borders(void)
{
    static const size_t sizes[] = {0,     1,     15,    16,    31,   32,
                                   65519, 65520, 65535, 65536, 70000};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        slot[i] = malloc(sizes[i]);
}

static void
reallocs(void)
{
    slot[0] = realloc(NULL, 100);
    slot[0] = realloc(slot[0], 100);    /* the same size */
    slot[0] = realloc(slot[0], 40);     /* in place */
    slot[1] = malloc(10);
    slot[2] = realloc(NULL, 0);
    slot[0] = realloc(slot[0], 400000); /* moves to its own mapping */
    slot[3] = malloc(77);
    slot[3] = realloc(slot[3], 0);      /* frees */
    free(slot[0]);
}

static void
frees(void)
{
    free(NULL);
    free(NULL);
    slot[0] = malloc(1000);
    slot[0] = realloc(slot[0], 10);
    free(slot[0]);
}

static void
failures(void)
{
    volatile size_t huge = (size_t)1 << 61;

    slot[0] = malloc(huge);
    slot[1] = malloc(50);
    slot[2] = realloc(slot[1], huge);
    slot[3] = calloc(1, huge);
    free(slot[1]);
}

static void
high_water(void)
{
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < round; i++)
            slot[i] = malloc(64 + (size_t)round);
        for (int i = 0; i < round; i++)
            free(slot[i]);
    }
}

static void
library_calls(void)
{
    char *line = NULL;
    char *text;
    size_t size = 0;
    FILE *file = fopen("/proc/self/comm", "r");

    slot[0] = strdup("a string");
    if (asprintf(&text, "%d %s", 17, "characters") < 0)
        abort();
    slot[1] = text;
    if (getline(&line, &size, file) < 0)
        abort();
    slot[2] = line;
    fclose(file);
}

/* The example of memusage(1) in its older and newer versions, with and without
   printing. */
static void
manual_page(int extra, int printing)
{
    int j = 0;

    if (printing)
        printf("malloc: %d\n", 400);
    slot[0] = malloc(400);
    for (int i = 0; i < 20; i++) {
        j = i < 10 ? i : j - 1;
        for (int wide = 0; wide < 2; wide++) {
            size_t size =
                sizeof(int) * (size_t)(wide ? (j + 1) * 150 + 110 : j * 50 + extra);

            if (printing)
                printf("realloc: %zu\n", size);
            slot[0] = realloc(slot[0], size);
        }
    }
    free(slot[0]);
}

static void
manual_page_old(void)
{
    manual_page(100, 0);
}

static void
manual_page_new(void)
{
    manual_page(110, 0);
}

static void
manual_page_old_printing(void)
{
    manual_page(100, 1);
}

static void
manual_page_new_printing(void)
{
    manual_page(110, 1);
}

/* The other outcomes of calls: sizes of zero, failing realloc(NULL), realloc to zero,
   growth in small steps. */
static void
corners(void)
{
    volatile size_t huge = (size_t)1 << 61;

    slot[0] = realloc(NULL, huge);
    slot[1] = malloc(0);
    slot[2] = calloc(0, 0);
    slot[1] = realloc(slot[1], 0);
    slot[3] = realloc(NULL, 17);
    for (size_t size = 18; size < 40; size++)
        slot[3] = realloc(slot[3], size);
    slot[3] = realloc(slot[3], 0);
    slot[4] = malloc(100);
    slot[5] = realloc(slot[4], huge);
    slot[4] = realloc(slot[4], 99);
    slot[6] = calloc(huge, 1);
    free(slot[2]);
    free(NULL);
}

/* -m: every kind of mapping, enlarged, reduced and unmapped. */
static void
mappings(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int file = open("/proc/self/exe", O_RDONLY);
    void *readable = mmap(NULL, page, PROT_READ, MAP_PRIVATE, file, 0);
    void *writable = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    void *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    slot[0] = malloc(1000);
    memory = mremap(memory, 2 * page, 16 * page, MREMAP_MAYMOVE);
    memory = mremap(memory, 16 * page, page, 0);
    munmap(readable, page);
    munmap(writable, 3 * page);
    munmap(memory, page);
    munmap((char *)slot, 1); /* fails: not a page's address */
    close(file);
}

/* Faster than any recorder can write. */
static void
race(void)
{
    for (int i = 0; i < 2000000; i++)
        free(slot[0] = malloc(24));
}

static void *
worker(void *argument)
{
    for (int i = 0; i < 100; i++) {
        void *volatile block = malloc(64);

        block = realloc(block, 128);
        free(block);
    }
    return argument;
}

static void
one_thread_after_another(void)
{
    for (int i = 0; i < 3; i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, worker, NULL) != 0)
            abort();
        pthread_join(thread, NULL);
    }
}

static void
at_exit(void)
{
    free(slot[0]);
    slot[1] = malloc(222);
}

static void
exit_handlers(void)
{
    slot[0] = malloc(111);
    atexit(at_exit);
}

int
main(int argc, char **argv)
{
    static void (*const cases[])(void) = {
        no_calls, plain,      sizes_at_the_borders, reallocs,
        frees,    failures,   high_water,           library_calls,
        one_thread_after_another, exit_handlers,
        race,     manual_page_old, manual_page_new, manual_page_old_printing,
        manual_page_new_printing, corners, mappings,
    };
    size_t number = argc > 1 ? (size_t)atoi(argv[1]) : 0;

    if (number >= sizeof cases / sizeof cases[0])
        return 99; /* no such case */
    cases[number]();
    return 0;
}
