/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mark, and differences from it as text.  Differences are exact however large the
 * numbers are, and carry their sign.
 */
#ifndef MEMTOP_TUI_SINCE_H
#define MEMTOP_TUI_SINCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/rss-breakdown.h"
#include "base/units.h"
#include "segment/reader.h"

/* The counters when the mark was set. */
struct mark {
    int64_t run_ns;
    unsigned generation;      /* of the process's image: another image counts anew */
    struct snapshot now;
    struct histogram sizes;
    struct rss_breakdown breakdown;
};

/* A number and what it was at the mark. */
struct amount {
    uint64_t now, then;
    bool since;               /* show the difference; else `then` is unused */
};

/* The value shown, without its sign. */
uint64_t amount_size(const struct amount *amount);

/* Like units_bytes(), units_count() and units_count_compact(); a difference has its sign
   in front: "+12.00 MiB", "-3", "0". */
char *amount_bytes(char *buf, size_t size, const struct amount *amount, enum unit unit);
char *amount_count(char *buf, size_t size, const struct amount *amount);
char *amount_count_compact(char *buf, size_t size, const struct amount *amount);

#endif
