/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where memory was allocated: what follows from successive readings of a process's
 * sampled allocations (segment/sites.h).  It has estimates with their errors, rates, what
 * was alive at earlier snapshots and at the mark, and names of functions; profile-table.h
 * makes lists and trees of it.  Pure: reads no segment and looks up no names.
 *
 * All numbers are estimates (Horvitz-Thompson: a sampled block counts as many times as
 * its weight says).  Each has a standard error: with p the probability that a block is
 * sampled and y its size, the variance of a sum is estimated without bias by the sum over
 * the sampled blocks of (y/p)^2 (1-p).  The blocks of a site have about the same size, so
 * n of them which stand for N objects and S bytes give S^2/n (1 - n/N).  At rate 1 it is
 * 0.
 */
#ifndef MEMTOP_PROFILE_H
#define MEMTOP_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "segment/sites.h"
#include "symbols/symbols.h"

struct profile;

/* Figures of some allocations; struct profile_query says which. */
struct profile_figures {
    double bytes, objects;   /* negative if there are fewer than at the mark */
    double bytes_variance, objects_variance; /* squares of their standard errors */
    uint64_t blocks;         /* sampled blocks they were estimated from */
    double made_bytes, made_objects; /* allocated: in total, or since the mark */
    double bytes_rate, objects_rate; /* allocated per second, over the last interval */
    double growth;           /* average bytes alive in the later half of the time
                                observed, minus those in the earlier half */
    double age_sum_ns;       /* sum of the ages of live objects, and their number; */
    double age_objects;      /* the average age is the quotient */
    double oldest_ns;
};

/* Flags for figures that may be unknown. */
enum profile_part {
    PROFILE_RATES = 1,
    PROFILE_GROWTH = 2,
    PROFILE_AGES = 4
};

/* Returns NULL if memory is short. */
struct profile *profile_new(void);
void profile_free(struct profile *profile);

/* The process executed another program, or is another one: forgets everything. */
void profile_restart(struct profile *profile);

/* The last reading: to be read into again, then digested. */
struct sites_reading *profile_reading(struct profile *profile);

/*
 * Call after a reading, at run_ns since the process's start; begin_ns is where the
 * reading's times begin, on the same clock.  Returns false if memory is short: then
 * nothing has changed.
 */
bool profile_digest(struct profile *profile, int64_t run_ns, int64_t begin_ns);

/* The last digested reading, for read-only use, and the run time at which its times
   begin. */
const struct sites_reading *profile_digested(const struct profile *profile,
                                             int64_t *begin_ns);

/* Was anything ever digested?  *run_ns is the time of the last digest. */
bool profile_known(const struct profile *profile, int64_t *run_ns);

/* Is a snapshot due?  Then read and digest. */
bool profile_checkpoint_due(const struct profile *profile, int64_t run_ns);

/* Limits the memory of snapshots; beyond it every other one is dropped, but never all.
   Initially PROFILE_MOMENTS_BYTES. */
#define PROFILE_CHECKPOINTS_BYTES ((size_t)16 << 20)
void profile_limit_checkpoints(struct profile *profile, size_t bytes);

/* Run time of the newest snapshot not later than run_ns; < 0 if there is none. */
int64_t profile_checkpoint(const struct profile *profile, int64_t run_ns);

/* The time since which growth is measured; < 0 if no growth is known yet. */
int64_t profile_growth_since(const struct profile *profile);

/* Keeps the state at run_ns as the mark: that of the last reading if that is not later
   than run_ns, otherwise of the snapshot before.  Returns false if there is none, or
   memory is short. */
bool profile_set_mark(struct profile *profile, int64_t run_ns);
void profile_clear_mark(struct profile *profile);
bool profile_marked(const struct profile *profile);

/* Returns the time of the mark and what a site had allocated by then and had alive; -1
   and all 0 if there is no mark. */
int64_t profile_at_mark(const struct profile *profile, size_t site,
                        struct site_figures *made, struct site_figures *live);

/* Restores a mark that was saved: what the first count sites had allocated and alive.
   Returns false if memory is short. */
bool profile_restore_mark(struct profile *profile, int64_t run_ns,
                          const struct site_figures *made,
                          const struct site_figures *live, size_t count);

/* ---- what is saved ---- */

/* A site's figures at a snapshot, kept small: 24 significant bits. */
struct profile_kept {
    float bytes, objects;
    uint32_t blocks;
};
struct profile_kept_site {
    struct profile_kept made, live, at_peak;
};

struct profile_checkpoint {
    int64_t run_ns;
    size_t count;            /* number of sites, the first ones of the reading */
    struct profile_kept_site *sites;
};

#define PROFILE_CHECKPOINTS_MAX 128

/* The kept snapshots, in order; borrowed. */
const struct profile_checkpoint *profile_checkpoints(const struct profile *profile,
                                                     size_t *count);

/* Replaces all snapshots by saved ones, in order, at most PROFILE_MOMENTS_MAX; takes over
   their sites.  Returns false if memory is short: then nothing is taken over. */
bool profile_restore_checkpoints(struct profile *profile,
                                 const struct profile_checkpoint *checkpoints,
                                 size_t count);

/* What a site allocated per second over the last interval; false if unknown. */
bool profile_rates(const struct profile *profile, size_t site, double *bytes,
                   double *objects);

/* Sets these rates, after the last digest. */
void profile_restore_rates(struct profile *profile, size_t site, double bytes,
                           double objects);

/* ---- names ---- */

#define PROFILE_INLINES_MAX 32 /* frames at one address; outer ones are left out */

/* Names the address of an instruction: as symbols_at() does, but the name is valid until
   the next call only.  SYMBOL_ASKED: a better one may be known later. */
struct profile_namer {
    void *context;
    const struct symbol *(*name)(void *context, uint64_t address);
};

/* Asks the namer about addresses that have no final name yet.  With namer NULL, addresses
   without a name are shown as they are.  Returns true if any name has changed. */
bool profile_resolve(struct profile *profile, const struct profile_namer *namer);

/* More files are known now: addresses that lie in none are named again. */
void profile_reopen_names(struct profile *profile);

/* Stand in for functions: of a stack that could not be taken, and of one that is hidden
   as a whole. */
#define PROFILE_NO_STACK UINT32_MAX
#define PROFILE_HIDDEN   (UINT32_MAX - 1)

/* The name of a function, unsanitised; "[libfoo.so+0x1234]" if it has none, or "[jit
   0x7f...]" if it lies in no file. */
const char *profile_function(const struct profile *profile, uint32_t function);

/* A place in a stack, with the names known now. */
struct profile_place {
    uint32_t function;
    const char *file;     /* or NULL */
    unsigned line;
    const char *module;   /* path, or NULL */
    uint64_t offset;
    uint64_t address;     /* in the call; places inlined into each other share one */
    bool inlined;         /* into the next place */
    bool unnamed;         /* the function's name is only its address */
    bool wrapper;         /* of an allocator (wrappers.h) */
};

/* The index of the place with which lists begin the stack: the first one that is no
   wrapper, of generated code if there is any, because interpreters run it; 0 if all are
   wrappers. */
size_t profile_first_place(const struct profile_place *places, size_t count);

/* Returns the number of places of the stack with this id and stores at most capacity of
   them, innermost first. */
size_t profile_places(const struct profile *profile, uint32_t stack,
                      struct profile_place *out, size_t capacity);

#endif
