/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Background profiles.  An image of a process that has lived long enough has a profile
 * here and the mapping of its segment, which outlives it: the last reading comes after
 * its end.  The process list knows which images there are, and when one has ended.
 */
#include "config.h"

#include "monitor/others.h"

#include <stdlib.h>

#include "monitor/samples.h"
#include "base/clock.h"
#include "segment/reader.h"

#define SECOND INT64_C(1000000000)

/* Followed at a time.  Their snapshots and the root's fit into a session file, whose
   reader accepts two million sites over all snapshots. */
#define OTHERS_MAX    16
#define MOMENTS_BYTES ((size_t)1 << 20)

/* A compiler's run is over by then, and growth cannot be judged earlier. */
#define LIVED_NS (2 * SECOND)

/* Readings may take 1/TIME_SHARE of the time, and no more than BUDGET_MAX_NS is saved
   up. */
#define TIME_SHARE    50
#define BUDGET_MAX_NS (SECOND / 10)

struct other {
    pid_t pid;
    uint64_t image_ns;       /* when its segment was made */
    int64_t started_ns;      /* CLOCK_MONOTONIC */
    int64_t read_ns;
    struct identity identity;
    struct reader *reader;   /* NULL: the process has ended */
    struct profile *profile;
    bool lent;               /* a caller of others_lend() reads it */
    bool listed;             /* it is in the process list */
};

struct others {
    struct other all[OTHERS_MAX]; /* in the order they were added */
    size_t count;
    int64_t looked_ns;       /* 0: never */
    int64_t budget_ns;       /* time saved up for readings */
};

struct others *
others_new(void)
{
    return calloc(1, sizeof(struct others));
}

/* Drops an entry; a profile that is lent belongs to its borrower. */
static void
drop(struct others *others, size_t index)
{
    struct other *other = &others->all[index];

    reader_close(other->reader);
    if (!other->lent)
        profile_free(other->profile);
    others->count--;
    for (size_t i = index; i < others->count; i++)
        others->all[i] = others->all[i + 1];
}

void
others_free(struct others *others)
{
    while (others && others->count > 0)
        drop(others, others->count - 1);
    free(others);
}

static struct other *
find(struct others *others, pid_t pid, uint64_t image_ns)
{
    for (size_t i = 0; i < others->count; i++)
        if (others->all[i].pid == pid && others->all[i].image_ns == image_ns)
            return &others->all[i];
    return NULL;
}

/* ---- choosing processes ---- */

/* Makes space for a living process by dropping one that has ended. */
static bool
make_place(struct others *others)
{
    for (size_t i = 0; others->count == OTHERS_MAX && i < OTHERS_MAX; i++)
        if (!others->all[i].reader && !others->all[i].lent)
            drop(others, i);
    return others->count < OTHERS_MAX;
}

static struct other *
add(struct others *others, const struct roster_entry *entry, const struct tree *tree)
{
    struct other other = {.pid = entry->pid, .image_ns = entry->image_ns};
    uint64_t start_ns = entry->start_ns;
    const struct tree_segment *segment;

    /* If there are many processes most find no place; then no segment is searched for. */
    if (!make_place(others) || !(segment = tree_newest(tree, entry->pid))
        || segment->created_boottime_ns != entry->image_ns
        || tree_open(tree, segment, &other.reader))
        return NULL;
    if (start_ns == 0 || start_ns > entry->image_ns)
        start_ns = entry->image_ns;
    other.started_ns = clock_monotonic_of(start_ns);
    if (reader_identity(other.reader, &other.identity)
        || !(other.profile = profile_new())) {
        reader_close(other.reader);
        return NULL;
    }
    profile_limit_moments(other.profile, MOMENTS_BYTES);
    others->all[others->count] = other;
    return &others->all[others->count++];
}

static void
read_other(struct other *other, int64_t run_ns)
{
    samples_read(other->profile, other->reader, &other->identity, run_ns,
                 other->started_ns);
}

struct background_look {
    struct others *others;
    const struct tree *tree;
};

static void
look_at(void *context, const struct roster_entry *entry)
{
    const struct background_look *looking = context;
    struct other *other = find(looking->others, entry->pid, entry->image_ns);

    if (!other && entry->sampled && !entry->ended
        && clock_ns(CLOCK_BOOTTIME) - (int64_t)entry->image_ns >= LIVED_NS)
        other = add(looking->others, entry, looking->tree);
    if (!other)
        return;
    other->listed = true;
    if (!entry->ended || !other->reader)
        return;
    if (!other->lent)
        read_other(other, entry->run_ns);
    reader_close(other->reader);
    other->reader = NULL;
}

static void
look(struct others *others, const struct roster *roster, const struct tree *tree)
{
    struct background_look looking = {others, tree};

    for (size_t i = 0; i < others->count; i++)
        others->all[i].listed = false;
    roster_each(roster, look_at, &looking);
    for (size_t i = others->count; i-- > 0;)
        if (!others->all[i].listed)
            drop(others, i);
}

/* ---- when to read ---- */

/* Of those that are due, returns the one that has waited longest, or NULL. */
static struct other *
next_due(struct others *others, int64_t now_ns)
{
    struct other *next = NULL;

    for (size_t i = 0; i < others->count; i++) {
        struct other *other = &others->all[i];

        if (other->reader && !other->lent && other->read_ns < now_ns
            && profile_moment_due(other->profile, now_ns - other->started_ns)
            && (!next || other->read_ns < next->read_ns))
            next = other;
    }
    return next;
}

void
others_read(struct others *others, const struct roster *roster, const struct tree *tree,
            int64_t now_ns)
{
    struct other *other;

    if (others->looked_ns && now_ns - others->looked_ns < SECOND)
        return;
    others->budget_ns += (now_ns - others->looked_ns) / TIME_SHARE;
    if (others->looked_ns == 0 || others->budget_ns > BUDGET_MAX_NS)
        others->budget_ns = BUDGET_MAX_NS;
    others->looked_ns = now_ns;
    look(others, roster, tree);
    while (others->budget_ns > 0 && (other = next_due(others, now_ns))) {
        int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

        other->read_ns = now_ns;
        read_other(other, now_ns - other->started_ns);
        others->budget_ns -= clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
    }
}

/* ---- lending ---- */

struct profile *
others_lend(struct others *others, pid_t pid, uint64_t image_ns)
{
    struct other *other = find(others, pid, image_ns);

    if (!other || other->lent)
        return NULL;
    other->lent = true;
    profile_limit_moments(other->profile, PROFILE_MOMENTS_BYTES);
    return other->profile;
}

void
others_return(struct others *others, struct profile *profile)
{
    for (size_t i = 0; i < others->count; i++)
        if (others->all[i].profile == profile && others->all[i].lent) {
            others->all[i].lent = false;
            profile_limit_moments(profile, MOMENTS_BYTES);
            profile_clear_mark(profile);
            return;
        }
    profile_free(profile);
}
