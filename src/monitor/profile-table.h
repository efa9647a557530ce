/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lists and trees of allocation sites: what of a profile (profile.h) is asked for,
 * in rows to be shown.
 */
#ifndef MEMTOP_PROFILE_TABLE_H
#define MEMTOP_PROFILE_TABLE_H

#include "monitor/profile.h"

/* What bytes and objects are. */
enum profile_mode {
    PROFILE_LIVE,    /* alive now */
    PROFILE_PEAK,    /* alive when all together was greatest */
    PROFILE_MADE,    /* allocated */
    PROFILE_SINCE,   /* alive now, less what was at the mark; allocated since then */
    PROFILE_MODES
};

/* What a row is. */
enum profile_form {
    PROFILE_STACKS,  /* a call stack */
    PROFILE_CALLERS, /* a tree: functions that allocate, below them their callers */
    PROFILE_CALLEES, /* a tree: the functions that began, below them whom they call */
    PROFILE_FORMS
};

/* Columns by which rows can be sorted; the first is the usual order: that of bytes,
   among survivors that of growth. */
enum profile_column {
    PROFILE_BY_DEFAULT,
    PROFILE_BY_BYTES,
    PROFILE_BY_OBJECTS,
    PROFILE_BY_MADE,
    PROFILE_BY_RATE,
    PROFILE_BY_AGE,
    PROFILE_BY_BLOCKS,
    PROFILE_BY_ERROR,
    PROFILE_BY_GROWTH,
    PROFILE_COLUMNS
};

/* What stacks must have, must not have, or are shown without. */
enum profile_rule_kind { PROFILE_REQUIRE, PROFILE_FORBID, PROFILE_HIDE };
struct profile_rule {
    enum profile_rule_kind kind;
    bool whole;          /* the name is this; else it has this in it */
    char text[128];      /* small letters alone find capitals too */
};

#define PROFILE_RULES_MAX 16

/* All zeros but for the upper ends: nothing is filtered.  Sizes are known by coarse
   bucket, lifetimes of what was freed by class: both ends are taken as the edges of
   theirs. */
struct profile_filter {
    struct profile_rule rules[PROFILE_RULES_MAX];
    unsigned rule_count;
    uint64_t size_from, size_to;   /* bytes; to 0: no end */
    int64_t life_from_ns, life_to_ns; /* lifetime, of what is alive so far; to 0 */
    uint64_t blocks_min;           /* rows estimated from fewer are left out */
};

/* Rows of a tree that are not as they are at first.  At first a row is closed, unless
   it is the only one below an open one. */
#define PROFILE_TOGGLED_MAX 512
struct profile_toggled {
    uint64_t keys[PROFILE_TOGGLED_MAX]; /* the latest; older ones are as at first */
    unsigned next;
    bool all_open;       /* ... and at first all rows are open */
};

struct profile_query {
    enum profile_mode mode;
    enum profile_form form;
    const struct profile_filter *filter;
    int64_t survivors_ns;          /* only what is alive and as old; 0: any */
    int64_t past_ns;               /* as it was then; < 0: as read last */
    enum profile_column column;
    bool reverse;
    const struct profile_toggled *toggled;   /* or NULL: none */
};

/* Why there are no rows. */
enum profile_answer {
    PROFILE_ANSWERED,
    PROFILE_NOTHING_KNOWN,   /* nothing was read */
    PROFILE_NOT_RECORDED,    /* of that moment nothing was kept */
    PROFILE_NOT_MARKED,      /* there is no mark, or nothing was known there */
    PROFILE_LIFE_UNKNOWN,    /* of the peak and of the past lifetimes are not kept */
    PROFILE_SHORT            /* of memory */
};

struct profile_row {
    uint64_t key;            /* the same whenever the row is there; never 0 */
    uint32_t function;       /* the row's; of a stack the first one shown */
    uint32_t stack;          /* id of the stack; of several the one with most bytes */
    unsigned depth;          /* in the tree, from 0 */
    bool more, open;         /* there are rows below; they are shown */
    unsigned indent;         /* as depth, but what is alone stands with its parent */
    bool branch;             /* it is indented further than its parent */
    uint64_t guides;         /* bit i: at indent i others follow */
    size_t stacks;           /* it is made of */
    struct profile_figures figures;
    size_t begin;            /* private */
};

struct profile_table {
    enum profile_answer answer;
    struct profile_query query;     /* its pointers are not kept */
    struct profile_row *rows;
    size_t count;
    struct profile_figures sum;     /* of what passed the filter */
    size_t stacks;                  /* that passed */
    size_t few;                     /* rows left out for too few samples */
    unsigned missing;               /* enum profile_part: not known */
    int64_t run_ns;                 /* when it was so */

    size_t room;                    /* private */
    struct profile_work *work;
};

/* Answers the query; table is all zeros or was filled before. */
void profile_table_fill(struct profile_table *table, const struct profile *profile,
                        const struct profile_query *query);
void profile_table_free(struct profile_table *table);

/* Functions of a row's stack, innermost first: hidden ones are left out.  Borrowed
   until the table is filled again. */
const uint32_t *profile_table_path(const struct profile_table *table,
                                   const struct profile *profile, size_t row,
                                   size_t *length);

/* Of each site what a query asks, for those who need sites instead of rows. */
struct profile_selection {
    struct profile_figures *figures; /* by site: all 0 if it does not pass the filter */
    bool *hidden;                    /* by function: it is left out of stacks */
};

/* Answers the query, whose form, column and past are of no matter; selection is to be
   freed if it is answered. */
enum profile_answer profile_select(const struct profile *profile,
                                   const struct profile_query *query,
                                   struct profile_selection *selection);
void profile_selection_free(struct profile_selection *selection);

/* Opens a closed row, closes an open one. */
void profile_toggle(struct profile_toggled *toggled, uint64_t key);

/* What a row's stacks have allocated of one size. */
struct profile_size {
    uint64_t from, to;       /* bytes; to is included, UINT64_MAX: any size */
    struct site_figures made, live, at_peak;
};

/* All of it whatever the mode is, as of the moment that the table is of: if that is past,
   lifetimes are all 0, for they are not known. */
struct profile_detail {
    struct profile_size sizes[HISTOGRAM_COARSE + 1];
    size_t size_count;       /* with anything in them, in order */
    struct site_figures freed_after[SITE_LIFETIMES];
    struct site_figures alive_for[SITE_LIFETIMES]; /* those of freed_after: so far */
    int64_t first_ns, last_ns; /* run time of its allocations, < 0 not known */
};

/* Of a row, whose table was filled since the profile digested last.  False: there is
   no such row, or memory is short. */
bool profile_table_detail(const struct profile_table *table,
                          const struct profile *profile, size_t row,
                          struct profile_detail *detail);

/* Standard error of bytes in parts of them, 0..; < 0: not known, of nothing. */
double profile_error(const struct profile_figures *figures);

/* Age on average, ns; < 0 if nothing is alive. */
double profile_age(const struct profile_figures *figures);

#endif
