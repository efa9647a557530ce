/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A lock-free index from hashes to numbers, in private memory: which number has this key?
 * The keys themselves lie elsewhere; the caller compares.  Nothing is ever removed.
 *
 *   level 0   slots, of which a key may use 16: those behind its hash
 *   level 1   four times as many, for keys that found all 16 taken
 *   ...
 *
 * A slot never becomes free again, so a key that is not found before the first free slot
 * is not there.
 */
#ifndef MEMTOP_INDEX_H
#define MEMTOP_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#define INDEX_LEVELS 7u

struct mt_index {
    uint32_t *levels[INDEX_LEVELS]; /* NULL until mapped */
};

/* What the index asks its user about one key. */
struct mt_index_key {
    uint64_t hash;
    bool (*is)(uint32_t number, const void *key); /* has this number the key? */
    uint32_t (*make)(const void *key); /* a number for it, not 0; 0: no space */
    const void *key;
};

/* Returns the number of a key, made if it is new; 0 if there is no space.  Two threads
   may make a number for the same key at once; then one of the two numbers is not used, or
   both are. */
uint32_t mt_index_find(struct mt_index *index, const struct mt_index_key *key);

#endif
