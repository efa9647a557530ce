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
#include <stdint.h>

#include "monitor/profile-table.h"

/* Parses text.  On failure returns false, with the word that is not understood, within
   text, in *wrong and its length in *length. */
bool site_filter_parse(const char *text, struct profile_filter *filter,
                       const char **wrong, size_t *length);

/* Reads a time like quantity_moment(): "90", "1.5h", "250ms". */
bool site_filter_time(const char *text, size_t length, int64_t *ns);

/* ---- choices ---- */

/* Which sites are wanted and how, as given by options: for reports, exports and the
   initial page.  All zeros: nothing was chosen. */
struct site_choice {
    const char *filter_text; /* filter as given, or NULL; parsed in filter */
    struct profile_filter filter;
    int64_t survivors_ns; /* only live blocks at least that old; 0: any */
    bool mode_given;
    enum profile_mode mode;
    enum profile_column column;
    bool wrappers;        /* call stacks begin with wrappers (wrappers.h) */
};

/* The mode: as given; live if only live blocks can pass; otherwise usual. */
enum profile_mode site_choice_mode(const struct site_choice *choice,
                                   enum profile_mode usual);

/* Finds a column by name; false if there is none.  The names are listed below. */
bool site_choice_column(const char *name, enum profile_column *column);
#define SITE_CHOICE_COLUMNS "bytes, objects, allocated, rate, age, samples, error, growth"

#endif
