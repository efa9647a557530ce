/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A lock-free table by address, in private memory: for blocks that the sites or the
 * program's profiles follow, and for those of its pools.
 *
 *   level 0   buckets of 8 keys, one cache line each; the values beside them
 *   level 1   four times as many, made when a bucket of level 0 is full
 *   ...
 *
 * A key lies in its bucket in one of the levels or nowhere: looking for an absent key
 * costs one cache line a level, and lookups do not get slower with time.
 *
 * A key belongs to one thread at a time, as a block does: nobody looks for an address
 * that another thread is entering, and if two threads take it, one gets it.  A place that
 * is claimed or taken belongs to its thread alone, key and value, until it is shown
 * (again) or released.
 */
#ifndef MEMTOP_TABLE_H
#define MEMTOP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_LEVELS 10u

struct mt_table {
    size_t value_size;               /* a multiple of 8; the other fields start as 0 */
    uint32_t used;                   /* levels */
    unsigned char *levels[TABLE_LEVELS];
};

struct mt_place {
    uint64_t *key;                   /* NULL: no place */
    void *value;
};

/* Makes the first level; false if there is no memory.  Keeps errno. */
bool mt_table_start(struct mt_table *table);

/* Claims a place for an address (any but the last two) that has none.  The key is NULL if
   there is no space.  Keeps errno. */
struct mt_place mt_table_claim(struct mt_table *table, uintptr_t address);

/* Ends a claim: the address can be found now. */
void mt_table_show(struct mt_place place, uintptr_t address);

/* Takes the place of an address; the key is NULL if it has none. */
struct mt_place mt_table_take(const struct mt_table *table, uintptr_t address);

void mt_table_release(struct mt_place place);

/* Releases all places that are shown; no thread may need any of them. */
void mt_table_clear(const struct mt_table *table);

#endif
