/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Filters of allocation sites as people write them, words separated by blanks:
 *
 *   NAME            call stacks with a function whose name contains NAME
 *   -NAME           call stacks without one
 *   ~NAME           such functions are left out of stacks: their callers take their place
 *   =NAME -=NAME ~=NAME   the whole name; "..." around one with blanks
 *   size=A..B       blocks of that many bytes: "size=1K..64K", "size=4K..", "size=..100"
 *   life=A..B       blocks that lived that long: "life=..10ms", "life=5m.."
 *   samples=N       rows estimated from at least N sampled blocks
 *
 * Lower case also matches capitals.
 */
#ifndef MEMTOP_SITE_FILTER_H
#define MEMTOP_SITE_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "monitor/profile-table.h"

/* Parses text.  On failure returns false, with the word that is not understood, within
   text, in *wrong and its length in *length. */
bool site_filter_parse(const char *text, struct profile_filter *filter,
                       const char **wrong, size_t *length);

/* Reads a time like quantity_moment(): "90", "1.5h", "250ms". */
bool site_filter_time(const char *text, size_t length, int64_t *ns);

#endif
