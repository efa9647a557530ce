/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The abbreviations of memusage's options. */
#ifndef MEMTOP_SPELLINGS_H
#define MEMTOP_SPELLINGS_H

#include <argp.h>

/*
 * memusage accepts each of its long options from a certain length on. argp accepts an
 * abbreviation only if it is unique, and memtop has more options than memusage, so
 * memusage's abbreviations are added as hidden options.  Returns table (which ends in
 * zeros) with these added, in static storage.
 */
const struct argp_option *spellings_add(const struct argp_option *table);

#endif
