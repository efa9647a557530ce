/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The trailer: the last 8 usable bytes of a block of ours hold the size that
 * was asked for.
 *
 *   block                                     block + usable
 *     |  requested bytes   | slack  |  trailer  |
 *
 *   bits  0-46  requested size
 *   bit   47    reserved: the block is sampled
 *   bit   48    1, so that memory full of zeros is no trailer
 *   bits 49-63  check, from the address and the size
 *
 * A block is ours if the check holds and the size fits.  Whoever owns the
 * memory next cannot mistake it: the trailer is cleared before the real free.
 */
#ifndef MEMTOP_TRAILER_H
#define MEMTOP_TRAILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TRAILER_BYTES     8u
#define TRAILER_SIZE_MASK ((UINT64_C(1) << 47) - 1)

/* 2^64 / golden ratio: spreads the low bits of an address over the high ones
   (Knuth, TAOCP 3, 6.4, multiplicative hashing). */
#define TRAILER_MIX UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t
trailer_word(const void *block, uint64_t size)
{
    uint64_t mixed = ((uintptr_t)block + size) * TRAILER_MIX;

    return ((mixed >> 48 | 1) << 48) | size;
}

static inline void *
trailer_place(void *block, size_t usable)
{
    return (unsigned char *)block + usable - TRAILER_BYTES;
}

static inline void
trailer_write(void *block, size_t usable, uint64_t size)
{
    uint64_t word = trailer_word(block, size);

    memcpy(trailer_place(block, usable), &word, sizeof word);
}

static inline void
trailer_clear(void *block, size_t usable)
{
    memset(trailer_place(block, usable), 0, TRAILER_BYTES);
}

/* Reads the size back; false if the block has no valid trailer.  usable must
   be at least TRAILER_BYTES. */
static inline bool
trailer_read(void *block, size_t usable, uint64_t *size)
{
    uint64_t word;

    memcpy(&word, trailer_place(block, usable), sizeof word);
    *size = word & TRAILER_SIZE_MASK;
    return word == trailer_word(block, *size) && *size <= usable - TRAILER_BYTES;
}

#endif
