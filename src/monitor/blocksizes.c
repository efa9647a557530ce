/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A call costs two look-ups, of its address and of its size, and two comparisons more
 * while the size's count stays in its interval.
 *
 * A realloc() gives two events: before the old block is released, and after.  In between,
 * the allocator may hand the address out to another thread already, so the block waits
 * beside the table until its fate is known.
 */
#include "config.h"

#include "monitor/blocksizes.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/blockmap.h"
#include "base/array.h"
#include "base/figures.h"
#include "segment/layout.h"

#define SIZES_MAX     (BLOCKMAP_NONE - 1)
#define PROCESSES_MAX (1u << 22) /* the most there can be at a time */

/* A block that a realloc() is about to release. */
struct moving {
    uint32_t thread;
    uint32_t place; /* index of its size; BLOCKMAP_NONE: unknown block */
    uint64_t address;
};

/* An address space. */
struct space {
    struct blockmap live; /* address to index of its size */
    struct moving *moving;
    size_t moving_count, moving_room;
};

struct blocksizes {
    struct counts counts;
    uint64_t tick_ns;
    struct blocksizes_sum sum;
    struct blockmap places; /* size to its index */
    struct blocksize *sizes;
    size_t count, room;
    struct space *spaces;
    size_t space_count;
    blocksizes_watch *watch;
    void *context;
    bool failed;
};

struct blocksizes *
blocksizes_new(const struct counts *counts, uint64_t tick_ns)
{
    struct blocksizes *blocks = calloc(1, sizeof *blocks);

    if (blocks == NULL)
        return NULL;
    blocks->counts = *counts;
    blocks->tick_ns = tick_ns;
    return blocks;
}

void
blocksizes_free(struct blocksizes *blocks)
{
    if (blocks == NULL)
        return;
    for (size_t i = 0; i < blocks->count; i++)
        free(blocks->sizes[i].spent);
    for (size_t i = 0; i < blocks->space_count; i++) {
        blockmap_fini(&blocks->spaces[i].live);
        free(blocks->spaces[i].moving);
    }
    blockmap_fini(&blocks->places);
    free(blocks->sizes);
    free(blocks->spaces);
    free(blocks);
}

void
blocksizes_set_watch(struct blocksizes *blocks, blocksizes_watch *watch, void *context)
{
    blocks->watch = watch;
    blocks->context = context;
}

/* ---- one size ---- */

/* Makes space for the time spent in the size's interval; false if memory is short. */
static bool
make_levels(struct blocksize *size)
{
    uint32_t levels = size->level + size->level / 2 + 4;
    uint64_t *spent;

    if (size->level <= size->levels)
        return true;
    spent = reallocarray(size->spent, levels, sizeof *spent);
    if (spent == NULL)
        return false;
    memset(spent + size->levels, 0, (levels - size->levels) * sizeof *spent);
    size->spent = spent;
    size->levels = levels;
    return true;
}

/* live has left its interval: accounts the time spent there and enters the next. */
static void
change_level(struct blocksizes *blocks, struct blocksize *size)
{
    uint64_t now = blocks->sum.end;

    if (size->level > 0)
        size->spent[size->level - 1] += now - size->since;
    size->level = counts_find(&blocks->counts, size->live, &size->lo, &size->hi);
    size->since = now;
    if (!make_levels(size)) {
        size->level = 0;
        blocks->failed = true;
    }
}

static void
count(struct blocksizes *blocks, uint32_t place, bool up)
{
    struct blocksize *size = &blocks->sizes[place];
    struct blocksizes_sum *sum = &blocks->sum;
    uint64_t before = size->live;

    if (up) {
        size->live++;
        sum->live_blocks++;
        sum->live_bytes += size->size;
    } else {
        size->live--;
        sum->live_blocks--;
        sum->live_bytes -= size->size;
    }
    if (size->live > size->hi || size->live <= size->lo)
        change_level(blocks, size);
    if (blocks->watch != NULL)
        blocks->watch(blocks->context, place, sum->end, before, size->live);
}

