/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shadow of glibc's heap: one byte for every 32 bytes of address space in which
 * blocks lie.  Two blocks are never nearer than that, so each has a byte of its own,
 * which tells that it is counted, and its size.  The heap itself is as it would be
 * without us.
 *
 *   address >> 24   region, 16 MiB      its slab of 512 KiB is mapped at the first block
 *   address >> 5    byte of the slab
 *
 * A byte is 0 if its block is not counted.  If it is above 0, as a signed number, the
 * block is an ordinary one, and the byte is what its space has beyond its size; the space
 * is what the block's head says (head_space), 8 bytes more than can be used.  The others
 * are below 0:
 *
 *   0x80 + 60 * flag + slack   of a block that is sampled (flag 0) or ours (flag 1); the
 *                              slack is what can be used beyond the size
 *   0x80 + 120 + state - 1     the size itself stands in the bytes that follow; the block
 *                              covers them, so no other block uses them
 */
#ifndef MEMTOP_SHADOW_H
#define MEMTOP_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* The largest byte of an ordinary block. */
#define SHADOW_PLAIN_MAX 127u

/* The slack of a sampled block, or of ours, is below this; glibc's was never seen above
   56. */
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

/* Hides from the compiler what a value was made of, which would make it keep a copy of
   the address where its two shifts are cheaper. */
static inline uintptr_t
anew(uintptr_t value)
{
    __asm__("" : "+r"(value));
    return value;
}

/* Where the region of an address is, if it is at home: a place in the table, in bytes. */
static inline uintptr_t
shadow_place(const void *block)
{
    _Static_assert(sizeof(struct shadow_region) == 16, "a shift and a mask");
    return (uintptr_t)block >> (SHADOW_REGION_BITS - 4) & (SHADOW_HOMES - 1) << 4;
}

static inline const struct shadow_region *
shadow_entry_at(uintptr_t place)
{
    return (const void *)((const char *)mt_shadow_homes + anew(place));
}

/* Is it at home? */
static inline bool
shadow_is_home(uintptr_t place, const void *block)
{
    return shadow_entry_at(place)->region == (uintptr_t)block >> SHADOW_REGION_BITS;
}

static inline unsigned char *
shadow_byte(const struct shadow_region *entry, const void *block)
{
    return (unsigned char *)(entry->bias + ((uintptr_t)block >> SHADOW_UNIT_BITS));
}

/* The space of a block of glibc's, as its head says.  Its room is what may be used of it:
   its usable size, or 8 bytes more if it has a mapping of its own. */
static inline size_t
head_space(const void *block)
{
    return ((const size_t *)block)[-1] & ~(size_t)7;
}

/* Does it have a mapping of its own? */
static inline bool
head_is_mapped(const void *block)
{
    return (((const size_t *)block)[-1] & 2) != 0;
}

static inline size_t
head_room(const void *block)
{
    return head_space(block) - sizeof(size_t);
}

/* A size from SHADOW_LARGE on stands in the bytes that follow as well, unless the block
   begins at the end of a slab: a head that somebody has written over may claim any size.
 */
#define SHADOW_LARGE 65536u

static inline bool
shadow_has_bytes(const void *block)
{
    size_t byte = (uintptr_t)block >> SHADOW_UNIT_BITS & (SHADOW_SLAB_SIZE - 1);

    return likely(byte + sizeof(uint64_t) < SHADOW_SLAB_SIZE);
}

static inline void
shadow_note_large(const void *block, unsigned char *byte, uint64_t size)
{
    if (shadow_has_bytes(block))
        memcpy(byte + 1, &size, sizeof size);
}

static inline bool
shadow_check_large(const void *block, const unsigned char *byte, uint64_t size)
{
    return !shadow_has_bytes(block) || memcmp(byte + 1, &size, sizeof size) == 0;
}

/* Notes the size of an ordinary block whose region is at home, and reads its space; false
   if it is not such a block.  large: the size may be SHADOW_LARGE or more. */
static inline __attribute__((always_inline)) bool
shadow_note_plain(const void *block, size_t size, bool large, size_t *space)
{
    unsigned char *byte;
    uintptr_t place = shadow_place(block);
    size_t beyond;

    if (unlikely(!shadow_is_home(place, block)))
        return false;
    *space = head_space(block);
    beyond = *space - size;
    if (unlikely(beyond > SHADOW_PLAIN_MAX))
        return false;
    byte = shadow_byte(shadow_entry_at(place), block);
    if (large && size >= SHADOW_LARGE)
        shadow_note_large(block, byte, size);
    *byte = (unsigned char)beyond;
    return true;
}

/* The same for a block that goes, if its size is below a limit: forgets it, and returns
   its size and space.  The size of a damaged block is beyond all limits.  Nothing but the
   shadow is read unless it knows the block, and it does not know NULL, the arena, nor
   what is not glibc's.  large: the limit is beyond SHADOW_LARGE; then blocks with a
   mapping of their own are left out. */
static inline __attribute__((always_inline)) bool
shadow_take_plain(const void *block, size_t limit, bool large, size_t *size,
                  size_t *space)
{
    uintptr_t place = shadow_place(block);
    signed char *byte;

    if (unlikely(!shadow_is_home(place, block)))
        return false;
    byte = (signed char *)shadow_byte(shadow_entry_at(place), block);
    if (unlikely(*byte <= 0))
        return false;
    *space = head_space(block);
    *size = *space - (size_t)*byte;
    if (unlikely(*size >= limit))
        return false;
    if (large
        && (unlikely(head_is_mapped(block))
            || (*size >= SHADOW_LARGE
                && !shadow_check_large(block, (unsigned char *)byte, *size))))
        return false;
    if (large && *size >= SHADOW_LARGE)
        shadow_note_large(block, (unsigned char *)byte, 0);
    *byte = 0;
    return true;
}

/* Notes the size of a block, with its state; it may be noted already.  Returns false if
   there is no memory for its region, which is not asked for again, or the process may not
   map any.  Keeps errno. */
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

/* Forgets all blocks. */
void mt_shadow_forget(void);

/* Keeps some slabs ready, for a process that is about to forbid itself system calls:
   regions that come later take them. */
void mt_shadow_prepare(void);

#endif
