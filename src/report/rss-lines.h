/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The RSS breakdown as lines of a table, for the display and the text report: first the
 * parts, then their sum and what is not included in it.  A line is numbered by its part,
 * or by one of these.
 */
#ifndef MEMTOP_RSS_LINES_H
#define MEMTOP_RSS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/rss-breakdown.h"

enum bandline {
    BANDLINE_RSS = BAND_COUNT,
    BANDLINE_PSS,
    BANDLINE_SWAP,
    BANDLINE_ABSENT,
    BANDLINE_UNSURE,
    BANDLINE_COUNT
};

/* Is the line shown?  Never if the breakdown is unknown. */
bool rss_line_shown(const struct rss_breakdown *breakdown, int line);

/* Returns BAND_UNKNOWN if it is unknown. */
uint64_t rss_line_bytes(const struct rss_breakdown *breakdown, int line);

/* Translated. */
const char *rss_line_word(int line);
const char *rss_line_meaning(const struct rss_breakdown *breakdown, int line);

/* Its share of the RSS: "48%", "<1%", "0%"; "" if unknown. */
char *rss_line_share(char *buf, size_t size, const struct rss_breakdown *breakdown,
                     int line);

#endif
