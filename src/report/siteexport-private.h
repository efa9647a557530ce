/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the exports have in common: sites by the chosen figures, stacks by places. */
#ifndef MEMTOP_SITEEXPORT_PRIVATE_H
#define MEMTOP_SITEEXPORT_PRIVATE_H

#include "monitor/profile-table.h"
#include "report/siteexport.h"

/* Places of a stack at most: inlined functions count, too. */
#define SITEEXPORT_PLACES 512

/* What passes the filter, by mode; no figures where the mode has no answer. */
struct siteexport_chosen {
    struct profile_selection modes[PROFILE_MODES];
};

/* A site as the mode and the filter have it. */
struct siteexport_figures {
    double bytes, objects;           /* alive, at the peak, allocated, since the mark */
    double made_bytes, made_objects; /* allocated: all in all, or since the mark */
};
struct siteexport_figures siteexport_figures(const struct siteexport *export, size_t site);

/* A place in a stack, and its address: places inlined into each other share one. */
struct siteexport_place {
    struct profile_place place;
    uint64_t address;
    const struct site_module *module; /* or NULL */
};

/* The places of a site's stack, innermost first; a stack that is not known has none. */
size_t siteexport_places(const struct siteexport *export, const struct site *site,
                     struct siteexport_place places[SITEEXPORT_PLACES]);

/* The function's name, without control characters; what is in bad becomes '_'. */
const char *siteexport_name(const struct siteexport *export, const struct siteexport_place *place,
                        const char *bad, char *buffer, size_t size);

/* Rounded; what is below 0 stays there. */
int64_t siteexport_round(double figure);

bool siteexport_folded(FILE *out, const struct siteexport *export);
bool siteexport_pprof(FILE *out, const struct siteexport *export);
bool siteexport_massif(FILE *out, const struct siteexport *export);
bool siteexport_json(FILE *out, const struct siteexport *export);

#endif
