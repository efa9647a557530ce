/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bands as lines of a table, for the display and the text report: first the bands,
 * then their sum and what is not part of it.  Lines are numbered: a band, or one of
 * these.
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

/* Whether there is something to say on it; never if the bands are not known. */
bool bandline_shown(const struct bands *bands, int line);

/* BAND_UNKNOWN if it is not known. */
uint64_t bandline_bytes(const struct bands *bands, int line);

const char *bandline_word(int line);                                 /* translated */
const char *bandline_meaning(const struct bands *bands, int line);   /* translated */

/* Its share of the RSS: "48%", "<1%", "0%"; "" if it is not known. */
char *bandline_share(char *buf, size_t size, const struct bands *bands, int line);

#endif
