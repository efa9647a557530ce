/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The arithmetic of sampling, without libm, which the watched process may not have.  Each
 * word of a block is hit with probability rate.  The words of a block are its bytes in
 * words of 8, rounded up, and one more, so that an empty block can be hit too.
 */
#ifndef MEMTOP_SAMPLING_H
#define MEMTOP_SAMPLING_H

#include <stdint.h>
#include <string.h>

#define SAMPLING_WORD 8u

/* Bytes of a block's words; does not overflow for sizes of blocks that exist. */
static inline uint64_t
sampling_span(uint64_t size)
{
    return (size + 2 * SAMPLING_WORD - 1) & ~(uint64_t)(SAMPLING_WORD - 1);
}

/* 2 atanh(s) for |s| <= 0.2, by its series; the first omitted term is below 1e-13. */
static inline double
sampling_twice_atanh(double s)
{
    double square = s * s, sum = 0;

    for (int odd = 17; odd > 0; odd -= 2)
        sum = sum * square + 2.0 / odd;
    return s * sum;
}

/* The natural logarithm of a normal x > 0: x = m * 2^e with m in [0.707, 1.414), and
   log m = 2 atanh((m - 1) / (m + 1)).  Source: Abramowitz and Stegun, 4.1.27. */
static inline double
sampling_log(double x)
{
    const double ln2 = 0.69314718055994530942;
    uint64_t bits, mantissa;
    int64_t exponent;
    double m;

    memcpy(&bits, &x, sizeof bits);
    exponent = (int64_t)(bits >> 52) - 1023;
    mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | (UINT64_C(1023) << 52);
    memcpy(&m, &mantissa, sizeof m);
    if (m > 1.41421356237309504880) {
        m /= 2;
        exponent++;
    }
    return (double)exponent * ln2 + sampling_twice_atanh((m - 1) / (m + 1));
}

/* -log(1 - rate) for rates in (0, 1): how fast the probability of no hit falls. */
static inline double
sampling_decay(double rate)
{
    return rate < 0.25 ? -sampling_twice_atanh(-rate / (2 - rate))
                       : -sampling_log(1 - rate);
}

/* 1 - exp(-x) for x >= 0.  Small x use the series; larger ones are reached by f(2x) =
   f(x) (2 - f(x)), in which nothing cancels. */
static inline double
sampling_chance(double x)
{
    double chance = 0;
    int doublings = 0;

    if (x >= 40)
        return 1;
    for (; x > 0.0625; x /= 2)
        doublings++;
    for (int term = 9; term > 0; term--)
        chance = x / term * (1 - chance);
    while (doublings-- > 0)
        chance *= 2 - chance;
    return chance;
}

/* The number of objects a sampled block stands for: 1 / (1 - (1 - rate)^words).  decay is
   sampling_decay(rate), or 0 if the rate is 1. */
static inline double
sampling_weight(double decay, uint64_t size)
{
    if (decay == 0)
        return 1;
    return 1 / sampling_chance(decay * (double)(sampling_span(size) / SAMPLING_WORD));
}

#endif
