/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options for allocation sites. */
#ifndef MEMTOP_SITES_OPTIONS_H
#define MEMTOP_SITES_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "report/site-filter.h"
#include "report/siteexport.h"

#define SITES_EXPORTS_MAX 8

struct exports_request {
    enum siteexport_format format;
    const char *file;            /* "-": the standard output */
};

struct sites_options {
    /* Text for sampling_rate_parse(), "" for the library's choice, "off"; NULL: not
       given, which is the library's choice where it costs next to nothing. */
    const char *rate;
    uint64_t memory;             /* bytes the samples may have; 0: the library's choice */
    const char *unwind;          /* how stacks are walked; NULL: auto */
    struct exports_request exports[SITES_EXPORTS_MAX]; /* exports to write at the end */
    size_t export_count;
    struct site_choice choice;   /* for exports, the report and the page */
    bool top_given;
    unsigned top;                /* sites in the report, if top_given */
    bool debuginfod;             /* may ask servers for names */
};

/* Did the user refuse to sample? */
bool sites_off(const struct sites_options *options);

/* The choice, or NULL if no option made one. */
const struct site_choice *sites_choice(const struct sites_options *options);

/* The name of an option that made the choice, or NULL. */
const char *sites_choice_given(const struct site_choice *choice);

/* Where options for sites can have an effect: on sampling now, on sites that a file or
   process may have, nowhere. */
enum sites_use { SITES_SAMPLED, SITES_FOUND, SITES_NONE };

/* The name of a given option that has no effect there, or NULL. */
const char *sites_useless(const struct sites_options *options, enum sites_use use,
                          bool names_known);

/* A child for struct argp; its input is a struct sites_options. */
extern const struct argp sites_argp;

/* The same for exports only, without sorting; its input is a struct site_choice. */
extern const struct argp sites_choice_argp;

#endif
