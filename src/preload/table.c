/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables by address.  A key is 0 (vacant), TAKEN, or an address with all bits inverted,
 * so that small numbers can be addresses too.  A key changes by one atomic operation; the
 * value beside it is written by the thread that holds the place.
 *
 * Memory comes from the kernel, where untouched pages cost nothing.  It is never given
 * back: a signal handler that forks may have interrupted a thread that uses it.
 */
#include "config.h"

#include "preload/table.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/state.h"
#include "preload/windows.h"

#define BUCKET       8u
#define TAKEN        UINT64_C(1)
#define FIRST_BITS   9u  /* log2 of the buckets of level 0: 4096 keys */
#define LEVEL_BITS   2u  /* log2 of how many times more each next level has */

/* 2^64 / golden ratio, as in trailer.h. */
#define MIX UINT64_C(0x9e3779b97f4a7c15)

static unsigned
level_bits(unsigned level)
{
    return FIRST_BITS + level * LEVEL_BITS;
}

static size_t
level_places(unsigned level)
{
    return (size_t)BUCKET << level_bits(level);
}

static size_t
level_bytes(const struct mt_table *table, unsigned level)
{
    return level_places(level) * (sizeof(uint64_t) + table->value_size);
}

static uint64_t *
bucket_of(const struct mt_table *table, unsigned level, uintptr_t address)
{
    uint64_t *keys = (uint64_t *)(void *)table->levels[level];

    return keys + ((address * MIX) >> (64 - level_bits(level))) * BUCKET;
}

static uint64_t
key_of(uintptr_t address)
{
    return ~(uint64_t)address;
}

static struct mt_place
place_at(const struct mt_table *table, unsigned level, uint64_t *key)
{
    unsigned char *base = table->levels[level];
    size_t index = (size_t)(key - (uint64_t *)(void *)base);

    return (struct mt_place){
        key, base + level_places(level) * sizeof *key + index * table->value_size
    };
}

static unsigned
levels_used(const struct mt_table *table)
{
    return __atomic_load_n(&table->used, __ATOMIC_ACQUIRE);
}

/* Makes a level; several threads may find at once that it is missing. */
static bool
add_level(struct mt_table *table, unsigned level)
{
    size_t bytes = level_bytes(table, level);
    unsigned char *none = NULL, *base;
    uint32_t before = level;

    if (mt_sandboxed)
        return false;
    base = (unsigned char *)syscall(SYS_mmap, mt_far_place(bytes), bytes,
                                    PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return levels_used(table) > level;
    if (!__atomic_compare_exchange_n(&table->levels[level], &none, base, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        syscall(SYS_munmap, base, bytes);
    __atomic_compare_exchange_n(&table->used, &before, level + 1, false, __ATOMIC_RELEASE,
                                __ATOMIC_RELAXED);
    return true;
}

bool
mt_table_start(struct mt_table *table)
{
    int saved_errno = errno;
    bool there = levels_used(table) > 0 || add_level(table, 0);

    errno = saved_errno;
    return there;
}

/* Changes a key of a bucket from one value to another; NULL if it is not there. */
static uint64_t *
change_in(uint64_t *bucket, uint64_t from, uint64_t to)
{
    for (unsigned i = 0; i < BUCKET; i++) {
        uint64_t seen = __atomic_load_n(&bucket[i], __ATOMIC_RELAXED);
        if (seen == from
            && __atomic_compare_exchange_n(&bucket[i], &seen, to, false, __ATOMIC_ACQUIRE,
                                           __ATOMIC_RELAXED))
            return &bucket[i];
    }
    return NULL;
}

struct mt_place
mt_table_claim(struct mt_table *table, uintptr_t address)
{
    unsigned level = 0;
    int saved_errno = errno;

    for (;; level++) {
        uint64_t *found;
        if (level == TABLE_LEVELS
            || (level >= levels_used(table) && !add_level(table, level)))
            break;
        found = change_in(bucket_of(table, level, address), 0, TAKEN);
        if (found != NULL)
            return place_at(table, level, found);
    }
    errno = saved_errno;
    return (struct mt_place){NULL, NULL};
}

void
mt_table_show(struct mt_place place, uintptr_t address)
{
    __atomic_store_n(place.key, key_of(address), __ATOMIC_RELEASE);
}

struct mt_place
mt_table_take(const struct mt_table *table, uintptr_t address)
{
    for (unsigned level = levels_used(table); level-- > 0;) {
        uint64_t *found =
            change_in(bucket_of(table, level, address), key_of(address), TAKEN);
        if (found != NULL)
            return place_at(table, level, found);
    }
    return (struct mt_place){NULL, NULL};
}

void
mt_table_release(struct mt_place place)
{
    __atomic_store_n(place.key, 0, __ATOMIC_RELEASE);
}

void
mt_table_clear(const struct mt_table *table)
{
    for (unsigned level = 0; level < levels_used(table); level++) {
        uint64_t *keys = (uint64_t *)(void *)table->levels[level];
        for (size_t i = 0; i < level_places(level); i++) {
            uint64_t key = __atomic_load_n(&keys[i], __ATOMIC_RELAXED);
            if (key > TAKEN)
                __atomic_compare_exchange_n(&keys[i], &key, 0, false, __ATOMIC_RELEASE,
                                            __ATOMIC_RELAXED);
        }
    }
}
