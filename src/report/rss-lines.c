/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which lines a process's RSS breakdown has, and what is in them. */
#include "config.h"

#include "report/rss-lines.h"

#include <stdio.h>

#include "base/i18n.h"

#define UNSURE_SHARE 20   /* shown from 1/20 of the RSS on */

bool
rss_line_shown(const struct rss_breakdown *breakdown, int line)
{
    if (!breakdown->known)
        return false;
    switch (line) {
    case BAND_HEAP: /* the total, if the blocks are unknown */
        return breakdown->bytes[BAND_REQUESTED] == BAND_UNKNOWN;
    case BANDLINE_PSS:
        return breakdown->pss > 0;
    case BANDLINE_SWAP:
        return breakdown->swap > 0;
    case BANDLINE_ABSENT:
        return breakdown->absent > 0;
    case BANDLINE_UNSURE:
        return breakdown->unsure > breakdown->rss / UNSURE_SHARE;
    default:
        return true;
    }
}

uint64_t
rss_line_bytes(const struct rss_breakdown *breakdown, int line)
{
    if (!breakdown->known)
        return BAND_UNKNOWN;
    switch (line) {
    case BANDLINE_RSS:
        return breakdown->rss;
    case BANDLINE_PSS:
        return breakdown->pss;
    case BANDLINE_SWAP:
        return breakdown->swap;
    case BANDLINE_ABSENT:
        return breakdown->absent;
    case BANDLINE_UNSURE:
        return breakdown->unsure;
    default:
        return breakdown->bytes[line];
    }
}

const char *
rss_line_word(int line)
{
    switch (line) {
    case BANDLINE_RSS:
        return _("RSS");
    case BANDLINE_PSS:
        return _("PSS");
    case BANDLINE_SWAP:
        return _("swap");
    case BANDLINE_ABSENT:
        /* TRANSLATORS: live memory that was never touched, or is swapped out. */
        return _("absent");
    case BANDLINE_UNSURE:
        /* TRANSLATORS: how much of one band may be another's. */
        return _("uncertain");
    default:
        return band_word((enum band)line);
    }
}

const char *
rss_line_meaning(const struct rss_breakdown *breakdown, int line)
{
    switch (line) {
    case BANDLINE_RSS:
        return _("all of these");
    case BANDLINE_PSS:
        return _("shared pages divided");
    case BANDLINE_SWAP:
        return _("not in memory");
    case BANDLINE_ABSENT:
        return _("live blocks, not resident");
    case BANDLINE_UNSURE:
        return _("requested, or mmap");
    default:
        return band_meaning(breakdown, (enum band)line);
    }
}

char *
rss_line_share(char *buf, size_t size, const struct rss_breakdown *breakdown, int line)
{
    uint64_t bytes = rss_line_bytes(breakdown, line);
    double share = breakdown->rss > 0 ? 100 * (double)bytes / (double)breakdown->rss : 0;

    if (bytes == BAND_UNKNOWN)
        snprintf(buf, size, "%s", "");
    else if (bytes > 0 && share < 0.5)
        snprintf(buf, size, "<1%%");
    else
        snprintf(buf, size, "%.0f%%", share);
    return buf;
}
