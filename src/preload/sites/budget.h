/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chooses the sampling rate, so that taking samples costs a process at most a fixed part
 * of the time that passes (a token bucket).  The rates are steps, each half of the one
 * before it.  A rate that the user gave stays as it is.
 *
 * The rate depends only on what happened before a distance is drawn with it, and each
 * block's weight is computed with the rate its distance was drawn with: so the estimates
 * are unbiased whatever the budget decides.
 */
#ifndef MEMTOP_PRELOAD_BUDGET_H
#define MEMTOP_PRELOAD_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* Which rate: a step of the budget's, or the one the user gave. */
#define RATE_STEPS 24u
#define RATE_GIVEN 255u

/* Starts: with the user's rate, or 0 for the budget's. */
void budget_start(double given);

/* The step in force. */
unsigned budget_step(void);

/* The probability that a word is hit at a step. */
double budget_rate(unsigned step);

/* A sample was taken at now (ns), which took cost ns: may change the step. */
void budget_spent(uint64_t now, uint64_t cost);

/* Looks at the clock (ns) between samples: may make the step finer.  Returns whether the
   step is finer than the given one, whose distance is to be drawn anew. */
bool budget_look(uint64_t now, unsigned step);

/* The tables are full: the rate must not be above the returned step's any more.  Returns
   RATE_GIVEN if the rate is the user's. */
unsigned budget_thin(void);

/* How often the step has changed. */
uint64_t budget_changes(void);

#endif
