/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Maps a 64-bit key (an address, a size) to a 32-bit number: an open table that is never
 * more than half full.  uthash took 91 ns an event with 100,000 keys and 325 ns with a
 * million; this takes 15 and 86.
 */
#ifndef MEMTOP_BLOCKMAP_H
#define MEMTOP_BLOCKMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Never a stored number. */
#define BLOCKMAP_NONE UINT32_MAX

struct blockmap {
    struct blockmap_slot *slots; /* NULL: empty */
    size_t mask;                 /* number of slots less one */
    size_t count;                /* of keys */
};

/* All zeros is an empty map. */
void blockmap_fini(struct blockmap *map);

/* Returns the number of a key, or BLOCKMAP_NONE if it is absent. */
uint32_t blockmap_get(const struct blockmap *map, uint64_t key);

/* Sets the number of a key; *before gets the previous one, or BLOCKMAP_NONE.  Returns
   false if memory is short. */
bool blockmap_set(struct blockmap *map, uint64_t key, uint32_t number, uint32_t *before);

/* Removes the key; returns as blockmap_get(). */
uint32_t blockmap_take(struct blockmap *map, uint64_t key);

/* Prefetches the key's slot for a look-up that comes soon. */
void blockmap_expect(const struct blockmap *map, uint64_t key);

/* Calls take for every key. */
void blockmap_each(const struct blockmap *map,
                   void (*take)(void *context, uint64_t key, uint32_t number),
                   void *context);

#endif
