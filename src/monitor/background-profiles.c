/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Background profiles.  An image of a process that has lived long enough has a profile
 * here and the mapping of its segment, which outlives it: the last reading comes after
 * its end.  The process list knows which images there are, and when one has ended.
 */
#include "config.h"

#include "monitor/background-profiles.h"

#include <stdlib.h>

#include "monitor/samples.h"
#include "base/clock.h"
#include "segment/reader.h"

#define SECOND INT64_C(1000000000)

/* Followed at a time.  Their snapshots and the root's fit into a session file, whose
   reader accepts two million sites over all snapshots. */
#define OTHERS_MAX 16
#define CHECKPOINTS_BYTES ((size_t)1 << 20)

/* A compiler's run is over by then, and growth cannot be judged earlier. */
#define LIVED_NS (2 * SECOND)

/* Readings may take 1/TIME_SHARE of the time, and no more than BUDGET_MAX_NS is saved
   up. */
#define TIME_SHARE 50
#define BUDGET_MAX_NS (SECOND / 10)

struct other {
    pid_t pid;
    uint64_t image_ns;  /* when its segment was made */
    int64_t started_ns; /* CLOCK_MONOTONIC */
    int64_t read_ns;
    struct identity identity;
    struct reader *reader; /* NULL: the process has ended */
    struct profile *profile;
    bool lent;   /* a caller of background_profiles_lend() reads it */
    bool listed; /* it is in the process list */
};

struct background_profiles {
    struct other all[OTHERS_MAX]; /* in the order they were added */
    size_t count;
    int64_t looked_ns; /* 0: never */
    int64_t budget_ns; /* time saved up for readings */
};

struct background_profiles *
background_profiles_new(void)
{
    return calloc(1, sizeof(struct background_profiles));
}

/* Drops an entry; a profile that is lent belongs to its borrower. */
static void
drop(struct background_profiles *background, size_t index)
{
    struct other *other = &background->all[index];

    reader_close(other->reader);
    if (!other->lent)
        profile_free(other->profile);
    background->count--;
    for (size_t i = index; i < background->count; i++)
        background->all[i] = background->all[i + 1];
}

void
background_profiles_free(struct background_profiles *background)
{
    while (background != NULL && background->count > 0)
        drop(background, background->count - 1);
    free(background);
}

static struct other *
find(struct background_profiles *background, pid_t pid, uint64_t image_ns)
{
    for (size_t i = 0; i < background->count; i++)
        if (background->all[i].pid == pid && background->all[i].image_ns == image_ns)
            return &background->all[i];
    return NULL;
}

/* ---- choosing processes ---- */

/* Makes space for a living process by dropping one that has ended. */
static bool
make_place(struct background_profiles *background)
{
    for (size_t i = 0; background->count == OTHERS_MAX && i < OTHERS_MAX; i++)
        if (background->all[i].reader == NULL && !background->all[i].lent)
            drop(background, i);
    return background->count < OTHERS_MAX;
}

static struct other *
add(struct background_profiles *background, const struct process_entry *entry,
    const struct tree *tree)
{
    struct other other = {.pid = entry->pid, .image_ns = entry->image_ns};
    uint64_t start_ns = entry->start_ns;
    const struct tree_segment *segment;

    /* If there are many processes most find no place; then no segment is searched for. */
    if (!make_place(background) || (segment = tree_newest(tree, entry->pid)) == NULL
        || segment->created_boottime_ns != entry->image_ns
        || tree_open(tree, segment, &other.reader))
        return NULL;
    if (start_ns == 0 || start_ns > entry->image_ns)
        start_ns = entry->image_ns;
    other.started_ns = clock_monotonic_of(start_ns);
    if (reader_identity(other.reader, &other.identity)
        || (other.profile = profile_new()) == NULL) {
        reader_close(other.reader);
        return NULL;
    }
    profile_limit_checkpoints(other.profile, CHECKPOINTS_BYTES);
    background->all[background->count] = other;
    return &background->all[background->count++];
}

static void
read_other(struct other *other, int64_t run_ns)
{
    samples_read(other->profile, other->reader, &other->identity, run_ns,
                 other->started_ns);
}

struct background_look {
    struct background_profiles *background;
    const struct tree *tree;
};

static void
look_at(void *context, const struct process_entry *entry)
{
    const struct background_look *looking = context;
    struct other *other = find(looking->background, entry->pid, entry->image_ns);

    if (other == NULL && entry->sampled && !entry->ended
        && clock_ns(CLOCK_BOOTTIME) - (int64_t)entry->image_ns >= LIVED_NS)
        other = add(looking->background, entry, looking->tree);
    if (other == NULL)
        return;
    other->listed = true;
    if (!entry->ended || other->reader == NULL)
        return;
    if (!other->lent)
        read_other(other, entry->run_ns);
    reader_close(other->reader);
    other->reader = NULL;
}

static void
look(struct background_profiles *background, const struct process_list *process_list,
     const struct tree *tree)
{
    struct background_look looking = {background, tree};

    for (size_t i = 0; i < background->count; i++)
        background->all[i].listed = false;
    process_list_each(process_list, look_at, &looking);
    for (size_t i = background->count; i-- > 0;)
        if (!background->all[i].listed)
            drop(background, i);
}

/* ---- when to read ---- */

/* Of those that are due, returns the one that has waited longest, or NULL. */
static struct other *
next_due(struct background_profiles *background, int64_t now_ns)
{
    struct other *next = NULL;

    for (size_t i = 0; i < background->count; i++) {
        struct other *other = &background->all[i];

        if (other->reader != NULL && !other->lent && other->read_ns < now_ns
            && profile_checkpoint_due(other->profile, now_ns - other->started_ns)
            && (next == NULL || other->read_ns < next->read_ns))
            next = other;
    }
    return next;
}

void
background_profiles_read(struct background_profiles *background,
                         const struct process_list *process_list, const struct tree *tree,
                         int64_t now_ns)
{
    struct other *other;

    if (background->looked_ns && now_ns - background->looked_ns < SECOND)
        return;
    background->budget_ns += (now_ns - background->looked_ns) / TIME_SHARE;
    if (background->looked_ns == 0 || background->budget_ns > BUDGET_MAX_NS)
        background->budget_ns = BUDGET_MAX_NS;
    background->looked_ns = now_ns;
    look(background, process_list, tree);
    while (background->budget_ns > 0 && (other = next_due(background, now_ns)) != NULL) {
        int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

        other->read_ns = now_ns;
        read_other(other, now_ns - other->started_ns);
        background->budget_ns -= clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
    }
}

/* ---- lending ---- */

struct profile *
background_profiles_lend(struct background_profiles *background, pid_t pid,
                         uint64_t image_ns)
{
    struct other *other = find(background, pid, image_ns);

    if (other == NULL || other->lent)
        return NULL;
    other->lent = true;
    profile_limit_checkpoints(other->profile, PROFILE_CHECKPOINTS_BYTES);
    return other->profile;
}

void
background_profiles_return(struct background_profiles *background,
                           struct profile *profile)
{
    for (size_t i = 0; i < background->count; i++)
        if (background->all[i].profile == profile && background->all[i].lent) {
            background->all[i].lent = false;
            profile_limit_checkpoints(profile, CHECKPOINTS_BYTES);
            profile_clear_mark(profile);
            return;
        }
    profile_free(profile);
}
