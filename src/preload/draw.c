/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random numbers for sampling: no library, no lock, no state but the caller's.
 *
 * Exact except for floating-point rounding: each word is hit independently of the others,
 * whatever blocks the words belong to.
 */
#include "config.h"

#include "preload/draw.h"

#include "segment/sampling.h"

/* The largest distance: more words than a process can allocate in its life. */
#define FAR (UINT64_C(1) << 62)

/* If more hits than this are expected in a block, their number is drawn at once. */
#define MANY 64.0

/* splitmix64 (G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number
   generators, OOPSLA 2014) */
static uint64_t
random_word(struct draw *draw)
{
    uint64_t z = draw->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Uniform in (0, 1), in steps of 2^-53. */
static double
uniform(struct draw *draw)
{
    return ((double)(random_word(draw) >> 12) + 0.5) * 0x1p-52;
}

uint64_t
draw_words(uint64_t size)
{
    return 1 + size / sizeof(void *) + (size % sizeof(void *) != 0);
}

/* Words up to and including the next hit: P(g) = rate (1 - rate)^(g - 1). */
static uint64_t
gap(struct draw *draw)
{
    double words = -sampling_log(uniform(draw)) / draw->decay;

    return words < (double)FAR ? 1 + (uint64_t)words : FAR;
}

/* log(n!) minus Stirling's formula, for n >= 10 (Abramowitz and Stegun, 6.1.41). */
static double
stirling_rest(double n)
{
    double square = (n + 1) * (n + 1);

    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (n + 1);
}

/*
 * Binomial with trials * p >= 10, p <= 1/2: transformed rejection, algorithm BTRS
 * of W. Hoermann, The generation of binomial random variates, J. Stat. Comput.
 * Simul. 46, 1993.
 */
static uint64_t
binomial_half(struct draw *draw, double trials, double p)
{
    double deviation = __builtin_sqrt(trials * p * (1 - p));
    double b = 1.15 + 2.53 * deviation;
    double a = -0.0873 + 0.0248 * b + 0.01 * p;
    double c = trials * p + 0.5;
    double top = (double)(uint64_t)((trials + 1) * p);
    double ratio = p / (1 - p);
    double alpha = (2.83 + 5.1 / b) * deviation;

    for (;;) {
        double u = uniform(draw) - 0.5, v = uniform(draw);
        double us = 0.5 - (u < 0 ? -u : u);
        double k = (2 * a / us + b) * u + c;

        if (k < 0 || k >= trials + 1)
            continue;
        k = (double)(uint64_t)k;
        if (us >= 0.07 && v <= 0.92 - 4.2 / b)
            return (uint64_t)k;
        v = sampling_log(v * alpha / (a / (us * us) + b));
        if (v <= (top + 0.5) * sampling_log((top + 1) / (ratio * (trials - top + 1)))
                     + (trials + 1) * sampling_log((trials - top + 1) / (trials - k + 1))
                     + (k + 0.5) * sampling_log(ratio * (trials - k + 1) / (k + 1))
                     + stirling_rest(top) + stirling_rest(trials - top)
                     - stirling_rest(k) - stirling_rest(trials - k))
            return (uint64_t)k;
    }
}

static uint64_t
binomial(struct draw *draw, uint64_t trials, double p)
{
    if (p <= 0.5)
        return binomial_half(draw, (double)trials, p);
    return trials - binomial_half(draw, (double)trials, 1 - p);
}

void
draw_begin(struct draw *draw, double rate)
{
    draw->rate = rate;
    draw->left = rate <= 0 ? FAR : 1;
    if (rate <= 0 || rate >= 1)
        return;
    draw->decay = sampling_decay(rate);
    draw->left = gap(draw);
}

uint64_t
draw_hits(struct draw *draw, uint64_t words)
{
    double rate = draw->rate;
    uint64_t hits = 0;

    if (rate <= 0 || rate >= 1)
        return rate <= 0 ? 0 : words;
    while (draw->left <= words) {
        words -= draw->left; /* the draws behind a hit are independent of it */
        hits++;
        if ((double)words * rate > MANY && (double)words * (1 - rate) > MANY) {
            hits += binomial(draw, words, rate);
            words = 0;
        }
        draw->left = gap(draw);
    }
    draw->left -= words;
    return hits;
}

uint64_t
draw_kept(struct draw *draw, uint64_t hits, uint64_t words, uint64_t kept)
{
    uint64_t stay = 0;

    if (hits == words)
        return kept;
    for (; hits > 0; hits--, words--) /* one hit at a time, without replacement */
        if (uniform(draw) * (double)words < (double)(kept - stay))
            stay++;
    return stay;
}
