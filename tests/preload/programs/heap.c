/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exercises an allocator: contents are kept, blocks are aligned as asked, and all of
   malloc_usable_size() belongs to the program. */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>

#include "cases.h"

#define SLOTS 300

static unsigned char *
fresh(unsigned kind, size_t size)
{
    void *block = NULL;

    switch (kind % 6) {
    case 0:
        return malloc(size);
    case 1:
        return calloc(1, size);
    case 2:
        return memalign(64, size);
    case 3:
        REQUIRE(posix_memalign(&block, 256, size) == 0);
        return block;
    case 4:
        return aligned_alloc(32, size);
    default:
        return realloc(NULL, size);
    }
}

static void
check(const unsigned char *block, size_t size, unsigned value)
{
    for (size_t at = 0; at < size; at++)
        REQUIRE(block[at] == (value & 255));
}

static void *
workout(void *argument)
{
    unsigned char **blocks = calloc(SLOTS, sizeof *blocks);
    size_t *held = calloc(SLOTS, sizeof *held);
    uint64_t seed = (uintptr_t)argument;

    for (unsigned i = 0; i < 20000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        unsigned slot = (unsigned)(seed >> 33) % SLOTS;
        size_t size = 1 + (size_t)(seed >> 41) % (slot < 8 ? 70000 : 500);
        if (blocks[slot] == NULL) {
            blocks[slot] = fresh((unsigned)(seed >> 60), size);
            held[slot] = malloc_usable_size(blocks[slot]);
            REQUIRE(held[slot] >= size);
            memset(blocks[slot], (int)slot, held[slot]);
        } else if (seed >> 63) {
            check(blocks[slot], held[slot], slot);
            blocks[slot] = realloc(blocks[slot], size);
            check(blocks[slot], size < held[slot] ? size : held[slot], slot);
            held[slot] = malloc_usable_size(blocks[slot]);
            memset(blocks[slot], (int)slot, held[slot]);
        } else {
            check(blocks[slot], held[slot], slot);
            free(blocks[slot]);
            blocks[slot] = NULL;
        }
    }
    for (unsigned slot = 0; slot < SLOTS; slot++)
        free(blocks[slot]);
    free(blocks);
    free(held);
    return NULL;
}

static void
heap(void)
{
    pthread_t threads[2];

    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, workout, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

CASES
    CASE(heap)
END_CASES
