/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shadow of glibc's heap: one byte for every 32 bytes of address space in which blocks
 * lie.  Two blocks are never nearer than that, so each has a byte of its own, which tells
 * that it is counted, and its size.  The heap itself is as it would be without us.
 *
 *   address >> 24   region, 16 MiB      its slab of 512 KiB is mapped at the first block
 *   address >> 5    byte of the slab
 *
 * A byte is 0 if its block is not counted, and above 0, as a signed number, if the block
 * is an ordinary one: the slack less one, size = room - slack, where room is what the
 * block's head says (head_room).  The others are below 0:
 *
 *   0x80 + 60 * flag + slack   of a block that is sampled (flag 0) or ours (flag 1)
 *   0x80 + 120 + state - 1     the size itself stands in the bytes that follow; the block
 *                              covers them, so no other block uses them
 */
#ifndef MEMTOP_SHADOW_H
#define MEMTOP_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/state.h"

#define SHADOW_UNIT_BITS   5u
#define SHADOW_REGION_BITS 24u
#define SHADOW_SLAB_SIZE   ((size_t)1 << (SHADOW_REGION_BITS - SHADOW_UNIT_BITS))

enum shadow_state {
    SHADOW_NONE = 0,    /* not counted */
    SHADOW_PLAIN = 1,
    SHADOW_SAMPLED = 2, /* BLOCK_SAMPLED */
    SHADOW_OURS = 3     /* BLOCK_OURS */
};

/* A slack is below this; glibc's was never seen above 56. */
#define SHADOW_SLACKS 60u

/* An entry of the table of regions.  Region r is at r % SHADOW_HOMES if that was free
   when it came, else in another table.  bias + (address >> SHADOW_UNIT_BITS) is the
   address of a byte. */
#define SHADOW_HOMES 2048u
struct shadow_region {
    uint64_t region;
    uintptr_t bias;
};

HIDDEN extern struct shadow_region mt_shadow_homes[SHADOW_HOMES];

/* Where the region of an address is, if it is at home. */
static inline const struct shadow_region *
shadow_home(const void *block)
{
    /* A shift and a mask: an entry has 16 bytes. */
    uintptr_t place = (uintptr_t)block >> (SHADOW_REGION_BITS - 4) & (SHADOW_HOMES - 1) << 4;

    _Static_assert(sizeof(struct shadow_region) == 16, "place");
    return (const void *)((const char *)mt_shadow_homes + place);
}

/* Is it at home? */
static inline bool
shadow_is_home(const struct shadow_region *home, const void *block)
{
    return home->region == (uintptr_t)block >> SHADOW_REGION_BITS;
}

static inline unsigned char *
shadow_byte(const struct shadow_region *home, const void *block)
{
    return (unsigned char *)(home->bias + ((uintptr_t)block >> SHADOW_UNIT_BITS));
}

/* The space of a block of glibc's, as its head says.  Its room is what may be used of it:
   its usable size, or 8 bytes more if it has a mapping of its own. */
static inline size_t
head_space(const void *block)
{
    return ((const size_t *)block)[-1] & ~(size_t)7;
}

static inline size_t
head_room(const void *block)
{
    return head_space(block) - sizeof(size_t);
}

/* The byte of an ordinary block is its space less its size less this. */
#define SHADOW_PLAIN_LESS (sizeof(size_t) - 1)

/* Notes the size of a block, with its state.  Returns false if there is no memory for its
   region, which is not asked for again, or the process may not map any.  Keeps errno. */
bool mt_shadow_note(const void *block, uint64_t size, enum shadow_state state);

/* What is known about a block.  A block whose head makes no sense is damaged: something
   has written over its end, or over its neighbour's. */
struct shadow_entry {
    enum shadow_state state;
    bool damaged;           /* then size is 0 */
    uint64_t size;
};
struct shadow_entry mt_shadow_look(const void *block);

/* The same, and forgets the block. */
struct shadow_entry mt_shadow_take(const void *block);

/* Changes the state of a block that is known. */
void mt_shadow_mark(const void *block, enum shadow_state state);

/* Forgets all blocks. */
void mt_shadow_forget(void);

/* Keeps some slabs ready, for a process that is about to forbid itself system calls:
   regions that come later take them. */
void mt_shadow_prepare(void);

#endif
