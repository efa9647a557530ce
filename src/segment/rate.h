/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rate of sampling as people write it. */
#ifndef MEMTOP_RATE_H
#define MEMTOP_RATE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads the rate in text[0..length): up to 1 a probability for each word (1e-4, 0.001),
 * above 1 or with K, M or G behind it the mean number of bytes between two samples
 * (512K).  *rate is a probability then.  False if it is neither.
 */
bool sampling_rate_parse(const char *text, size_t length, double *rate);

#endif
