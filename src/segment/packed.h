/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A number of blocks and their bytes in one word, so that one addition counts both: the
 * low 20 bits are the number, the others the bytes.
 *
 * A sum of sizes below 64 KiB that is folded into totals before it reaches some hundred
 * thousand blocks stays far from overflow.  A difference of two sums may be negative in
 * either part.
 */
#ifndef MEMTOP_PACKED_H
#define MEMTOP_PACKED_H

#include <stdint.h>

#define PACKED_BITS 20u

/* One block of that size. */
static inline uint64_t
packed_block(uint64_t size)
{
#if defined __x86_64__
    uint64_t shifted;

    /* One instruction, where gcc copies and shifts. */
    __asm__("imulq %2, %1, %0" : "=r"(shifted) : "r"(size), "i"(1 << PACKED_BITS));
    return shifted + 1;
#else
    return (size << PACKED_BITS) + 1;
#endif
}

static inline uint64_t
packed_count(uint64_t sum)
{
    return sum & ((UINT64_C(1) << PACKED_BITS) - 1);
}

static inline uint64_t
packed_bytes(uint64_t sum)
{
    return sum >> PACKED_BITS;
}

/* Bytes of a difference of two sums. */
static inline int64_t
packed_difference_bytes(int64_t difference)
{
    const uint64_t half = UINT64_C(1) << (PACKED_BITS - 1);
    uint64_t count = (((uint64_t)difference + half) & (2 * half - 1)) - half;

    return (int64_t)((uint64_t)difference - count) / (int64_t)(2 * half);
}

/* The difference with that many bytes and no blocks. */
static inline int64_t
packed_of_bytes(int64_t bytes)
{
    return (int64_t)((uint64_t)bytes << PACKED_BITS);
}

#endif
