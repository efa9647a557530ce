/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading a line takes about as long as the call it describes.  So calls are made in
 * bundles: lines are read into operations, and the clock runs only while these are
 * carried out.
 *
 *     lines -> operations (a bundle) -> calls
 *                   slot numbers -> groups of slots, mapped when first named
 *
 * Slots are made when a line is read, so carrying out an operation cannot fail.  Slot 0
 * is NULL: nothing is ever put there.
 */
#include "config.h"

#include "replay/replay.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "files/logalloc.h"

/* Some 128 KiB: it stays in the second-level cache. */
#define BUNDLE 4096

/* A group takes 1 MiB. */
#define GROUP_SLOTS 65536u
#define GROUPS (REPLAY_SLOTS_MAX / GROUP_SLOTS)

#define TOUCH 0x55 /* what the original writes */

struct slot {
    void *block;
    uint64_t size;
};

struct operation {
    enum logalloc_call call;
    uint32_t given, result;
    uint64_t other, size;
};

struct replay {
    struct replay_options options;
    struct replay_figures figures;
    size_t pending;
    struct operation bundle[BUNDLE];
    struct slot *groups[GROUPS];
};

static const struct replay_allocator this_process = {
    malloc, calloc, realloc, free, memalign, posix_memalign, aligned_alloc, valloc,
    malloc_usable_size,
};

/* ---- slots ---- */

static void *
map(size_t size)
{
    /* Populated at once, so that its share of the resident memory is known. */
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    return memory != MAP_FAILED ? memory : NULL;
}

static struct slot *
slot_at(const struct replay *replay, uint32_t number)
{
    return &replay->groups[number / GROUP_SLOTS][number % GROUP_SLOTS];
}

static enum replay_verdict
make_slot(struct replay *replay, uint64_t number)
{
    struct slot **group;

    if (number >= REPLAY_SLOTS_MAX)
        return REPLAY_SLOT;
    group = &replay->groups[number / GROUP_SLOTS];
    if (*group == NULL) {
        *group = map(GROUP_SLOTS * sizeof **group);
        if (*group == NULL)
            return REPLAY_NO_MEMORY;
        replay->figures.own_bytes += GROUP_SLOTS * sizeof **group;
    }
    return REPLAY_GOOD;
}

/* ---- carrying out ---- */

static const struct replay_allocator *
allocator_of(const struct replay *replay)
{
    return replay->options.allocator;
}

static void
count_live(struct replay_figures *figures, uint64_t bytes)
{
    figures->live_blocks++;
    figures->live_bytes += bytes;
    if (figures->live_bytes > figures->peak_bytes) {
        figures->peak_bytes = figures->live_bytes;
        figures->peak_blocks = figures->live_blocks;
    }
}

/* Removes the block from its slot and returns it. */
static struct slot
empty(struct replay *replay, uint32_t number)
{
    struct slot *slot = slot_at(replay, number), was = *slot;

    if (was.block != NULL) {
        replay->figures.live_blocks--;
        replay->figures.live_bytes -= was.size;
    }
    *slot = (struct slot){0};
    return was;
}

/* Puts a block (or NULL) into a slot. */
static void
put(struct replay *replay, uint32_t number, void *block, uint64_t size)
{
    struct slot *slot = slot_at(replay, number);

    if (slot->block != NULL)
        replay->figures.lost++;
    *slot = (struct slot){block, size};
    if (number > replay->figures.slots)
        replay->figures.slots = number;
    if (block != NULL)
        count_live(&replay->figures, size);
}

/* Puts the result of an allocation into its slot. */
static void
receive(struct replay *replay, uint32_t number, void *block, uint64_t size)
{
    if (block == NULL && size > 0)
        replay->figures.failed++;
    put(replay, number, block, size);
    if (block == NULL)
        return;
    if (replay->options.touch)
        memset(block, TOUCH, size);
    if (replay->options.slop) {
        replay->figures.requested += size;
        replay->figures.usable += allocator_of(replay)->usable(block);
    }
}

static void
reallocate(struct replay *replay, const struct operation *operation)
{
    struct slot was = empty(replay, operation->given);
    void *block = allocator_of(replay)->realloc(was.block, operation->size);

    if (block == NULL && operation->size > 0 && was.block != NULL) {
        /* The block lives on, where the log will look for it. */
        replay->figures.failed++;
        put(replay, operation->result, was.block, was.size);
    } else {
        receive(replay, operation->result, block, operation->size);
    }
}

static uint64_t
product(uint64_t count, uint64_t size)
{
    uint64_t bytes;

    return __builtin_mul_overflow(count, size, &bytes) ? UINT64_MAX : bytes;
}

static void *
align(const struct replay_allocator *allocator, uint64_t alignment, uint64_t size)
{
    void *block = NULL;

    return allocator->posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}

