/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the exports: sites with the chosen figures, stacks as places. */
#ifndef MEMTOP_SITEEXPORT_PRIVATE_H
#define MEMTOP_SITEEXPORT_PRIVATE_H

#include "monitor/profile-table.h"
#include "report/siteexport.h"

/* The most places of a stack, including inlined functions. */
#define SITEEXPORT_PLACES 512

/* What passes the filter, by mode; no figures if the mode has no answer. */
struct siteexport_chosen {
    struct profile_selection modes[PROFILE_MODES];
};

/* A site's figures for the mode and the filter. */
struct siteexport_figures {
    double bytes, objects;           /* alive, at the peak, allocated, since the mark */
    double made_bytes, made_objects; /* allocated: in total, or since the mark */
};
struct siteexport_figures siteexport_figures(const struct siteexport *export,
                                             size_t site);

/* Returns the number of places of a site's stack and the places, innermost first; 0 for
   an unknown stack. */
size_t siteexport_places(const struct siteexport *export, const struct site *site,
                         struct profile_place places[SITEEXPORT_PLACES]);

/* The function's name, without control characters; characters in bad become '_'. */
const char *siteexport_name(const struct siteexport *export,
                            const struct profile_place *place, const char *bad,
                            char *buffer, size_t size);

/* Rounds; negative figures stay negative. */
int64_t siteexport_round(double figure);

bool siteexport_folded(FILE *out, const struct siteexport *export);
bool siteexport_pprof(FILE *out, const struct siteexport *export);
bool siteexport_massif(FILE *out, const struct siteexport *export);
bool siteexport_json(FILE *out, const struct siteexport *export);

#endif
