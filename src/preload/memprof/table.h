/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table by address, in private memory, for threads that never wait: for blocks
 * that the program's profiles track, and for those of its pools.
 *
 *   level 0   buckets of 8 keys, one cache line each; the values beside them
 *   level 1   four times as many, made when a bucket of level 0 is full
 *   ...
 *
 * A key lies in its bucket in one of the levels or it is not there: what is absent
 * costs one cache line a level, and nothing grows worse with time.
 *
 * A key belongs to one thread at a time, as a block does: nobody looks for an address
 * that another thread enters, and of two that take it one gets it.  A place that is
 * claimed or taken is its thread's alone, key and value, until it is shown (again) or
 * released.
 */
#ifndef MEMTOP_TABLE_H
#define MEMTOP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_LEVELS 10u

struct mt_table {
    size_t value_size;               /* a multiple of 8; the rest zero at first */
    uint32_t used;                   /* levels */
    unsigned char *levels[TABLE_LEVELS];
};

struct mt_place {
    uint64_t *key;                   /* NULL: nowhere */
    void *value;
};

/* Makes the first level; false: no memory.  Keeps errno. */
bool mt_table_start(struct mt_table *table);

/* A place for an address (any but the last two) that has none; nowhere if there is no
   room.  Keeps errno. */
struct mt_place mt_table_claim(struct mt_table *table, uintptr_t address);

/* Ends a claim: it can be found. */
void mt_table_show(struct mt_place place, uintptr_t address);

/* Takes the place of an address, or nowhere. */
struct mt_place mt_table_take(const struct mt_table *table, uintptr_t address);

void mt_table_release(struct mt_place place);

/* Releases all that is shown; nobody must miss any of it. */
void mt_table_clear(const struct mt_table *table);

#endif
