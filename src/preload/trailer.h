/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The trailer: the last 8 usable bytes of a counted block hold the size that was asked
 * for.
 *
 *   block                                     block + usable
 *     |  requested bytes   | slack  |  trailer  |
 *
 * It is kept as size XOR (address * TRAILER_MIX).  Decoded, the trailer of a counted
 * block gives a number that fits its usable size; anything else found there (zeros, text,
 * a pointer, the trailer of another address) gives a number that does not, except in one
 * case in 2^64 / usable size.  A later owner of the memory cannot mistake it either: the
 * trailer is cleared before the real free.
 *
 * In a dormant process the key has a salt, a different one for each awake period: a block
 * freed while asleep keeps its trailer, which must not be believed for a block made there
 * later.
 */
#ifndef MEMTOP_TRAILER_H
#define MEMTOP_TRAILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TRAILER_BYTES     8u

/* 2^64 / golden ratio: spreads the low bits of an address over the high ones
   (Knuth, TAOCP 3, 6.4, multiplicative hashing). */
#define TRAILER_MIX UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t
trailer_key(const void *block, uint64_t salt)
{
    return (uintptr_t)block * TRAILER_MIX ^ salt;
}

/* The salt of awake period number count (0: not dormant).  The multiplication makes any
   two of the first millions differ in their high bits, where sizes have none. */
static inline uint64_t
trailer_salt(uint64_t count)
{
    return count * TRAILER_MIX;
}

/* The highest bits of the size may carry flags.  trailer_read() then rejects it as too
   large. */
#define TRAILER_FLAGS_SHIFT 62u

static inline void *
trailer_place(void *block, size_t usable)
{
    return (unsigned char *)block + usable - TRAILER_BYTES;
}

static inline void
trailer_write(void *block, size_t usable, uint64_t size, uint64_t salt)
{
    uint64_t word = size ^ trailer_key(block, salt);

    memcpy(trailer_place(block, usable), &word, sizeof word);
}

static inline void
trailer_clear(void *block, size_t usable)
{
    memset(trailer_place(block, usable), 0, TRAILER_BYTES);
}

/* Decodes the size; false if the block has no valid trailer.  usable must be at least
   TRAILER_BYTES. */
static inline bool
trailer_read(void *block, size_t usable, uint64_t *size, uint64_t salt)
{
    uint64_t word;

    memcpy(&word, trailer_place(block, usable), sizeof word);
    *size = word ^ trailer_key(block, salt);
    return *size <= usable - TRAILER_BYTES;
}

/* The same for a trailer with flags; *size is returned without them. */
static inline bool
trailer_read_flagged(void *block, size_t usable, uint64_t *size, unsigned *flags,
                     uint64_t salt)
{
    trailer_read(block, usable, size, salt);
    *flags = (unsigned)(*size >> TRAILER_FLAGS_SHIFT);
    *size &= (UINT64_C(1) << TRAILER_FLAGS_SHIFT) - 1;
    return *flags != 0 && *size <= usable - TRAILER_BYTES;
}

#endif
