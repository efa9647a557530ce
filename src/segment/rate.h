/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sampling rate as people write it. */
#ifndef MEMTOP_RATE_H
#define MEMTOP_RATE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads the rate in text[0..length).  Up to 1 it is the probability of each word (1e-4,
 * 0.001); above 1, or followed by K, M or G, it is the mean number of bytes between two
 * samples (512K).  *rate is always a probability.  Returns false if it is neither.
 */
bool sampling_rate_parse(const char *text, size_t length, double *rate);

#endif
