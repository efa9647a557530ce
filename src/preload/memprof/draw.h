/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which words of a program's blocks are sampled, for profiles of its own (profile.h).
 * Every word is a Bernoulli trial.  The next hit is always known beforehand, as a
 * distance in words: it is geometric, so that a block between two hits costs a
 * subtraction.  (OCaml's Gc.Memprof does it so.)
 */
#ifndef MEMTOP_DRAW_H
#define MEMTOP_DRAW_H

#include <stdint.h>

/* One sequence of hits: of one thread, or made for one block. */
struct draw {
    uint64_t random; /* state of the generator: any number */
    uint64_t left;   /* words until the next hit, that included: whoever has so many
                        and more than the next block may subtract the block's */
    double rate;     /* probability of a word to be hit, in [0, 1] */
    double decay;    /* -log(1 - rate); of the rates 0 and 1 not used */
    uint32_t of;     /* the owner's */
};

/* The words that a block of so many bytes counts as: one for the header, like OCaml. */
uint64_t draw_words(uint64_t size);

/* From here on with another rate. */
void draw_begin(struct draw *draw, double rate);

/* How many of the next words are hit. */
uint64_t draw_hits(struct draw *draw, uint64_t words);

/* Of words of which hits were hit, the first kept ones stay: how many hits do?  Each
   set of words of that size is as likely as any other. */
uint64_t draw_kept(struct draw *draw, uint64_t hits, uint64_t words, uint64_t kept);

#endif
