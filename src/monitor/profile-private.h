/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by profile.c, profile-names.c and profile-table.c. */
#ifndef MEMTOP_PROFILE_PRIVATE_H
#define MEMTOP_PROFILE_PRIVATE_H

#include "monitor/profile.h"

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

struct profile_named {
    uint64_t key;            /* hash of its name */
    uint32_t id;
    UT_hash_handle hh;
    char name[];
};

/* A file's name, stored once. */
struct kept_text {
    uint64_t key;
    UT_hash_handle hh;
    char text[];
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

    struct profile_moment *moments;
    size_t moment_count;
    size_t moments_limit;    /* limit of their memory in bytes */
    int64_t spacing_ns;
    int64_t growth_since_ns; /* < 0 none */
    struct profile_moment mark;
    bool marked;

    struct profile_address *addresses; /* hashes */
    size_t entered;          /* number of stacks whose addresses are entered */
    size_t nameless;         /* addresses without a final name */
    struct profile_named *functions_by_key;
    struct kept_text *texts;
    struct profile_named **functions;
    size_t function_count, function_room;
};

/* Index of the stack with this id; that of the unknown stack if there is none. */
uint32_t profile_stack_index(const struct profile *profile, uint32_t id);

/* The newest snapshot not later than run_ns; NULL if there is none. */
const struct profile_moment *profile_find_moment(const struct profile *profile,
                                                 int64_t run_ns);

const struct profile_address *profile_find_address(const struct profile *profile,
                                                   uint64_t address);
void profile_names_free(struct profile *profile);

#endif
