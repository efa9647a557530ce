/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The abbreviations of memusage's options. */
#ifndef MEMTOP_SPELLINGS_H
#define MEMTOP_SPELLINGS_H

#include <argp.h>

/*
 * memusage accepts each of its long options from a certain length on.  argp
 * accepts whatever is unique among all options, and memtop has more of them
 * than memusage, so memusage's abbreviations are options of their own, hidden.
 * Returns table (which ends in zeros) with these added, in static storage.
 */
const struct argp_option *spellings_add(const struct argp_option *table);

#endif
