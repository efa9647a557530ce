/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes and counts as people write them, the way back from units.h. */
#ifndef MEMTOP_QUANTITY_H
#define MEMTOP_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A size that fills text: "64M", "1.5G", "100KiB", "2MB", "4096".  K, M, G, T, P
 * and E, in either case, alone or with iB, are powers of 1024; with B alone
 * powers of 1000, as in coreutils.  Point and comma both begin a fraction, of at
 * most nine digits; parts of a byte are dropped.  False, and *bytes unchanged,
 * for anything else and from 2^64 on.
 */
bool quantity_size(const char *text, uint64_t *bytes);

/* The same for the beginning of text: *end is what follows it. */
bool quantity_size_prefix(const char *text, uint64_t *bytes, const char **end);

/* A count: digits, and k, M, G... for powers of 1000: "250000", "1.5M". */
bool quantity_count(const char *text, uint64_t *count);

/* Decimal seconds, point or comma, up to 1000 s, in nanoseconds: "0.5", "2". */
bool quantity_seconds(const char *text, int64_t *ns);

/* A moment: "2.5" or "2.5s" seconds, "140ms", "10us", "7ns", "3m", "2h". */
bool quantity_moment(const char *text, uint64_t *ns);

#endif
