/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which sites are wanted and how, as options say it: of reports and exports, and of the
   page at first. */
#ifndef MEMTOP_SITE_CHOICE_H
#define MEMTOP_SITE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/profile-table.h"

/* All zeros: nothing was chosen. */
struct site_choice {
    const char *filter_text;       /* or NULL; and what it means */
    struct profile_filter filter;
    int64_t survivors_ns;          /* only what is alive and as old; 0: any */
    bool mode_given;
    enum profile_mode mode;
    enum profile_column column;
};

/* The mode: the one that was given, the living where only they can pass, else usual. */
enum profile_mode site_choice_mode(const struct site_choice *choice,
                                   enum profile_mode usual);

/* A column by name; false if there is none such.  All names, divided by commas. */
bool site_choice_column(const char *name, enum profile_column *column);
#define SITE_CHOICE_COLUMNS "bytes, objects, allocated, rate, age, samples, error, growth"

#endif
