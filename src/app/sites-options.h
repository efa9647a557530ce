/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memtop's options for allocation sites. */
#ifndef MEMTOP_SITES_OPTIONS_H
#define MEMTOP_SITES_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "report/siteexport.h"

#define SITES_EXPORTS_MAX 8

struct exports_request {
    enum siteexport_format format;
    const char *file;            /* "-": the standard output */
};

struct sites_options {
    const char *rate;            /* as sampling_rate_parse() takes it, "" for the usual
                                    one, or NULL: nothing is sampled */
    const char *unwind;          /* how stacks are walked, or NULL: automatic */
    struct exports_request exports[SITES_EXPORTS_MAX]; /* to be written at the end */
    size_t export_count;
    enum profile_mode mode;      /* of them */
    bool top_given;
    unsigned top;                /* sites in the report, if top_given */
    bool debuginfod;             /* names may be asked of servers */
};

/* For struct argp's children; the input is a struct sites_options. */
extern const struct argp sites_argp;

#endif
