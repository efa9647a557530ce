/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by profile-table.c, profile-figures.c and profile-detail.c. */
#ifndef MEMTOP_PROFILE_TABLE_PRIVATE_H
#define MEMTOP_PROFILE_TABLE_PRIVATE_H

#include "monitor/profile-private.h"
#include "monitor/profile-table.h"

/* What a table keeps after it is filled: its rows are ranges of paths. */
struct profile_work {
    struct profile_figures *figures; /* by stack */
    uint32_t *order;                 /* indices of the stacks that passed */
    size_t count;
    uint32_t *functions;             /* of all paths, one after the other */
    size_t function_count, function_room;
    size_t *starts;                  /* by stack: where its path starts */
};

/* State while a query is answered. */
struct query_work {
    const struct profile *profile;
    const struct profile_query *query;
    const struct profile_checkpoint *past; /* NULL: as of the last reading */
    bool by_site;                     /* figures are by site, not by stack */
    struct profile_figures *figures;  /* zeros at first */
};

/* A site's figures at some time. */
struct site_then {
    struct site_figures made, live, at_peak;
};

/* A site's figures at a snapshot, or at the last reading if that is NULL; all 0 before
   the site existed. */
struct site_then figures_site_at(const struct profile *profile,
                                 const struct profile_checkpoint *checkpoint,
                                 size_t index);

/* Adds what the query asks for to work->figures. */
void figures_fill(struct query_work *work);

/* The minimum age of a sampled block in ns, >= 0. */
double profile_block_age(const struct profile *profile,
                         const struct sampled_block *block);

/* Are bytes and objects those of live blocks chosen by their age? */
bool figures_of_blocks(const struct profile_query *query);

/* Can the query be answered? */
enum profile_answer figures_answer(const struct profile *profile,
                                   const struct profile_query *query);

void figures_add(struct profile_figures *sum, const struct profile_figures *part);

#endif
