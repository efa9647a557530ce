/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints what glibc's allocator does, call by call, and what it says about mistakes.
   All of it must be the same with and without the library. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "cases.h"

/* ---- random calls ---- */

#define SLOTS  400
#define STEPS  20000u
#define FLAG_MAPPED 2u
#define FLAG_ARENA  4u

struct walker {
    uint64_t seed;
    char *blocks[SLOTS];
};

static struct walker walkers[2];
static const char *first_block;
static unsigned long nomove;

/* Lines are kept here until the end, so that printing allocates nothing. */
static char lines[1 << 16];
static size_t used;

static void
flush(void)
{
    REQUIRE(write(1, lines, used) == (ssize_t)used);
    used = 0;
}

static void __attribute__((format(printf, 1, 2)))
line(const char *format, ...)
{
    va_list arguments;

    if (used > sizeof lines - 256)
        flush();
    va_start(arguments, format);
    used += (size_t)vsnprintf(lines + used, sizeof lines - used, format, arguments);
    va_end(arguments);
}

static unsigned
draw(struct walker *walker, unsigned below)
{
    walker->seed = walker->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(walker->seed >> 33) % below;
}

static size_t
draw_size(struct walker *walker)
{
    unsigned kind = draw(walker, 100);

    if (kind < 60)
        return draw(walker, 200);
    if (kind < 90)
        return draw(walker, 5000);
    if (kind < 98)
        return draw(walker, 80000);
    return draw(walker, 400000);
}

/* Prints where a block is, in a way that does not depend on where the kernel maps
   memory: relative to the first block of the heap, within its arena, or in a mapping of
   its own. */
static void
show(const char *what, size_t size, const char *block)
{
    size_t flags;

    if (block == NULL) {
        line("%s %zu none\n", what, size);
        return;
    }
    flags = ((const size_t *)(const void *)block)[-1];
    if (flags & FLAG_MAPPED)
        line("%s %zu page+%lu", what, size, (unsigned long)((uintptr_t)block & 4095));
    else if (flags & FLAG_ARENA)
        line("%s %zu arena+%lu", what, size,
             (unsigned long)((uintptr_t)block & 0x3ffffff));
    else
        line("%s %zu %+ld", what, size, (long)(block - first_block));
    line(" %zu\n", malloc_usable_size((void *)(uintptr_t)block));
}

static char *
fresh(struct walker *walker, size_t size)
{
    static const char *const names[] = {"malloc",        "malloc",  "malloc", "calloc",
                                        "memalign",      "realloc", "valloc", "pvalloc",
                                        "aligned_alloc", "posix_memalign"};
    unsigned kind = draw(walker, 100), alignment = 16u << draw(walker, 9);
    void *block = NULL;

    kind = kind < 60 ? kind % 3 : 3 + kind % 7;
    switch (kind) {
    case 0:
    case 1:
    case 2:
        block = malloc(size);
        break;
    case 3:
        block = calloc(3, size / 3);
        break;
    case 4:
        block = memalign(alignment, size);
        break;
    case 5:
        block = realloc(NULL, size);
        break;
    case 6:
        block = valloc(size);
        break;
    case 7:
        block = pvalloc(size);
        break;
    case 8:
        block = aligned_alloc(alignment, size);
        break;
    case 9:
        REQUIRE(posix_memalign(&block, alignment, size) == 0);
        break;
    }
    show(names[kind], size, block);
    return block;
}

/* Resizes a block to any size, or to one that may fit in place. */
static void
resize(struct walker *walker, char **slot)
{
    size_t usable = malloc_usable_size(*slot);
    size_t size = draw(walker, 2) ? draw_size(walker) : usable + draw(walker, 200);
    char *before = *slot;

    if (draw(walker, 4) == 0)
        size = usable - draw(walker, (unsigned)usable);
    *slot = draw(walker, 50) == 0 ? reallocarray(before, size / 16, 16)
                                  : realloc(before, size);
    nomove += *slot == before;
    show(*slot == before ? "stays" : "moves", size, *slot);
}

static void
show_totals(void)
{
    struct mallinfo2 info = mallinfo2();

    line("arena %zu chunks %zu fast %zu mapped %zu %zu fast %zu used %zu free %zu top %zu"
         " nomove %lu\n", info.arena, info.ordblks, info.smblks, info.hblks, info.hblkhd,
         info.fsmblks, info.uordblks, info.fordblks, info.keepcost, nomove);
}

