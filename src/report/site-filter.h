/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Filters of allocation sites as people write them, words divided by blanks:
 *
 *   NAME            call stacks with a function whose name has NAME in it
 *   -NAME           without one
 *   ~NAME           functions are left out of stacks: their callers take their place
 *   =NAME -=NAME ~=NAME   the whole name; "..." around one that has blanks
 *   size=A..B       blocks of so many bytes: "size=1K..64K", "size=4K..", "size=..100"
 *   life=A..B       that were alive so long: "life=..10ms", "life=5m.."
 *   samples=N       rows estimated from at least N sampled blocks
 *
 * Small letters alone find capitals too.
 */
#ifndef MEMTOP_SITE_FILTER_H
#define MEMTOP_SITE_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "monitor/profile-table.h"

/* False if text is none; *wrong is then the word that is not understood, within text,
   and *length how long it is. */
bool site_filter_parse(const char *text, struct profile_filter *filter,
                       const char **wrong, size_t *length);

/* A time as quantity_moment() reads it: "90", "1.5h", "250ms". */
bool site_filter_time(const char *text, size_t length, int64_t *ns);

#endif