static void
carry_out(struct replay *replay, const struct operation *operation)
{
    const struct replay_allocator *allocator = allocator_of(replay);
    uint64_t other = operation->other, size = operation->size;
    uint32_t result = operation->result;

    switch (operation->call) {
    case LOGALLOC_MALLOC:
        return receive(replay, result, allocator->malloc(size), size);
    case LOGALLOC_CALLOC:
        return receive(replay, result, allocator->calloc(other, size),
                       product(other, size));
    case LOGALLOC_REALLOC:
        return reallocate(replay, operation);
    case LOGALLOC_FREE:
        return allocator->free(empty(replay, operation->given).block);
    case LOGALLOC_MEMALIGN:
        return receive(replay, result, allocator->memalign(other, size), size);
    case LOGALLOC_POSIX_MEMALIGN:
        return receive(replay, result, align(allocator, other, size), size);
    case LOGALLOC_ALIGNED_ALLOC:
        return receive(replay, result, allocator->aligned_alloc(other, size), size);
    case LOGALLOC_VALLOC:
        return receive(replay, result, allocator->valloc(size), size);
    case LOGALLOC_STATS:
        return;
    }
}

static uint64_t
cpu_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool
is_record(const struct replay *replay, const struct operation *operation)
{
    uint64_t every = replay->options.stats_every;

    return operation->call == LOGALLOC_STATS ||
           (every != 0 && replay->figures.calls % every == 0);
}

void
replay_flush(struct replay *replay)
{
    uint64_t start = cpu_now();

    for (size_t i = 0; i < replay->pending; i++) {
        const struct operation *operation = &replay->bundle[i];

        carry_out(replay, operation);
        replay->figures.calls++;
        if (is_record(replay, operation) && replay->options.stats != NULL) {
            replay->figures.cpu_ns += cpu_now() - start;
            replay->options.stats(replay->options.context, replay);
            start = cpu_now();
        }
    }
    replay->figures.cpu_ns += cpu_now() - start;
    replay->pending = 0;
}

/* ---- reading ---- */

static bool
is_blank(const char *text, size_t length)
{
    return length == 0 || (length == 1 && *text == '\r');
}

static enum replay_verdict
add(struct replay *replay, const struct logalloc_line *line)
{
    bool returns = logalloc_returns_block(line->call);
    enum replay_verdict verdict;

    if (returns && (!line->has_result || line->result == 0))
        return REPLAY_NO_RESULT;
    verdict = make_slot(replay, line->block);
    if (verdict == REPLAY_GOOD)
        verdict = make_slot(replay, line->result);
    if (verdict != REPLAY_GOOD)
        return verdict;
    replay->bundle[replay->pending++] = (struct operation){
        line->call, (uint32_t)line->block, (uint32_t)line->result, line->other,
        line->size,
    };
    if (replay->pending == BUNDLE)
        replay_flush(replay);
    return REPLAY_GOOD;
}

enum replay_verdict
replay_call(struct replay *replay, const struct logalloc_line *line)
{
    if (replay->figures.pid == 0)
        replay->figures.pid = line->pid;
    if (line->pid == replay->figures.pid)
        return add(replay, line);
    replay->figures.passed_over++;
    return REPLAY_GOOD;
}

enum replay_verdict
replay_line(struct replay *replay, const char *text, size_t length)
{
    struct logalloc_line line;
    enum logalloc_verdict verdict;

    if (is_blank(text, length))
        return REPLAY_GOOD;
    verdict = logalloc_parse(text, length, LOGALLOC_MUNGED, &line);
    if (verdict != LOGALLOC_GOOD)
        return verdict == LOGALLOC_UNKNOWN ? REPLAY_UNKNOWN : REPLAY_MALFORMED;
    return replay_call(replay, &line);
}

/* ---- interface ---- */

struct replay *
replay_new(const struct replay_options *options)
{
    struct replay *replay = map(sizeof *replay);

    if (replay == NULL)
        return NULL;
    replay->options = *options;
    replay->figures.pid = options->pid;
    if (replay->options.allocator == NULL)
        replay->options.allocator = &this_process;
    return replay;
}

const struct replay_figures *
replay_figures(const struct replay *replay)
{
    return &replay->figures;
}

void
replay_slop(const struct replay *replay, struct replay_slop *slop)
{
    *slop = (struct replay_slop){0};
    for (uint32_t i = 1; i <= replay->figures.slots; i++) {
        const struct slot *group = replay->groups[i / GROUP_SLOTS];
        struct slot slot = {0};
        size_t usable;

        if (group == NULL)
            i |= GROUP_SLOTS - 1; /* skips the rest of the group */
        else
            slot = group[i % GROUP_SLOTS];
        if (slot.block == NULL)
            continue;
        usable = allocator_of(replay)->usable(slot.block);
        slop->blocks++;
        slop->sloppy_blocks += usable > slot.size;
        slop->requested += slot.size;
        slop->usable += usable;
    }
}

void
replay_free(struct replay *replay)
{
    if (replay == NULL)
        return;
    for (size_t i = 0; i < GROUPS; i++)
        if (replay->groups[i] != NULL)
            munmap(replay->groups[i], GROUP_SLOTS * sizeof *replay->groups[i]);
    munmap(replay, sizeof *replay);
}
