/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What profile.c, profile-names.c and profile-table.c share. */
#ifndef MEMTOP_PROFILE_PRIVATE_H
#define MEMTOP_PROFILE_PRIVATE_H

#include "monitor/profile.h"

/* Keys are numbers that were hashed already or are spread by one multiplication. */
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

/* After an addition: uthash could not get memory for its table. */
#define NOT_ADDED(element) ((element)->hh.tbl == NULL)

/* A call stack; of two with the same pcs there is one. */
struct call_stack {
    uint64_t key;            /* of its pcs; not 0 */
    uint32_t id;             /* in the reading */
    uint32_t index;          /* in profile->stacks */
    uint32_t depth;
    UT_hash_handle hh;
};

/* An address in stacks, and what its name is so far. */
struct address {
    uint64_t address;        /* of an instruction of the call */
    bool final;
    uint32_t frame_count;
    struct profile_place *frames; /* at least one */
    UT_hash_handle hh;
};

struct function {
    uint64_t key;            /* of its name */
    uint32_t id;
    UT_hash_handle hh;
    char name[];
};

/* A file's name, kept once. */
struct text {
    uint64_t key;
    UT_hash_handle hh;
    char text[];
};

/* What earlier readings say of a site. */
struct site_past {
    uint32_t stack;          /* index */
    double bytes_before, objects_before; /* made, a reading ago */
    double bytes_rate, objects_rate;
    double growth;
};

struct profile {
    struct sites_reading reading;
    bool known;
    int64_t run_ns;          /* of the reading */
    int64_t begin_ns;        /* run time at which the reading's times begin */

    /* By site: its stack, what it had made a reading ago, its rates and growth. */
    size_t site_count, site_room;
    struct site_past *sites;
    int64_t before_ns;       /* run time of the reading before, < 0 none */
    bool rates_known;

    struct call_stack *by_key; /* a hash */
    struct call_stack **stacks;
    size_t stack_count, stack_room;
    uint32_t *stack_at;      /* by id: index + 1; 0: not seen yet */
    size_t id_room;

    struct profile_moment *moments;
    size_t moment_count;
    size_t moments_limit;    /* bytes */
    int64_t spacing_ns;
    int64_t growth_since_ns; /* < 0 none */
    struct profile_moment mark;
    bool marked;

    struct address *addresses; /* hashes */
    size_t entered;          /* stacks whose addresses are among them */
    size_t nameless;         /* addresses without a final name */
    struct function *functions_by_key;
    struct text *texts;
    struct function **functions;
    size_t function_count, function_room;
};

/* Index of the stack with this id; the stack that is not known if there is none. */
uint32_t profile_stack_index(const struct profile *profile, uint32_t id);

/* The newest moment not later; NULL: none. */
const struct profile_moment *profile_find_moment(const struct profile *profile, int64_t run_ns);

const struct address *profile_find_address(const struct profile *profile,
                                           uint64_t address);
void profile_names_free(struct profile *profile);

#endif
