/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by profile.c and the files profile-*.c. */
#ifndef MEMTOP_PROFILE_PRIVATE_H
#define MEMTOP_PROFILE_PRIVATE_H

#include "base/intern.h"
#include "monitor/profile.h"
#include "monitor/profile-table.h"

/* Keys are numbers that are hashes already, or that one multiplication spreads well
   enough. */
#define HASH_FUNCTION(key, length, hash)                                                 \
    do {                                                                                 \
        uint64_t mixed;                                                                  \
        memcpy(&mixed, key, sizeof mixed);                                               \
        (void)(length);                                                                  \
        mixed = (mixed ^ mixed >> 33) * UINT64_C(0xff51afd7ed558ccd);                    \
        (hash) = (unsigned)(mixed >> 32);                                                \
    } while (0)
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* True after an addition if uthash could not get memory for its table. */
#define NOT_ADDED(element) ((element)->hh.tbl == NULL)

/* A call stack; equal stacks share one. */
struct call_stack {
    uint64_t key;            /* of its pcs; not 0 */
    uint32_t id;             /* in the reading */
    uint32_t index;          /* in profile->stacks */
    uint32_t depth;
    UT_hash_handle hh;
};

/* An address in stacks, and its name so far. */
struct profile_address {
    uint64_t address;        /* of an instruction of the call */
    bool final;
    uint32_t frame_count;
    struct profile_place *frames; /* at least one */
    UT_hash_handle hh;
};

/* What earlier readings say about a site. */
struct site_past {
    uint32_t stack;          /* index */
    double bytes_before, objects_before; /* made, as of the previous reading */
    double bytes_rate, objects_rate;
    double growth;
};

struct profile {
    struct sites_reading reading;
    bool known;
    int64_t run_ns;          /* of the reading */
    int64_t begin_ns;        /* run time at which the reading's times begin */

    /* By site: its stack, what it had made at the previous reading, its rates and
       growth. */
    size_t site_count, site_room;
    struct site_past *sites;
    int64_t before_ns;       /* run time of the previous reading; < 0 none */
    bool rates_known;

    struct call_stack *by_key; /* a hash */
    struct call_stack **stacks;
    size_t stack_count, stack_room;
    uint32_t *stack_at;      /* by id: index + 1; 0: not seen yet */
    size_t id_room;

    struct profile_checkpoint *checkpoints;
    size_t checkpoint_count;
    size_t checkpoints_limit; /* limit of their memory in bytes */
    int64_t spacing_ns;
    int64_t growth_since_ns; /* < 0 none */
    struct profile_checkpoint mark;
    bool marked;

    struct profile_address *addresses; /* a hash */
    size_t entered;          /* number of stacks whose addresses are entered */
    size_t nameless;         /* addresses without a final name */
    struct intern_table functions; /* names, by number */
    struct intern_table paths;     /* of sources and modules */
    const char **unnamed;          /* paths of modules with functions without names */
    size_t unnamed_count, unnamed_room;
};

/* Index of the stack with this id; that of the unknown stack if there is none. */
uint32_t profile_stack_index(const struct profile *profile, uint32_t id);

/* The newest snapshot not later than run_ns; NULL if there is none. */
const struct profile_checkpoint *profile_find_checkpoint(const struct profile *profile,
                                                         int64_t run_ns);

const struct profile_address *profile_find_address(const struct profile *profile,
                                                   uint64_t address);
void profile_names_free(struct profile *profile);

/* Finds the place of profile_first_place() while all places of a stack are seen, in
   order, with any index.  All zeros at first. */
struct first_place {
    size_t index;
    bool found, generated;
};
void first_place_look(struct first_place *first, const struct profile_place *place,
                      size_t index);

/* ---- the table ---- */

/* What a table keeps after it is filled: its rows are ranges of paths. */
struct profile_work {
    struct profile_figures *figures; /* by stack */
    uint32_t *order;                 /* indices of the stacks that passed */
    size_t count;
    uint32_t *functions; /* of all paths, one after the other */
    size_t function_count, function_room;
    size_t *starts; /* by stack: where its path starts */
};

/* State while a query is answered. */
struct query_work {
    const struct profile *profile;
    const struct profile_query *query;
    const struct profile_checkpoint *past; /* NULL: as of the last reading */
    bool by_site;                          /* figures are by site, not by stack */
    struct profile_figures *figures;       /* zeros at first */
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
