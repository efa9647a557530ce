/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The allocation sites with most memory: a short table after the report, and one line for
   programs. */
#ifndef MEMTOP_SITE_REPORT_H
#define MEMTOP_SITE_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "monitor/tracked.h"
#include "report/site-filter.h"
#include "base/units.h"

#define SITE_REPORT_TOP 10   /* the default */

/* What is reported.  Everything is borrowed. */
struct site_report {
    const struct tracked *tracked;
    unsigned processes; /* whose sites tracked->profile has; 0, 1: its own */
    const struct site_choice *choice; /* NULL: by what was alive at the peak */
    unsigned top;
    enum unit unit;                   /* of the text */
    bool servers_asked;               /* debuginfod servers were asked for names */
};

/* Writes the top call stacks of a choice, and where names can be had that they lack.
   Writes nothing if no allocations were sampled or top is 0, and the reason if the choice
   leaves nothing. */
void report_sites(FILE *out, const struct site_report *report);

/*
 * The same as an object of type "sites" (json.h); its figures are estimates:
 *   processes     if the sites are those of several: how many
 *   rate          probability that a word is sampled
 *   sampled       blocks
 *   lost          blocks that are in no figure because there was no space, and
 *                 lost_bytes
 *   live peak     bytes of all sites: now, and at the peak
 *   mode          if one was chosen: live, peak, allocated, since-mark
 *   list          array of {peak, error, live, live_blocks, allocated,
 *                 allocated_blocks, samples, function, file, line, stack}: bytes and
 *                 blocks.  peak is named bytes in other modes, and may be negative;
 *                 error is one standard error of it, in bytes; samples are those of
 *                 allocated; function is the one with which the text's row begins; stack
 *                 is an array of {function, file, line, inlined}, innermost first, with
 *                 wrappers.  file, line and inlined are absent if unknown or false
 * Returns false if writing failed; true if there was nothing to write.
 */
bool report_json_sites(FILE *out, const struct site_report *report);

#endif
