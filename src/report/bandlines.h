/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The RSS breakdown as lines of a table, for the display and the text report: first the
 * parts, then their sum and what is not included in it.  A line is numbered by its part,
 * or by one of these.
 */
#ifndef MEMTOP_BANDLINES_H
#define MEMTOP_BANDLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/bands.h"

enum bandline {
    BANDLINE_RSS = BAND_COUNT,
    BANDLINE_PSS,
    BANDLINE_SWAP,
    BANDLINE_ABSENT,
    BANDLINE_UNSURE,
    BANDLINE_COUNT
};

/* Is the line shown?  Never if the breakdown is unknown. */
bool bandline_shown(const struct bands *bands, int line);

/* Returns BAND_UNKNOWN if it is unknown. */
uint64_t bandline_bytes(const struct bands *bands, int line);

const char *bandline_word(int line);                                 /* translated */
const char *bandline_meaning(const struct bands *bands, int line);   /* translated */

/* Its share of the RSS: "48%", "<1%", "0%"; "" if unknown. */
char *bandline_share(char *buf, size_t size, const struct bands *bands, int line);

#endif
