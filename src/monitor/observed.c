/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The system-wide list.  Looks into every directory where a process of this user may have
 * put its segment, because environments differ.  Processes with directories of their own
 * (another environment, a container, another user) are found by what they have mapped.
 * Only reads, except for the sweep.
 */
#include "config.h"

#include "monitor/observed.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/census.h"
#include "system/locate.h"
#include "system/procfs.h"
#include "monitor/tree.h"
#include "segment/names.h"

#define TREES 64

/* The maps of all processes are read no more often than this. */
#define SEARCH_NS (INT64_C(5) * 1000000000)

struct segment_place {
    struct tree *tree;
    dev_t device; /* of the directory */
    ino_t inode;
    bool found;   /* found through a process: useful while that has segments there */
};

struct observed {
    struct segment_place places[TREES];
    unsigned count;
    int64_t searched_ns;
    struct census *census;
};

/* Adds a directory to look into, unless it is there already. */
static void
add_place(struct observed *observed, const char *path, uid_t real, uid_t effective,
          bool found)
{
    struct segment_place *place = &observed->places[observed->count];
    struct stat st;

    if (observed->count == TREES || stat(path, &st) < 0)
        return;
    for (unsigned i = 0; i < observed->count; i++)
        if (observed->places[i].device == st.st_dev
            && observed->places[i].inode == st.st_ino)
            return;
    *place = (struct segment_place){tree_new_all(path, real, effective), st.st_dev,
                                    st.st_ino, found};
    observed->count += place->tree != NULL;
}

static void
add_known_places(struct observed *observed)
{
    const uint64_t pid_namespace = segment_pid_namespace();
    char path[SEGMENT_PATH_MAX];
    unsigned which = 0;
    int directory;

    while ((directory = segment_directory_next(&which, getenv("MEMTOP_DIR"),
                                               getenv("XDG_RUNTIME_DIR"), path))
           >= 0) {
        segment_sweep(directory, pid_namespace, UINT_MAX, true);
        close(directory);
        add_place(observed, path, getuid(), geteuid(), false);
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
    add_known_places(observed);
    return observed;
}

void
observed_free(struct observed *observed)
{
    if (!observed)
        return;
    for (unsigned i = 0; i < observed->count; i++)
        tree_free(observed->places[i].tree);
    census_free(observed->census);
    free(observed);
}

/* ---- processes with their own directories ---- */

/* A container's directory would be kept forever after its end. */
static void
forget_empty_places(struct observed *observed)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < observed->count; i++) {
        struct segment_place place = observed->places[i];

        if (place.found && tree_empty(place.tree))
            tree_free(place.tree);
        else
            observed->places[kept++] = place;
    }
    observed->count = kept;
}

static void
look_at_process(void *context, pid_t pid)
{
    struct observed *observed = context;
    struct located located;
    uid_t real, effective;

    if (census_follows(observed->census, pid) || procfs_uids(pid, &real, &effective)
        || (real != getuid() && effective != geteuid() && geteuid() != 0))
        return;
    if (locate_segment(pid, &located) == 0 && located.directory[0])
        add_place(observed, located.directory, located.real, located.effective, true);
}

static void
scan(struct observed *observed)
{
    for (unsigned i = 0; i < observed->count; i++)
        if (tree_scan(observed->places[i].tree))
            census_look(observed->census, observed->places[i].tree);
}

void
observed_poll(struct observed *observed, int64_t now_ns)
{
    scan(observed);
    if (observed->searched_ns == 0 || now_ns - observed->searched_ns >= SEARCH_NS) {
        observed->searched_ns = now_ns;
        forget_empty_places(observed);
        procfs_each(look_at_process, observed);
        scan(observed);
    }
    census_take(observed->census, now_ns, true);
}

const struct roster *
observed_roster(const struct observed *observed)
{
    return census_roster(observed->census);
}
