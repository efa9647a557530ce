/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the sampled allocations of a segment (sites-layout.h).  As with everything read
 * from segments nothing is trusted: the result is a private copy in which every number
 * and length has been checked.  Strings are NUL-terminated (but unsanitised:
 * base/textwidth.h).  Estimates are finite and not negative.
 *
 * Times are ns since the segment's created_ns, as everywhere in reader.h.
 */
#ifndef MEMTOP_SITES_H
#define MEMTOP_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "segment/reader.h"
#include "segment/sites-layout.h"

/* Figures of some sampled blocks. */
struct site_figures {
    double bytes;       /* estimated: what the sampled blocks stand for */
    double objects;
    double squares; /* of the weights: a block that stands for w objects adds w^2.  The
                       objects' variance is squares - objects */
    uint64_t blocks;    /* sampled */
    uint64_t samples;   /* words that were hit */
};

/* Blocks allocated with the same stack and about the same size. */
struct site {
    uint32_t stack;      /* id for sites_stack(); 0 unknown */
    uint32_t bucket;     /* coarse bucket of layout.h, or SITE_ANY_SIZE */
    struct site_figures made;    /* by this process, without what it inherited */
    struct site_figures freed;
    struct site_figures live;    /* now */
    struct site_figures at_peak; /* live when all sites' estimate was greatest */
    struct site_figures freed_after[SITE_LIFETIMES]; /* freed, by site_lifetime() */
    uint64_t first_ns;   /* first and last made; 0: none since the start */
    uint64_t last_ns;
};

/* A live sampled block. */
struct sampled_block {
    uint64_t address;
    uint64_t size;       /* exact */
    uint64_t born_ns;    /* 0 also for blocks inherited by fork */
    double weight;       /* objects it stands for, >= 1 */
    uint64_t samples;
    uint32_t site;       /* index into sites */
    uint32_t thread;     /* tid that made it, in the process's pid namespace */
    uint32_t function;   /* enum segment_function, below FN_COUNT */
};

struct site_module {
    uint64_t start;      /* mapped at start up to end */
    uint64_t end;
    uint64_t bias;       /* address less the address in the file */
    uint64_t seen_ns;    /* first seen there */
    uint64_t device;     /* st_dev and st_ino of the file, 0 unknown */
    uint64_t inode;
    size_t build_id_size; /* 0 unknown */
    unsigned char build_id[SITE_BUILD_ID_LEN];
    char path[SITE_PATH_LEN + 1]; /* as the loader knows it; the program's may be "" */
    bool path_cut;
};

/* What did not fit into the process's tables, in sampled blocks unless noted. */
struct sites_lost {
    uint64_t stacks;     /* without their stack: counted under stack 0 */
    uint64_t sites;      /* without site: counted in site 0, with any stack and size */
    uint64_t blocks;     /* not followed: in no figure at all ... */
    double bytes;        /* ... and what they stand for */
    uint64_t modules;    /* objects, not blocks */
    uint64_t unknown;    /* could not be unwound: stack 0 */
};

struct sites_reading {
    double rate;         /* probability that a word is hit, now, (0, 1]; 0: unknown */
    bool adaptive;       /* the library chooses the rate; each block has its weight */
    uint64_t rate_changes;
    uint64_t thinned;    /* samples given up because their memory was full; those that
                            stayed stand for them */
    uint64_t memory;     /* bytes the process's tables have ... */
    uint64_t memory_limit; /* ... and may have */
    unsigned depth;      /* frames kept at most, up to SITES_DEPTH_MAX */
    enum site_unwinder unwinder;
    bool has_modules;    /* false: see /proc/PID/maps instead */
    uint64_t sampled;    /* blocks so far */
    double live_bytes;   /* estimate over all sites: now ... */
    double peak_bytes;   /* ... at its peak, and when that was */
    uint64_t peak_ns;
    struct sites_lost lost;

    struct site *sites;  /* site i stays site i; some may have no blocks */
    size_t site_count;
    struct sampled_block *blocks; /* in no order */
    size_t block_count;
    struct site_module *modules; /* in the order they were seen */
    size_t module_count;
    struct site_place *places; /* texts end with a NUL; place 0 is none */
    size_t place_count;
    uint64_t *pool;      /* stacks, for sites_stack() */
    size_t pool_count;

    size_t room[5];      /* private: capacity of the arrays */
};

/*
 * Reads everything.  *reading is all zeros, or an earlier reading of the same segment:
 * then its arrays are reused, and only new stacks are copied.  End with sites_free().
 * Returns 0, also if no sample was due yet; -ENODATA: none is taken, see sites_state();
 * -ENOMEM; -EMSGSIZE: cut
 * short, as for any reader_... function.  On failure the earlier reading stays valid.
 */
int sites_read(struct reader *reader, struct sites_reading *reading);

/* Does the process sample, and if not, why? */
enum sites_state sites_state(const struct reader *reader);

/* Frees the arrays and makes *reading all zeros. */
void sites_free(struct sites_reading *reading);

/*
 * Returns the pcs of a stack, innermost first, and their number (0 to SITES_DEPTH_MAX);
 * NULL and 0 for id 0 and for unknown ids.  They are return addresses: look up
 * sites_call().  Borrowed until the next sites_read(); ids stay valid.
 */
const uint64_t *sites_stack(const struct sites_reading *reading, uint32_t stack,
                            unsigned *depth);

/* The place of a frame whose word is marked (site_is_place()); NULL if there is none. */
const struct site_place *sites_place(const struct sites_reading *reading, uint64_t word);

/* An address inside the call that returns to pc; pc itself may be in the next
   function. */
static inline uint64_t
sites_call(uint64_t pc)
{
    return pc > 0 ? pc - 1 : 0;
}

/* Returns the module that held the pc of a stack first seen at when_ns (site.first_ns):
   of the modules that have been at this address, the last one seen until then.  NULL:
   none. */
const struct site_module *sites_module(const struct sites_reading *reading, uint64_t pc,
                                       uint64_t when_ns);

/* Horvitz-Thompson: the number of objects a sampled block of this size stands for, >= 1.
   rate must be in (0, 1]. */
double sites_weight(double rate, uint64_t size);

#endif
