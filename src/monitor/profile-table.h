/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lists and trees of allocation sites: the answer to a query about a profile (profile.h),
 * in rows for display.
 */
#ifndef MEMTOP_PROFILE_TABLE_H
#define MEMTOP_PROFILE_TABLE_H

#include "monitor/profile.h"

/* What bytes and objects stand for. */
enum profile_mode {
    PROFILE_LIVE,    /* alive now */
    PROFILE_PEAK,    /* alive when the total was at its peak */
    PROFILE_MADE,    /* allocated */
    PROFILE_SINCE,   /* alive now, less what was at the mark; allocated since then */
    PROFILE_MODES
};

/* What a row stands for. */
enum profile_form {
    PROFILE_STACKS,  /* a call stack */
    PROFILE_CALLERS, /* a tree: functions that allocate, and below them their callers */
    PROFILE_CALLEES, /* a tree: outermost functions, and below them what they call */
    PROFILE_FORMS
};

/* Columns by which rows can be sorted; the default is bytes, or growth among
   survivors. */
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

/* What stacks must contain, must not contain, or are shown without. */
enum profile_rule_kind { PROFILE_REQUIRE, PROFILE_FORBID, PROFILE_HIDE };
struct profile_rule {
    enum profile_rule_kind kind;
    bool whole;          /* the name is text; otherwise the name contains it */
    char text[128];      /* lower case also matches capitals */
};

#define PROFILE_RULES_MAX 16

/* All zeros filters nothing.  Sizes are known by coarse bucket and lifetimes of freed
   blocks by class, so both ends are rounded to the limits of theirs. */
struct profile_filter {
    struct profile_rule rules[PROFILE_RULES_MAX];
    unsigned rule_count;
    uint64_t size_from, size_to;   /* bytes; size_to 0: no limit */
    int64_t life_from_ns, life_to_ns; /* lifetime; of live blocks so far; 0: no limit */
    uint64_t blocks_min;           /* rows estimated from fewer samples are left out */
};

/* Rows of a tree that are not in their initial state.  A row is initially closed, unless
   it is the only one below an open row. */
#define PROFILE_TOGGLED_MAX 512
struct profile_toggled {
    uint64_t keys[PROFILE_TOGGLED_MAX]; /* the latest; older ones are forgotten */
    unsigned next;
    bool all_open;       /* ... and all rows are initially open */
};

struct profile_query {
    enum profile_mode mode;
    enum profile_form form;
    const struct profile_filter *filter;
    int64_t survivors_ns;          /* only live blocks at least that old; 0: any */
    int64_t past_ns;               /* as of that time; < 0: as of the last reading */
    enum profile_column column;
    bool reverse;
    const struct profile_toggled *toggled;   /* NULL: none */
    bool wrappers;                 /* call stacks begin with wrappers (wrappers.h); trees
                                      always have them */
};

/* Whether the query was answered, or why there are no rows. */
enum profile_answer {
    PROFILE_ANSWERED,
    PROFILE_NOTHING_KNOWN,   /* nothing was read */
    PROFILE_NOT_RECORDED,    /* nothing was kept from that time */
    PROFILE_NOT_MARKED,      /* there is no mark, or nothing was known then */
    PROFILE_LIFE_UNKNOWN,    /* lifetimes are not kept for the peak and the past */
    PROFILE_SHORT            /* memory is short */
};

struct profile_row {
    uint64_t key;            /* identifies the row; never 0 */
    uint32_t function;       /* the row's; for a stack the first one shown */
    uint32_t stack;          /* id of the stack; of several the one with most bytes */
    unsigned depth;          /* in the tree, from 0 */
    bool more, open;         /* there are rows below; these are shown */
    unsigned indent;         /* like depth, but a row without siblings is not indented */
    bool branch;             /* it is indented further than its parent */
    uint64_t guides;         /* bit i: more rows follow at indent i */
    size_t stacks;           /* how many it consists of */
    struct profile_figures figures;
    size_t begin;            /* private */
};

struct profile_table {
    enum profile_answer answer;
    struct profile_query query;     /* its pointers are not kept */
    struct profile_row *rows;
    size_t count;
    struct profile_figures sum;     /* over everything that passed the filter */
    size_t stacks;                  /* that passed the filter */
    size_t few;                     /* rows left out for too few samples */
    unsigned missing;               /* enum profile_part: what is not known */
    int64_t run_ns;                 /* the time it describes */

    size_t room;                    /* private */
    struct profile_work *work;
};

/* Answers the query; table is all zeros, or was filled before. */
void profile_table_fill(struct profile_table *table, const struct profile *profile,
                        const struct profile_query *query);
void profile_table_free(struct profile_table *table);

/* The functions of a row's stack, innermost first, without hidden ones, in a list of call
   stacks from profile_first_place() on.  Borrowed until the table is filled again. */
const uint32_t *profile_table_path(const struct profile_table *table,
                                   const struct profile *profile, size_t row,
                                   size_t *length);

/* The innermost place in a row's stack that has the row's function.  Returns false if
   there is none, as in an unknown stack. */
bool profile_table_place(const struct profile_table *table, const struct profile *profile,
                         size_t row, struct profile_place *place);

/* What a query asks for, by site instead of by row. */
struct profile_selection {
    struct profile_figures *figures; /* by site; all 0 if it does not pass the filter */
    bool *hidden;                    /* by function: left out of stacks */
};

/* Answers the query, whose form, column and past are ignored; if it is answered,
   selection must be freed. */
enum profile_answer profile_select(const struct profile *profile,
                                   const struct profile_query *query,
                                   struct profile_selection *selection);
void profile_selection_free(struct profile_selection *selection);

/* Opens a closed row or closes an open one. */
void profile_toggle(struct profile_toggled *toggled, uint64_t key);

/* What a row's stacks have allocated of one size. */
struct profile_size {
    uint64_t from, to;       /* bytes; to is inclusive, UINT64_MAX: any size */
    struct site_figures made, live, at_peak;
};

/* Everything about a row whatever the mode is, as of the table's time.  For a past time
   lifetimes are unknown and all 0. */
struct profile_detail {
    struct profile_size sizes[HISTOGRAM_COARSE + 1];
    size_t size_count;       /* nonempty ones, in order */
    struct site_figures freed_after[SITE_LIFETIMES];
    struct site_figures alive_for[SITE_LIFETIMES]; /* the same for live blocks */
    int64_t first_ns, last_ns; /* run time of its allocations; < 0 unknown */
};

/* Describes a row of a table that was filled since the profile's last digest.  Returns
   false if there is no such row, or memory is short. */
bool profile_table_detail(const struct profile_table *table,
                          const struct profile *profile, size_t row,
                          struct profile_detail *detail);

/* Standard error of bytes, as a fraction of them; < 0: unknown, because bytes is 0. */
double profile_error(const struct profile_figures *figures);

/* Average age in ns; < 0 if nothing is alive. */
double profile_age(const struct profile_figures *figures);

#endif
