/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What profile-table.c, profile-figures.c and profile-detail.c share. */
#ifndef MEMTOP_PROFILE_TABLE_PRIVATE_H
#define MEMTOP_PROFILE_TABLE_PRIVATE_H

#include "monitor/profile-private.h"
#include "monitor/profile-table.h"

/* What outlives the filling of a table: its rows are ranges of paths. */
struct profile_work {
    struct profile_figures *figures; /* by stack */
    uint32_t *order;                 /* indices of the stacks that passed */
    size_t count;
    uint32_t *functions;             /* of all paths, one after the other */
    size_t function_count, function_room;
    size_t *starts;                  /* by stack: its path, up to the next one's */
};

/* While a query is answered. */
struct query_work {
    const struct profile *profile;
    const struct profile_query *query;
    const struct profile_moment *past;        /* NULL: as read last */
    bool by_site;                     /* figures are by site, not by stack */
    struct profile_figures *figures;  /* zeros at first */
};

/* Of a site, as it was at some time. */
struct site_then {
    struct site_figures made, live, at_peak;
};

/* At a moment, or as read last if that is NULL: nothing before there was the site. */
struct site_then figures_site_at(const struct profile *profile,
                                 const struct profile_moment *moment, size_t index);

/* Adds to work->figures what the query asks. */
void figures_fill(struct query_work *work);

/* How long a sampled block has been alive, at least, in ns: >= 0. */
double profile_block_age(const struct profile *profile,
                         const struct sampled_block *block);

/* Whether bytes and objects are those of blocks alive, chosen by their age. */
bool figures_of_blocks(const struct profile_query *query);

/* Whether there can be an answer. */
enum profile_answer figures_answer(const struct profile *profile,
                                   const struct profile_query *query);

void figures_add(struct profile_figures *sum, const struct profile_figures *part);

#endif
