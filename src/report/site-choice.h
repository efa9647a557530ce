/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which sites are wanted and how, as given by options: for reports, exports and the
   initial page. */
#ifndef MEMTOP_SITE_CHOICE_H
#define MEMTOP_SITE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/profile-table.h"

/* All zeros: nothing was chosen. */
struct site_choice {
    const char *filter_text;       /* filter as given, or NULL; parsed in filter */
    struct profile_filter filter;
    int64_t survivors_ns;          /* only live blocks at least that old; 0: any */
    bool mode_given;
    enum profile_mode mode;
    enum profile_column column;
};

/* The mode: as given; live if only live blocks can pass; otherwise usual. */
enum profile_mode site_choice_mode(const struct site_choice *choice,
                                   enum profile_mode usual);

/* Finds a column by name; false if there is none.  The names are listed below. */
bool site_choice_column(const char *name, enum profile_column *column);
#define SITE_CHOICE_COLUMNS "bytes, objects, allocated, rate, age, samples, error, growth"

#endif
