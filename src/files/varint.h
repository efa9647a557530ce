/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Encodes numbers in as few bytes as they need: seven bits per byte, lowest first, with
   the top bit set in all bytes but the last (LEB128). */
#ifndef MEMTOP_VARINT_H
#define MEMTOP_VARINT_H

#include <stdbool.h>
#include <stdint.h>

#define VARINT_MAX 10 /* most bytes of a number */

static inline unsigned char *
varint_put(unsigned char *at, uint64_t value)
{
    while (value >= 128) {
        *at++ = (unsigned char)(value | 128);
        value >>= 7;
    }
    *at++ = (unsigned char)value;
    return at;
}

/* Reads a number at *at, which moves on.  Returns false if it is not complete before
   end. */
static inline bool
varint_get(const unsigned char **at, const unsigned char *end, uint64_t *value)
{
    uint64_t read = 0;

    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        unsigned char byte = *(*at)++;

        read |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *value = read;
            return true;
        }
    }
    return false;
}

/* Maps signed numbers to unsigned ones, small ones of either sign to small ones. */
static inline uint64_t
zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t
unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

#endif