/* The index of a size, entered if it is new; BLOCKMAP_NONE if memory is short. */
static uint32_t
find_size(struct blocksizes *blocks, uint64_t bytes)
{
    uint32_t place = blockmap_get(&blocks->places, bytes), before;

    if (place != BLOCKMAP_NONE || blocks->count >= SIZES_MAX)
        return place;
    place = (uint32_t)blocks->count;
    if (!ARRAY_GROW(blocks->sizes, blocks->room, blocks->count + 1)
        || !blockmap_set(&blocks->places, bytes, place, &before))
        return BLOCKMAP_NONE;
    blocks->sizes[blocks->count++] = (struct blocksize){.size = bytes};
    return place;
}

/* ---- calls ---- */

static struct space *
find_space(struct blocksizes *blocks, uint32_t process)
{
    if (process >= PROCESSES_MAX
        || !ARRAY_GROW(blocks->spaces, blocks->space_count, (size_t)process + 1))
        return NULL;
    return &blocks->spaces[process];
}

static void
drop(struct blocksizes *blocks, uint32_t place)
{
    if (place == BLOCKMAP_NONE)
        blocks->sum.unknown++;
    else
        count(blocks, place, false);
}

static bool
allocate(struct blocksizes *blocks, struct space *space, const struct block_call *call)
{
    struct blocksizes_sum *sum = &blocks->sum;
    uint32_t place = find_size(blocks, call->size), before;
    struct blocksize *size;

    if (place == BLOCKMAP_NONE
        || !blockmap_set(&space->live, call->address, place, &before))
        return false;
    if (before != BLOCKMAP_NONE) {
        sum->replaced++;
        count(blocks, before, false);
    }
    size = &blocks->sizes[place];
    size->allocations++;
    sum->allocations++;
    sum->bytes = add_saturating(sum->bytes, call->size);
    count(blocks, place, true);
    raise_to(&size->peak, size->live);
    if (sum->live_bytes > sum->peak_bytes) {
        sum->peak_bytes = sum->live_bytes;
        sum->peak_time = sum->end;
    }
    return true;
}

/* Removes and returns the block of the thread's unfinished realloc(); false if there is
   none. */
static bool
take_moving(struct space *space, uint32_t thread, struct moving *out)
{
    for (size_t i = space->moving_count; i-- > 0;)
        if (space->moving[i].thread == thread) {
            *out = space->moving[i];
            space->moving[i] = space->moving[--space->moving_count];
            return true;
        }
    return false;
}

/* Ends a realloc() that this thread began: its old block is gone. */
static void
finish_moving(struct blocksizes *blocks, struct space *space, uint32_t thread)
{
    struct moving moving;

    if (take_moving(space, thread, &moving))
        drop(blocks, moving.place);
}

static bool
begin_moving(struct blocksizes *blocks, struct space *space,
             const struct block_call *call)
{
    finish_moving(blocks, space, call->thread); /* its second event was lost */
    if (!ARRAY_GROW(space->moving, space->moving_room, space->moving_count + 1))
        return false;
    space->moving[space->moving_count++] =
        (struct moving){.thread = call->thread,
                        .place = blockmap_take(&space->live, call->address),
                        .address = call->address};
    return true;
}

/* The realloc() has failed: the block is still there. */
static bool
keep_moving(struct blocksizes *blocks, struct space *space, uint32_t thread)
{
    struct moving moving;
    uint32_t before;

    if (!take_moving(space, thread, &moving) || moving.place == BLOCKMAP_NONE)
        return true;
    if (!blockmap_set(&space->live, moving.address, moving.place, &before))
        return false;
    if (before != BLOCKMAP_NONE) {
        blocks->sum.replaced++;
        count(blocks, before, false);
    }
    return true;
}

