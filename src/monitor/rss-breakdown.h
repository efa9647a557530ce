/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RSS breakdown: where the resident memory went, from what the kernel says about a
 * process's mappings and what its counters say about its blocks.  The known parts add up
 * to the RSS.
 */
#ifndef MEMTOP_RSS_BREAKDOWN_H
#define MEMTOP_RSS_BREAKDOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "system/smaps.h"

struct process;

/* Name in the display (translatable), in JSON, and its meaning. */
#define BANDS(X)                                                                      \
    /* TRANSLATORS: parts of the RSS, and what each is. */                     \
    X(REQUESTED, N_("requested"), "requested", N_("live blocks, as asked for"))       \
    X(SLACK, N_("slack"), "slack", N_("live blocks, overhead"))                       \
    /* TRANSLATORS: freed by the program, kept by malloc. */                   \
    X(HELD, N_("held"), "held", N_("freed, kept by malloc"))                   \
    X(HEAP, N_("heap"), "heap", N_("live and freed, undivided"))      \
    X(MMAP, N_("mmap"), "mmap", N_("anonymous, not malloc's"))          \
    X(FILES, N_("files"), "files", N_("files, shared memory"))                 \
    X(STACKS, N_("stacks"), "stacks", N_("of all threads"))                           \
    X(PROGRAM, N_("program"), "program", N_("program and libraries"))     \
    X(MEMTOP, N_("memtop"), "memtop", N_("counters and library"))           \
    X(OTHER, N_("other"), "other", N_("the kernel's pages"))

enum band {
#define X(id, word, json, meaning) BAND_##id,
    BANDS(X)
#undef X
    BAND_COUNT
};

#define BAND_UNKNOWN UINT64_MAX

struct rss_breakdown {
    bool known;                  /* a reading succeeded; otherwise the rest is unset */
    int64_t run_ns;              /* run time of the reading */
    uint64_t rss;                /* sum of the parts that are known */
    uint64_t pss, swap;
    unsigned mappings;
    uint64_t bytes[BAND_COUNT];  /* resident bytes, or BAND_UNKNOWN */
    uint64_t absent;             /* at least this many bytes of live blocks are not
                                    resident: never touched, or swapped out */
    uint64_t unsure;             /* this many bytes of REQUESTED may be MMAP's, because
                                    mapped blocks may be partly resident */
    bool with_reserve;           /* MMAP includes what the allocator holds */
};

/* Divides the resident memory using the process's counters read at the same time. */
void rss_divide(const struct resident *resident, const struct process *process,
                  struct rss_breakdown *out);

/* Translated; the word has at most 9 columns. */
const char *band_word(enum band band);
const char *band_meaning(const struct rss_breakdown *breakdown, enum band band);
const char *band_json(enum band band);

#endif
