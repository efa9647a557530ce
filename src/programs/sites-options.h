/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options for allocation sites. */
#ifndef MEMTOP_SITES_OPTIONS_H
#define MEMTOP_SITES_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "report/site-choice.h"
#include "report/siteexport.h"

#define SITES_EXPORTS_MAX 8

struct exports_request {
    enum siteexport_format format;
    const char *file;            /* "-": the standard output */
};

struct sites_options {
    const char *rate;            /* as sampling_rate_parse() takes it, "" for the usual
                                    one, or NULL: nothing is sampled */
    const char *unwind;          /* how stacks are walked, or NULL: by glibc */
    struct exports_request exports[SITES_EXPORTS_MAX]; /* to be written at the end */
    size_t export_count;
    struct site_choice choice;   /* of exports, the report and the page */
    bool top_given;
    unsigned top;                /* sites in the report, if top_given */
    bool debuginfod;             /* names may be asked of servers */
};

/* What was chosen; NULL: nothing was. */
const struct site_choice *sites_choice(const struct sites_options *options);

/* The name of an option that chose, or NULL. */
const char *sites_choice_given(const struct site_choice *choice);

/* What options are good for: allocations sampled now, or else where they may have been
   before. */
enum sites_use { SITES_SAMPLED, SITES_FOUND, SITES_NONE };

/* The name of an option that was given and is of no use there, or NULL. */
const char *sites_useless(const struct sites_options *options, enum sites_use use,
                          bool names_known);

/* For struct argp's children; the input is a struct sites_options. */
extern const struct argp sites_argp;

/* The choice alone, unsorted, of exports; the input is a struct site_choice. */
extern const struct argp sites_choice_argp;

#endif
