/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The phases of a program that load.c measures; each is one row of the table.
 */
#include "config.h"

#include "load.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIR_BYTES 64
#define MIXED_BYTES 512
#define LEAST_BYTES 16
#define MOST_BYTES 480
#define REALLOC_BYTES 64
#define REALLOC_STEPS 256 /* up to 16 KiB */
#define GROWN 20000

/* Uses the block, so that the compiler does not remove the calls. */
static void
use(void *block)
{
    __asm__ volatile("" : : "r"(block) : "memory");
}

/* xorshift64 (Marsaglia, 2003) */
static uint64_t
next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static size_t
mixed_size(struct worker *worker)
{
    return 1 + (next_random(&worker->random) >> 32) % MIXED_BYTES;
}

/* ---- pairs: a block is allocated and freed at once ---- */

static void
pairs(struct worker *worker, uint64_t steps)
{
    (void)worker;
    while (steps-- > 0) {
        void *block = malloc(PAIR_BYTES);
        use(block);
        free(block);
    }
}

static void
mixed(struct worker *worker, uint64_t steps)
{
    while (steps-- > 0) {
        void *block = malloc(mixed_size(worker));
        use(block);
        free(block);
    }
}

static void
calloc_pairs(struct worker *worker, uint64_t steps)
{
    (void)worker;
    while (steps-- > 0) {
        void *block = calloc(1, PAIR_BYTES);
        use(block);
        free(block);
    }
}

/* Defined in phases-cxx.cc, which only load-cxx has. */
void cxx_pairs(struct worker *worker, uint64_t steps) __attribute__((weak));

/* ---- realloc: a buffer grows by small steps, and begins again ---- */

static void
realloc_steps(struct worker *worker, uint64_t steps)
{
    void *buffer = worker->blocks[0];

    while (steps-- > 0) {
        if (worker->count == REALLOC_STEPS) {
            free(buffer);
            buffer = NULL;
            worker->count = 0;
        }
        buffer = realloc(buffer, ++worker->count * REALLOC_BYTES);
        use(buffer);
    }
    worker->blocks[0] = buffer;
}

/* ---- churn: among live blocks one is freed and a new one allocated ---- */

static void *
churn_block(uint64_t random)
{
    return malloc(LEAST_BYTES + (random >> 32) % (MOST_BYTES - LEAST_BYTES + 1));
}

static void
fill(struct worker *worker)
{
    while (worker->count < worker->room)
        worker->blocks[worker->count++] = churn_block(next_random(&worker->random));
}

static void
churn(struct worker *worker, uint64_t steps)
{
    while (steps-- > 0) {
        uint64_t random = next_random(&worker->random);
        void **block = &worker->blocks[(uint32_t)random * (uint64_t)worker->room >> 32];
        free(*block);
        *block = churn_block(random);
        use(*block);
    }
}

/* ---- growth: blocks are allocated, and none is freed ---- */

/* When steps are counted, not timed, nothing is freed between batches: blocks for which
   the table has no room stay allocated. */
static void
grow(struct worker *worker, uint64_t steps)
{
    while (steps-- > 0) {
        if (worker->count == worker->room)
            worker->count = 0;
        worker->blocks[worker->count++] = malloc(mixed_size(worker));
    }
}

/* Makes the heap keep freed memory and its pages. */
static void
keep_heap(struct worker *worker)
{
    (void)worker;
    mallopt(M_TOP_PAD, 64 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

static void
free_all(struct worker *worker)
{
    for (size_t i = 0; i < worker->count; i++)
        free(worker->blocks[i]);
    worker->count = 0;
}

/* Each mallopt() joins small free blocks, so that the next batch finds one large one. */
static void
empty_heap(struct worker *worker)
{
    free_all(worker);
    keep_heap(worker);
}

static void
grow_and_free(struct worker *worker, uint64_t steps)
{
    grow(worker, steps);
    free_all(worker);
}

/* The first call starts the library that measures, outside the timed part. */
static void
first_call(struct worker *worker)
{
    (void)worker;
    use(malloc(PAIR_BYTES));
}

/* ---- handover: blocks are freed by another thread ---- */

#define QUEUE_SLOTS 4096u
#define QUEUE_PORTION 64u /* handed over together, so that few cache lines move */

static struct {
    _Alignas(64) void *slots[QUEUE_SLOTS];
    _Alignas(64) uint64_t given;
    _Alignas(64) uint64_t taken;
} queue;

static void
wait_until_taken(uint64_t number)
{
    while (__atomic_load_n(&queue.taken, __ATOMIC_ACQUIRE) < number)
        ;
}

static void
hand_over(struct worker *worker, uint64_t steps)
{
    uint64_t given = queue.given, end = given + steps;

    while (given < end) {
        if (given >= QUEUE_SLOTS)
            wait_until_taken(given - QUEUE_SLOTS + QUEUE_PORTION);
        for (unsigned i = 0; i < QUEUE_PORTION && given < end; i++)
            queue.slots[given++ % QUEUE_SLOTS] = malloc(mixed_size(worker));
        __atomic_store_n(&queue.given, given, __ATOMIC_RELEASE);
    }
    wait_until_taken(end);
}

static void *
receive(void *unused)
{
    uint64_t taken = 0;

    take_processor(1);
    for (;;) {
        uint64_t given = __atomic_load_n(&queue.given, __ATOMIC_ACQUIRE);
        if (taken == given)
            continue;
        while (taken < given)
            free(queue.slots[taken++ % QUEUE_SLOTS]);
        __atomic_store_n(&queue.taken, taken, __ATOMIC_RELEASE);
    }
    return unused;
}

/* The receiver ends with the process. */
static void
start_receiver(struct worker *worker)
{
    pthread_t receiver;

    (void)worker;
    if (pthread_create(&receiver, NULL, receive, NULL) != 0)
        exit(1);
}

/* ---- the table ---- */

#define CHURN(live)  .run = churn, .prepare = fill, .kept_blocks = (live)
#define IN_WARM_HEAP .prepare = keep_heap, .after = empty_heap, .batch_steps = GROWN

static const struct phase phases[] = {
    {.name = "pairs", .run = pairs},
    {.name = "mixed", .run = mixed},
    {.name = "calloc", .run = calloc_pairs},
    {.name = "cxx", .run = cxx_pairs},
    {.name = "realloc", .run = realloc_steps, .kept_blocks = 1},
    {.name = "churn1024", CHURN(1024)},
    {.name = "churn100k", CHURN(100000), .warm_steps = 400000, .batch_steps = 5000},
    {.name = "churn2m", CHURN(2000000), .warm_steps = 400000, .batch_steps = 5000},
    {.name = "growth", .run = grow, IN_WARM_HEAP, .kept_blocks = GROWN},
    {.name = "grow-free", .run = grow_and_free, IN_WARM_HEAP, .kept_blocks = GROWN},
    {.name = "growth-cold", .run = grow, .prepare = first_call,
     .kept_blocks = 10 * GROWN, .batch_steps = 5000, .until_full = true},
    {.name = "handover", .run = hand_over, .prepare = start_receiver,
     .batch_steps = 5000},
};

#define PHASES (sizeof phases / sizeof phases[0])

const struct phase *
phase_of(const char *name)
{
    for (size_t i = 0; i < PHASES; i++)
        if (phases[i].run != NULL && strcmp(phases[i].name, name) == 0)
            return &phases[i];
    return NULL;
}

void
phase_names(char *text, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; i < PHASES && used < size; i++)
        if (phases[i].run != NULL)
            used += (size_t)snprintf(text + used, size - used, " %s", phases[i].name);
}
