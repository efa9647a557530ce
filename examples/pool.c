/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pool in front of malloc, seen from both sides.  The pool takes chunks of 64 blocks
 * and hands out blocks of one size: the program asks the pool for thousands of small
 * blocks, and the pool asks malloc for a few large ones.
 *
 *   memtop -B -q --report=overview,loadpeak --blocks=both ./pool
 */
#include <memtop/memprof.h>

#include <stdio.h>
#include <stdlib.h>

#define CHUNK_BLOCKS 64
#define SIZES        4
#define ROUNDS       2000
#define ALIVE        300

struct block {
    struct block *next;
};

static const size_t sizes[SIZES] = {16, 24, 40, 64};
static struct block *unused[SIZES];

/* Adds a chunk, as a list of blocks. */
static int
grow(unsigned which)
{
    char *chunk = malloc(CHUNK_BLOCKS * sizes[which]);

    for (int i = 0; chunk != NULL && i < CHUNK_BLOCKS; i++) {
        struct block *block = (struct block *)(void *)(chunk + (size_t)i * sizes[which]);

        block->next = unused[which];
        unused[which] = block;
    }
    return chunk != NULL;
}

static void *
pool_alloc(unsigned which)
{
    struct block *block;

    if (unused[which] == NULL && !grow(which))
        return NULL;
    block = unused[which];
    unused[which] = block->next;
    return memprof_custom_alloc(block, sizes[which]);
}

/* Chunks are kept. */
static void
pool_free(unsigned which, void *taken)
{
    struct block *block = taken;

    if (block == NULL)
        return;
    memprof_custom_free(block);
    block->next = unused[which];
    unused[which] = block;
}

int
main(void)
{
    static void *alive[ALIVE];
    static unsigned size_of[ALIVE];

    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned at = round % ALIVE;

        pool_free(size_of[at], alive[at]);
        size_of[at] = round * 7 % SIZES;
        alive[at] = pool_alloc(size_of[at]);
    }
    for (unsigned at = 0; at < ALIVE; at++)
        pool_free(size_of[at], alive[at]);
    return 0;
}
