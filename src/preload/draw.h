/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which words of a program's blocks are sampled, for the sites and for its own profiles.
 * Every word is a Bernoulli trial.  The next hit is always known beforehand, as a
 * distance in words with a geometric distribution, so that a block between two hits costs
 * one subtraction.  (OCaml's Gc.Memprof works the same way.)
 */
#ifndef MEMTOP_DRAW_H
#define MEMTOP_DRAW_H

#include <stdint.h>

/* One sequence of hits, for a thread or for a single block. */
struct draw {
    uint64_t random; /* state of the generator: any number */
    uint64_t left;   /* words up to and including the next hit; a block of fewer words may
                        just be subtracted */
    double rate;     /* probability that a word is hit, in [0, 1] */
    double decay;    /* -log(1 - rate); unused if the rate is 0 or 1 */
    uint32_t of;     /* for the owner's use */
};

/* The number of words that a block of size bytes counts as: one more for the header, as
   in OCaml. */
uint64_t draw_words(uint64_t size);

/* Starts the sequence over with another rate. */
void draw_begin(struct draw *draw, double rate);

/* Returns how many of the next words are hit. */
uint64_t draw_hits(struct draw *draw, uint64_t words);

/* hits of the words of a block were hit and only the first kept words stay: returns how
   many hits are among them.  Each set of that many words is equally likely. */
uint64_t draw_kept(struct draw *draw, uint64_t hits, uint64_t words, uint64_t kept);

#endif
