/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looks into every directory where a process of this user may have put its segment,
 * for they need not all have had the same environment.  Only reads, but for the sweep.
 */
#include "config.h"

#include "monitor/observed.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "monitor/census.h"
#include "monitor/tree.h"
#include "segment/names.h"

#define TREES 4 /* as many as there are places */

struct observed {
    struct tree *trees[TREES];
    unsigned count;
    struct census *census;
};

static void
open_trees(struct observed *observed)
{
    const uint64_t pid_namespace = segment_pid_namespace();
    char path[SEGMENT_PATH_MAX];
    unsigned which = 0;
    int directory;

    while (observed->count < TREES
           && (directory = segment_directory_next(&which, getenv("MEMTOP_DIR"),
                                                  getenv("XDG_RUNTIME_DIR"), path))
                  >= 0) {
        segment_sweep(directory, pid_namespace, UINT_MAX, true);
        close(directory);
        observed->trees[observed->count] =
            tree_new_all(path, pid_namespace, getuid(), geteuid());
        if (observed->trees[observed->count])
            observed->count++;
    }
}

struct observed *
observed_new(void)
{
    struct observed *observed = calloc(1, sizeof *observed);

    if (!observed)
        return NULL;
    observed->census = census_new(NULL, NULL, false);
    if (!observed->census) {
        free(observed);
        return NULL;
    }
    open_trees(observed);
    return observed;
}

void
observed_free(struct observed *observed)
{
    if (!observed)
        return;
    for (unsigned i = 0; i < observed->count; i++)
        tree_free(observed->trees[i]);
    census_free(observed->census);
    free(observed);
}

void
observed_poll(struct observed *observed, int64_t now_ns)
{
    for (unsigned i = 0; i < observed->count; i++)
        if (tree_scan(observed->trees[i]))
            census_look(observed->census, observed->trees[i]);
    census_take(observed->census, now_ns, true);
}

const struct roster *
observed_roster(const struct observed *observed)
{
    return census_roster(observed->census);
}