static void
step(struct walker *walker)
{
    char **slot = &walker->blocks[draw(walker, SLOTS)];

    if (*slot == NULL) {
        *slot = fresh(walker, draw_size(walker));
    } else if (draw(walker, 3) == 0) {
        resize(walker, slot);
    } else {
        free(*slot);
        *slot = NULL;
    }
    if (draw(walker, 200) == 0)
        show_totals();
    if (draw(walker, 3000) == 0)
        line("trimmed %d\n", malloc_trim(draw(walker, 10000)));
}

static void
finish(struct walker *walker)
{
    for (unsigned i = 0; i < SLOTS; i++)
        free(walker->blocks[i]);
    show_totals();
}

static void
prepare(void)
{
    first_block = malloc(1);
    walkers[0].seed = 20260;
    walkers[1].seed = 77;
    show_totals();
}

static void
alone(void)
{
    prepare();
    for (unsigned i = 0; i < STEPS; i++)
        step(&walkers[0]);
    finish(&walkers[0]);
    flush();
}

/* ---- two threads in turn ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static unsigned turn;

/* Each thread also resizes and frees blocks of the other one. */
static void *
walk_in_turn(void *argument)
{
    unsigned me = (unsigned)(uintptr_t)argument;

    for (unsigned i = 0; i < STEPS / 4; i++) {
        pthread_mutex_lock(&mutex);
        while (turn % 2 != me)
            pthread_cond_wait(&turned, &mutex);
        for (unsigned j = 0; j < 4; j++)
            step(&walkers[draw(&walkers[me], 2)]);
        turn++;
        pthread_cond_signal(&turned);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void
in_turn(void)
{
    pthread_t thread;

    prepare();
    REQUIRE(pthread_create(&thread, NULL, walk_in_turn, (void *)1) == 0);
    walk_in_turn(NULL);
    REQUIRE(pthread_join(thread, NULL) == 0);
    finish(&walkers[0]);
    finish(&walkers[1]);
    flush();
}

/* ---- mistakes ---- */

/* A mistake; each is made in a child of its own. */
struct mistake {
    const char *name;
    void (*make)(const struct mistake *mistake);
    size_t size;
    unsigned excess;    /* bytes written beyond the block */
    int value;
    bool neighbour_first;
};

#define CALLS_BEFORE 40 /* enough for the library to learn how the allocator answers */
static bool at_once;

/* Called when glibc has accepted a mistake: prints errno and what is allocated and free,
   which show what the mistake has changed. */
static void
survived(void)
{
    struct mallinfo2 info = mallinfo2();

    line("errno %d used %zu free %zu chunks %zu\n", errno, info.uordblks, info.fordblks,
         info.ordblks);
    for (int i = 0; i < 3; i++)
        line("%zu ", malloc_usable_size(malloc(100)));
    line("\n");
    flush();
}

static void
warm_up(void)
{
    void *blocks[CALLS_BEFORE];

    for (unsigned i = 0; i < CALLS_BEFORE && !at_once; i++)
        blocks[i] = malloc(48 + i);
    for (unsigned i = 0; i < CALLS_BEFORE && !at_once; i++)
        free(blocks[i]);
}

static void
try_it(const struct mistake *mistake)
{
    int status;
    pid_t child;

    line("%s %zu", mistake->name, mistake->size);
    if (mistake->excess > 0)
        line(" +%u %#x %s", mistake->excess, (unsigned)mistake->value & 255,
             mistake->neighbour_first ? "neighbour" : "itself");
    line(": ");
    flush();
    child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        warm_up();
        mistake->make(mistake);
        survived();
        _exit(0);
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    line("status %#x\n", (unsigned)status);
    flush();
}

static void *volatile victim;

static void
twice(const struct mistake *mistake)
{
    victim = malloc(mistake->size);
    (void)!malloc(100);
    free(victim);
    free(victim);
}

static void
twice_apart(const struct mistake *mistake)
{
    void *other;

    victim = malloc(mistake->size);
    other = malloc(mistake->size);
    free(victim);
    free(other);
    free(victim);
}

/* Frees a block twice while the thread's cache is full. */
static void
twice_uncached(const struct mistake *mistake)
{
    void *blocks[7];

    for (int i = 0; i < 7; i++)
        blocks[i] = malloc(mistake->size);
    victim = malloc(mistake->size);
    (void)!malloc(100);
    for (int i = 0; i < 7; i++)
        free(blocks[i]);
    free(victim);
    free(victim);
}

static void
inside(const struct mistake *mistake)
{
    char *block = malloc(mistake->size);

    memset(block, 0, mistake->size);
    victim = block + 16;
    free(victim);
}

static void
inside_looks_right(const struct mistake *mistake)
{
    size_t *block = malloc(mistake->size);

    memset(block, 0, mistake->size);
    block[1] = 0x31;
    victim = block + 2;
    free(victim);
}

static void
on_stack(const struct mistake *mistake)
{
    _Alignas(16) char block[512] = "on the stack";

    victim = block + mistake->size;
    free(victim);
}

static void
unaligned(const struct mistake *mistake)
{
    char *block = malloc(2000);

    memset(block, 0, 2000);
    victim = block + mistake->size;
    free(victim);
}

static void
resized_inside(const struct mistake *mistake)
{
    char *block = malloc(mistake->size);

    memset(block, 0, mistake->size);
    victim = realloc(block + 16, 9000);
}

static void
resized_when_freed(const struct mistake *mistake)
{
    victim = malloc(mistake->size);
    (void)!malloc(100);
    free(victim);
    victim = realloc(victim, mistake->size * 2);
}

static void
unmapped(const struct mistake *mistake)
{
    victim = (char *)0 + mistake->size;
    free(victim);
}

/* Writes past the second of three blocks, into the third, a neighbour of equal size. */
static void
overflow(const struct mistake *mistake)
{
    char *blocks[3];

    for (int i = 0; i < 3; i++)
        blocks[i] = malloc(mistake->size);
    memset(blocks[1] + mistake->size, mistake->value, mistake->excess);
    free(blocks[mistake->neighbour_first ? 2 : 1]);
    free(blocks[mistake->neighbour_first ? 1 : 2]);
}

static void
overflow_resized(const struct mistake *mistake)
{
    char *blocks[3];

    for (int i = 0; i < 3; i++)
        blocks[i] = malloc(mistake->size);
    memset(blocks[1] + mistake->size, mistake->value, mistake->excess);
    victim = realloc(blocks[mistake->neighbour_first ? 2 : 1], mistake->size * 3);
    victim = realloc(blocks[mistake->neighbour_first ? 1 : 2], mistake->size / 2);
}

static void
corrupt_top(const struct mistake *mistake)
{
    size_t *head = malloc(mistake->size);

    head += malloc_usable_size(head) / sizeof *head - 1;
    /* Free chunks may lie before top, so this overwrites each place where its size may
       be. */
    for (int i = 1; i <= 2; i++)
        head[i] = (size_t)(long)mistake->value;
    victim = malloc(90000);
    victim = malloc(200000);
    (void)!malloc(100000);
}

static void
overflows(void (*make)(const struct mistake *), const char *name)
{
    static const size_t sizes[] = {8, 24, 40, 104, 1032, 5000, 70008, 200000};
    static const int values[] = {0, 0x41, 0xff};

    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (unsigned excess = 1; excess <= 16; excess++)
            for (unsigned i = 0; i < 6; i++)
                try_it(&(struct mistake){name, make, sizes[s], excess, values[i / 2],
                                         i % 2 != 0});
}

#define TRY(function, ...)                                                             \
    do {                                                                               \
        const size_t sizes[] = {__VA_ARGS__};                                          \
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)                    \
            try_it(&(struct mistake){#function, function, .size = sizes[i]});          \
    } while (0)

static void
mistakes(void)
{
    struct rlimit none = {0, 0};

    REQUIRE(setrlimit(RLIMIT_CORE, &none) == 0);
    at_once = case_argv[2] != NULL;
    TRY(twice, 24, 100, 1000, 1040, 5000, 70000, 200000);
    TRY(twice_apart, 24, 100, 1000, 1040, 5000, 70000, 200000);
    TRY(twice_uncached, 24, 100, 1000, 1040, 5000);
    TRY(inside, 24, 100, 116, 1000, 5000, 70000, 200000);
    TRY(inside_looks_right, 48, 64, 100, 116, 1000, 5000);
    TRY(on_stack, 16, 24, 32, 33, 64, 256);
    TRY(unaligned, 1, 4, 8, 15, 24, 33, 1000);
    TRY(resized_inside, 24, 100, 116, 1000, 5000, 200000);
    TRY(resized_when_freed, 24, 100, 1000, 1040, 5000, 70000, 200000);
    TRY(unmapped, 8, 16, 4096, 65536, 0x7000000, 0x7fffffff0000);
    for (int value = -1; value <= 1; value++)
        try_it(&(struct mistake){"corrupt_top", corrupt_top, .size = 120000,
                                 .value = value});
    overflows(overflow, "overflow");
    overflows(overflow_resized, "overflow_resized");
}

CASES
    CASE(alone)
    CASE(in_turn)
    CASE(mistakes)
END_CASES
