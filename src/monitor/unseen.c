/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two rules.  A process that has executed another program has a further image.  And each
 * program executed by a process's vfork children is the first image of a process whose
 * parent it is, unless that parent ended so soon that the child has got another one.
 * Such orphans, and those from other pid namespaces, count for any process that lacks a
 * child.
 */
#include "config.h"

#include "monitor/unseen.h"

#include <stdlib.h>

/* More makes no sense (a damaged segment), and would take long to report. */
#define SPAWNED_MAX (UINT64_C(1) << 22)

struct unseen_search {
    const struct image *images;
    size_t count;
    uint64_t orphans; /* images that any process may have executed */
    void (*visit)(void *context, const struct unseen *unseen);
    void *context;
};

static int
by_process(const void *left, const void *right)
{
    const struct image *a = left, *b = right;

    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return a->generation < b->generation ? -1 : a->generation > b->generation;
}

/* Returns the first image of a process in the sorted list, or NULL. */
static const struct image *
find_process(const struct unseen_search *search, pid_t pid)
{
    size_t low = 0, high = search->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (search->images[middle].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < search->count && search->images[low].pid == pid ? &search->images[low]
                                                                 : NULL;
}

static bool
is_first(const struct unseen_search *search, const struct image *image)
{
    return image == search->images || image[-1].pid != image->pid;
}

static bool
is_last(const struct unseen_search *search, const struct image *image)
{
    return image + 1 == search->images + search->count || image[1].pid != image->pid;
}

/* Was it executed by a child that had no segment before? */
static bool
is_spawned(const struct unseen_search *search, const struct image *image, pid_t root)
{
    return !image->forked && image->pid != root && is_first(search, image);
}

static void
count_orphans(struct unseen_search *search, pid_t root)
{
    for (size_t i = 0; i < search->count; i++) {
        const struct image *image = &search->images[i];

        if (is_spawned(search, image, root)
            && (image->elsewhere || find_process(search, image->parent) == NULL))
            search->orphans++;
    }
}

/* The sum over all images of one process, which are consecutive. */
static uint64_t
spawned_by(const struct unseen_search *search, const struct image *first)
{
    uint64_t sum = 0;

    for (const struct image *image = first;
         image < search->images + search->count && image->pid == first->pid; image++)
        sum +=
            image->executed.spawned < SPAWNED_MAX ? image->executed.spawned : SPAWNED_MAX;
    return sum;
}

static void
tell_child(const struct unseen_search *search, const struct image *by, pid_t pid,
           const char *name)
{
    const struct unseen unseen = {.by = by, .pid = pid, .path = name};

    search->visit(search->context, &unseen);
}

/* Reports which of the latest have no image, at most `missing`; returns how many. */
static uint64_t
tell_named(const struct unseen_search *search, const struct image *image,
           uint64_t missing)
{
    uint64_t told = 0;

    for (unsigned i = 0; i < EXEC_RECENT && told < missing; i++) {
        pid_t pid = image->executed.recent[i].pid;

        if (pid == 0 || find_process(search, pid) != NULL)
            continue;
        tell_child(search, image, pid, image->executed.recent[i].name);
        told++;
    }
    return told;
}

static void
check_children(struct unseen_search *search, const struct image *first, uint64_t seen)
{
    uint64_t spawned = spawned_by(search, first), missing, pardoned;

    if (spawned <= seen)
        return;
    missing = spawned - seen;
    pardoned = missing < search->orphans ? missing : search->orphans;
    search->orphans -= pardoned;
    missing -= pardoned;
    for (const struct image *image = first;
         image < search->images + search->count && image->pid == first->pid; image++)
        missing -= tell_named(search, image, missing);
    while (missing-- > 0)
        tell_child(search, first, 0, "");
}

static void
check_own(const struct unseen_search *search, const struct image *image)
{
    const struct unseen unseen = {.by = image,
                                  .pid = image->pid,
                                  .path = image->executed.path,
                                  .preload_removed = image->executed.preload_removed};

    if (image->executed.replaced && is_last(search, image))
        search->visit(search->context, &unseen);
}

/* Counts the images each process has begun, in the order of the list: counts[i] is for
   the process whose first image is images[i]. */
static void
count_children(const struct unseen_search *search, pid_t root, uint64_t *counts)
{
    for (size_t i = 0; i < search->count; i++) {
        const struct image *image = &search->images[i];
        const struct image *parent =
            is_spawned(search, image, root) && !image->elsewhere
                ? find_process(search, image->parent)
                : NULL;

        if (parent != NULL)
            counts[parent - search->images]++;
    }
}

void
unseen_find(struct image *images, size_t count, pid_t root,
            void (*visit)(void *context, const struct unseen *unseen), void *context)
{
    struct unseen_search search = {images, count, 0, visit, context};
    uint64_t *counts = calloc(count + 1, sizeof *counts);

    if (counts != NULL && count > 0) {
        qsort(images, count, sizeof *images, by_process);
        count_orphans(&search, root);
        count_children(&search, root, counts);
    }
    for (size_t i = 0; counts != NULL && i < count; i++) {
        check_own(&search, &images[i]);
        if (is_first(&search, &images[i]))
            check_children(&search, &images[i], counts[i]);
    }
    free(counts);
}
