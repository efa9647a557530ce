/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Linear probing.  Removal leaves no tombstone: the entries behind it move up.  Keys are
 * a program's addresses and sizes, usually evenly spaced; a multiplication (Knuth, TAOCP
 * 3, 6.4) whose upper half is used spreads them.
 */
#include "config.h"

#include "monitor/blockmap.h"

#include <stdlib.h>

#define FIRST_SLOTS 64

struct blockmap_slot {
    uint64_t key;
    uint32_t number; /* plus 1; 0: free */
};

static size_t
home(const struct blockmap *map, uint64_t key)
{
    uint64_t spread = key * UINT64_C(0x9e3779b97f4a7c15);

    return (size_t)(spread >> 32 ^ spread >> 15) & map->mask;
}

/* Returns the slot of the key, or the free slot where it belongs. */
static size_t
find(const struct blockmap *map, uint64_t key)
{
    size_t at = home(map, key);

    while (map->slots[at].number != 0 && map->slots[at].key != key)
        at = (at + 1) & map->mask;
    return at;
}

static bool
grow(struct blockmap *map)
{
    struct blockmap old = *map;
    size_t room = old.slots == NULL ? 0 : old.mask + 1;
    size_t wanted = room == 0 ? FIRST_SLOTS : 2 * room;

    map->slots = calloc(wanted, sizeof *map->slots);
    if (map->slots == NULL) {
        *map = old;
        return false;
    }
    map->mask = wanted - 1;
    for (size_t i = 0; i < room; i++)
        if (old.slots[i].number != 0)
            map->slots[find(map, old.slots[i].key)] = old.slots[i];
    free(old.slots);
    return true;
}

void
blockmap_fini(struct blockmap *map)
{
    free(map->slots);
    *map = (struct blockmap){0};
}

uint32_t
blockmap_get(const struct blockmap *map, uint64_t key)
{
    return map->slots == NULL ? BLOCKMAP_NONE : map->slots[find(map, key)].number - 1;
}

bool
blockmap_set(struct blockmap *map, uint64_t key, uint32_t number, uint32_t *before)
{
    struct blockmap_slot *slot;

    if ((map->slots == NULL || map->count > map->mask / 2) && !grow(map))
        return false;
    slot = &map->slots[find(map, key)];
    *before = slot->number - 1;
    map->count += slot->number == 0;
    *slot = (struct blockmap_slot){key, number + 1};
    return true;
}

/* Moves up entries behind the hole that are not in their first place. */
static void
close_hole(struct blockmap *map, size_t hole)
{
    size_t at = hole;

    for (;;) {
        at = (at + 1) & map->mask;
        if (map->slots[at].number == 0)
            break;
        if (((at - home(map, map->slots[at].key)) & map->mask)
            >= ((at - hole) & map->mask)) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole].number = 0;
}

uint32_t
blockmap_take(struct blockmap *map, uint64_t key)
{
    size_t at;
    uint32_t number;

    if (map->slots == NULL)
        return BLOCKMAP_NONE;
    at = find(map, key);
    number = map->slots[at].number - 1;
    if (number == BLOCKMAP_NONE)
        return number;
    close_hole(map, at);
    map->count--;
    return number;
}

void
blockmap_expect(const struct blockmap *map, uint64_t key)
{
    if (map->slots != NULL)
        __builtin_prefetch(&map->slots[home(map, key)], 1);
}

void
blockmap_each(const struct blockmap *map,
              void (*take)(void *context, uint64_t key, uint32_t number), void *context)
{
    for (size_t i = 0; map->slots != NULL && i <= map->mask; i++)
        if (map->slots[i].number != 0)
            take(context, map->slots[i].key, map->slots[i].number - 1);
}