bool
blocksizes_call(struct blocksizes *blocks, const struct block_call *call)
{
    struct space *space = find_space(blocks, call->process);
    bool done = space != NULL;

    blocksizes_pass(blocks, call->time_ns);
    if (!done) {
        blocks->failed = true;
        return false;
    }
    switch (call->kind) {
    case FN_FREE:
        drop(blocks, blockmap_take(&space->live, call->address));
        break;
    case EVENT_REALLOC_FROM:
        done = begin_moving(blocks, space, call);
        break;
    case EVENT_REALLOC_TO:
        finish_moving(blocks, space, call->thread);
        done = allocate(blocks, space, call);
        break;
    case EVENT_REALLOC_FREED:
        finish_moving(blocks, space, call->thread);
        break;
    case EVENT_REALLOC_KEPT:
        done = keep_moving(blocks, space, call->thread);
        break;
    default:
        if (call->kind < FN_COUNT)
            done = allocate(blocks, space, call);
    }
    blocks->failed |= !done;
    return !blocks->failed;
}

void
blocksizes_expect(const struct blocksizes *blocks, const struct block_call *call)
{
    if (call->process < blocks->space_count)
        blockmap_expect(&blocks->spaces[call->process].live, call->address);
    if (call->kind < FN_COUNT && call->kind != FN_FREE)
        blockmap_expect(&blocks->places, call->size);
}

void
blocksizes_expect_soon(const struct blocksizes *blocks, const struct block_call *call)
{
    bool made = call->kind < FN_COUNT && call->kind != FN_FREE;
    uint32_t place = BLOCKMAP_NONE;

    if (made)
        place = blockmap_get(&blocks->places, call->size);
    else if (call->process < blocks->space_count)
        place = blockmap_get(&blocks->spaces[call->process].live, call->address);
    if (place != BLOCKMAP_NONE)
        __builtin_prefetch(&blocks->sizes[place], 1);
}

void
blocksizes_begin(struct blocksizes *blocks, uint64_t bytes)
{
    blocks->sum.before = add_saturating(blocks->sum.before, bytes);
}

void
blocksizes_pass(struct blocksizes *blocks, uint64_t time_ns)
{
    raise_to(&blocks->sum.end,
             blocks->tick_ns <= 1 ? time_ns : time_ns / blocks->tick_ns);
}

static void
forget_block(void *context, uint64_t address, uint32_t place)
{
    (void)address;
    count(context, place, false);
}

void
blocksizes_forget(struct blocksizes *blocks, uint32_t process, uint64_t time_ns)
{
    struct space *space = find_space(blocks, process);

    blocksizes_pass(blocks, time_ns);
    if (space == NULL)
        return;
    for (size_t i = 0; i < space->moving_count; i++)
        drop(blocks, space->moving[i].place);
    space->moving_count = 0;
    blockmap_each(&space->live, forget_block, blocks);
    blockmap_fini(&space->live);
}

/* ---- results ---- */

struct blocksizes_sum
blocksizes_total(const struct blocksizes *blocks)
{
    return blocks->sum;
}

size_t
blocksizes_count(const struct blocksizes *blocks)
{
    return blocks->count;
}

const struct blocksize *
blocksizes_at(const struct blocksizes *blocks, size_t place)
{
    return &blocks->sizes[place];
}

const struct counts *
blocksizes_counts(const struct blocksizes *blocks)
{
    return &blocks->counts;
}

uint64_t
blocksizes_tick_ns(const struct blocksizes *blocks)
{
    return blocks->tick_ns;
}

uint64_t
blocksize_spent(const struct blocksize *size, uint32_t level, uint64_t end)
{
    uint64_t spent = level <= size->levels ? size->spent[level - 1] : 0;

    return size->level == level && end > size->since ? spent + (end - size->since)
                                                     : spent;
}

uint32_t
blocksize_levels(const struct blocksize *size)
{
    return size->levels;
}
