/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where memory was allocated: what follows from successive readings of a process's
 * sampled allocations (segment/sites.h).  Estimates with their errors, rates, what
 * was alive at earlier moments and at the mark, names of functions; profile-table.h
 * makes lists and trees of it.  Pure: reads no segment, asks nobody for names.
 *
 * All numbers are estimates (Horvitz-Thompson: a sampled block counts as many times
 * as its weight says).  A standard error belongs to each: with p the probability
 * that a block is sampled, y its size, the variance of a sum is estimated without
 * bias by the sum over the sampled blocks of (y/p)^2 (1-p).  The blocks of a site
 * have about the same size, so that n of them which stand for N objects and S bytes
 * give S^2/n (1 - n/N).  At rate 1 it is 0.
 */
#ifndef MEMTOP_PROFILE_H
#define MEMTOP_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "segment/sites.h"

struct profile;

/* Of some allocations; what is asked for is said by struct profile_query. */
struct profile_figures {
    double bytes, objects;   /* less than 0 if there are fewer than at the mark */
    double bytes_variance, objects_variance; /* squares of their standard errors */
    uint64_t blocks;         /* sampled, which they were estimated from */
    double made_bytes, made_objects; /* allocated: all in all, or since the mark */
    double bytes_rate, objects_rate; /* allocated a second, over the last interval */
    double growth;           /* bytes alive on average in the later half of the time
                                observed, less those in the earlier half */
    double age_sum_ns;       /* of what is alive, by objects, and how many; the age */
    double age_objects;      /* on average is the quotient */
    double oldest_ns;
};

/* What of these is not known. */
enum profile_part {
    PROFILE_RATES = 1,
    PROFILE_GROWTH = 2,
    PROFILE_AGES = 4
};

/* NULL if memory is short. */
struct profile *profile_new(void);
void profile_free(struct profile *profile);

/* The process executed another program, or is another one: all is forgotten. */
void profile_restart(struct profile *profile);

/* What was read last: to be read into again, then digested. */
struct sites_reading *profile_reading(struct profile *profile);

/*
 * After a reading, at run_ns since the process's start; begin_ns is where the
 * reading's times begin, on the same clock.  False if memory is short: then nothing
 * has changed.
 */
bool profile_digest(struct profile *profile, int64_t run_ns, int64_t begin_ns);

/* The reading that was digested last, for those who only look, and the run time at
   which its times begin. */
const struct sites_reading *profile_digested(const struct profile *profile,
                                             int64_t *begin_ns);

/* Whether anything was ever digested, and when it was last. */
bool profile_known(const struct profile *profile, int64_t *run_ns);

/* Whether a moment to look back at is due: then read and digest. */
bool profile_moment_due(const struct profile *profile, int64_t run_ns);

/* How much memory moments may take; if it is exceeded every other one is dropped, but
   never all.  At first PROFILE_MOMENTS_BYTES. */
#define PROFILE_MOMENTS_BYTES ((size_t)16 << 20)
void profile_limit_moments(struct profile *profile, size_t bytes);

/* The newest kept moment not later than run_ns; < 0: none. */
int64_t profile_moment(const struct profile *profile, int64_t run_ns);

/* Since when growth is looked at; < 0: no growth is known yet. */
int64_t profile_growth_since(const struct profile *profile);

/* Keeps what is known of run_ns as the mark: of the last reading if that is not
   older, else of the moment before.  False if nothing is known, or memory is short. */
bool profile_set_mark(struct profile *profile, int64_t run_ns);
void profile_clear_mark(struct profile *profile);
bool profile_marked(const struct profile *profile);

/* What a site had at the mark, allocated by then and alive, and when that was: all 0,
   and -1, if there is no mark. */
int64_t profile_at_mark(const struct profile *profile, size_t site,
                        struct site_figures *made, struct site_figures *live);

/* A mark that was kept elsewhere: what the first count sites had, allocated and alive.
   False if memory is short. */
bool profile_restore_mark(struct profile *profile, int64_t run_ns,
                          const struct site_figures *made,
                          const struct site_figures *live, size_t count);

/* ---- what is remembered, for those who save it ---- */

/* Of a site at a moment, as small as will do: a figure has 24 bits. */
struct profile_kept {
    float bytes, objects;
    uint32_t blocks;
};
struct profile_kept_site {
    struct profile_kept made, live, at_peak;
};

struct profile_moment {
    int64_t run_ns;
    size_t count;            /* of sites, the first ones of the reading */
    struct profile_kept_site *sites;
};

#define PROFILE_MOMENTS_MAX 128

/* The kept moments, in order; borrowed. */
const struct profile_moment *profile_moments(const struct profile *profile, size_t *count);

/* Moments that were kept elsewhere, in order, at most PROFILE_MOMENTS_MAX, in place of
   all there are; their sites are taken over.  False if memory is short: nothing is. */
bool profile_restore_moments(struct profile *profile, const struct profile_moment *moments,
                             size_t count);

/* What a site allocated a second over the last interval; false: not known. */
bool profile_rates(const struct profile *profile, size_t site, double *bytes,
                   double *objects);

/* After the last digest: that it allocated so much. */
void profile_restore_rates(struct profile *profile, size_t site, double bytes,
                           double objects);

/* ---- names ---- */

/* A function at an address, and where its file calls what comes before. */
struct profile_frame {
    const char *function;
    const char *file;     /* or NULL */
    unsigned line;        /* or 0 */
};

#define PROFILE_INLINES_MAX 32   /* frames at one address */

struct profile_name {
    bool final;           /* nothing better will be known later */
    unsigned count;       /* of frames; 0: no function is known */
    struct profile_frame frames[PROFILE_INLINES_MAX]; /* inlined last comes first */
    const char *module;   /* path of its file, or NULL */
    uint64_t offset;      /* in the file's own addresses; else the address */
};

/* Who names an address of an instruction. */
struct profile_namer {
    void *context;
    void (*name)(void *context, uint64_t address, struct profile_name *name);
};

/* Has the addresses named which have no final name yet; namer NULL: nobody knows names,
   addresses that have none go by themselves.  True if any name is another one now. */
bool profile_resolve(struct profile *profile, const struct profile_namer *namer);

/* More files are known now: addresses that lie in none are named again. */
void profile_reopen_names(struct profile *profile);

/* In place of functions: of a stack that could not be taken; of one that was hidden
   as a whole. */
#define PROFILE_NO_STACK UINT32_MAX
#define PROFILE_HIDDEN   (UINT32_MAX - 1)

/* The name of a function: unsanitised; "libfoo.so+0x1234" of one that has none. */
const char *profile_function(const struct profile *profile, uint32_t function);

/* A place in a stack, as names are known now. */
struct profile_place {
    uint32_t function;
    const char *file;     /* or NULL */
    unsigned line;
    const char *module;   /* path, or NULL */
    uint64_t offset;
    bool inlined;         /* into the place that follows */
};

/* The places of the call stack with this id, innermost first, at most capacity;
   returns how many there are. */
size_t profile_places(const struct profile *profile, uint32_t stack,
                      struct profile_place *out, size_t capacity);

#endif
