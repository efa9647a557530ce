/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses sizes and counts as people write them; units.h formats them. */
#ifndef MEMTOP_QUANTITY_H
#define MEMTOP_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Parses a size that is all of text: "64M", "1.5G", "100KiB", "2MB", "4096".  K, M, G, T,
 * P and E, in either case, alone or with iB, are powers of 1024; with B alone powers of
 * 1000, as in coreutils.  Point or comma begins a fraction of at most nine digits;
 * fractions of a byte are dropped.  Returns false, with *bytes unchanged, for anything
 * else and from 2^64 on.
 */
bool quantity_size(const char *text, uint64_t *bytes);

/* The same for the beginning of text: *end is what follows it. */
bool quantity_size_prefix(const char *text, uint64_t *bytes, const char **end);

/* Parses a count: digits, and k, M, G... for powers of 1000: "250000", "1.5M". */
bool quantity_count(const char *text, uint64_t *count);

/* Parses length digits of that base (10 or 16) and nothing else.  Returns false, with
 *number unchanged, for anything else and from 2^64 on. */
bool quantity_digits(const char *text, size_t length, unsigned base, uint64_t *number);

/* Parses decimal seconds, point or comma, up to 1000 s, into nanoseconds: "0.5", "2". */
bool quantity_seconds(const char *text, int64_t *ns);

/* Parses a time: "2.5" or "2.5s" seconds, "140ms", "10us", "7ns", "3m", "2h". */
bool quantity_moment(const char *text, uint64_t *ns);

#endif
