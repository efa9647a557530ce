/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which lines a process's RSS breakdown has, and what is in them. */
#include "config.h"

#include "report/bandlines.h"

#include <stdio.h>

#include "base/i18n.h"

#define UNSURE_SHARE 20   /* shown from 1/20 of the RSS on */

bool
bandline_shown(const struct bands *bands, int line)
{
    if (!bands->known)
        return false;
    switch (line) {
    case BAND_HEAP: /* the total, if the blocks are unknown */
        return bands->bytes[BAND_REQUESTED] == BAND_UNKNOWN;
    case BANDLINE_PSS:
        return bands->pss > 0;
    case BANDLINE_SWAP:
        return bands->swap > 0;
    case BANDLINE_ABSENT:
        return bands->absent > 0;
    case BANDLINE_UNSURE:
        return bands->unsure > bands->rss / UNSURE_SHARE;
    default:
        return true;
    }
}

uint64_t
bandline_bytes(const struct bands *bands, int line)
{
    if (!bands->known)
        return BAND_UNKNOWN;
    switch (line) {
    case BANDLINE_RSS:
        return bands->rss;
    case BANDLINE_PSS:
        return bands->pss;
    case BANDLINE_SWAP:
        return bands->swap;
    case BANDLINE_ABSENT:
        return bands->absent;
    case BANDLINE_UNSURE:
        return bands->unsure;
    default:
        return bands->bytes[line];
    }
}

const char *
bandline_word(int line)
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
        return _("unsure");
    default:
        return band_word((enum band)line);
    }
}

const char *
bandline_meaning(const struct bands *bands, int line)
{
    switch (line) {
    case BANDLINE_RSS:
        return _("all of these");
    case BANDLINE_PSS:
        return _("what is shared, in part");
    case BANDLINE_SWAP:
        return _("not in memory");
    case BANDLINE_ABSENT:
        return _("live blocks, not resident");
    case BANDLINE_UNSURE:
        return _("requested, or mmap");
    default:
        return band_meaning(bands, (enum band)line);
    }
}

char *
bandline_share(char *buf, size_t size, const struct bands *bands, int line)
{
    uint64_t bytes = bandline_bytes(bands, line);
    double share = bands->rss > 0 ? 100 * (double)bytes / (double)bands->rss : 0;

    if (bytes == BAND_UNKNOWN)
        snprintf(buf, size, "%s", "");
    else if (bytes > 0 && share < 0.5)
        snprintf(buf, size, "<1%%");
    else
        snprintf(buf, size, "%.0f%%", share);
    return buf;
}
