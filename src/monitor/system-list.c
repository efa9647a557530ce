/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The system-wide list.  Looks into every directory where a process of this user may have
 * put its segment, because environments differ.  Processes with directories of their own
 * (another environment, a container, another user) are found by what they have mapped.
 * Only reads, except for the sweep.
 */
#include "config.h"

#include "monitor/system-list.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/process-tracker.h"
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

struct system_list {
    struct segment_place places[TREES];
    unsigned count;
    int64_t searched_ns;
    struct process_tracker *tracker;
};

/* Adds a directory to look into, unless it is there already. */
static void
add_place(struct system_list *systemwide, const char *path, uid_t real, uid_t effective,
          bool found)
{
    struct segment_place *place = &systemwide->places[systemwide->count];
    struct stat st;

    if (systemwide->count == TREES || stat(path, &st) < 0)
        return;
    for (unsigned i = 0; i < systemwide->count; i++)
        if (systemwide->places[i].device == st.st_dev
            && systemwide->places[i].inode == st.st_ino)
            return;
    *place = (struct segment_place){tree_new_all(path, real, effective), st.st_dev,
                                    st.st_ino, found};
    systemwide->count += place->tree != NULL;
}

static void
add_known_places(struct system_list *systemwide)
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
        add_place(systemwide, path, getuid(), geteuid(), false);
    }
}

struct system_list *
system_list_new(void)
{
    struct system_list *systemwide = calloc(1, sizeof *systemwide);

    if (systemwide == NULL)
        return NULL;
    systemwide->tracker = process_tracker_new(NULL, NULL, false);
    if (systemwide->tracker == NULL) {
        free(systemwide);
        return NULL;
    }
    add_known_places(systemwide);
    return systemwide;
}

void
system_list_free(struct system_list *systemwide)
{
    if (systemwide == NULL)
        return;
    for (unsigned i = 0; i < systemwide->count; i++)
        tree_free(systemwide->places[i].tree);
    process_tracker_free(systemwide->tracker);
    free(systemwide);
}

/* ---- processes with their own directories ---- */

/* A container's directory would be kept forever after its end. */
static void
forget_empty_places(struct system_list *systemwide)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < systemwide->count; i++) {
        struct segment_place place = systemwide->places[i];

        if (place.found && tree_empty(place.tree))
            tree_free(place.tree);
        else
            systemwide->places[kept++] = place;
    }
    systemwide->count = kept;
}

static void
look_at_process(void *context, pid_t pid)
{
    struct system_list *systemwide = context;
    struct located located;
    uid_t real, effective;

    if (process_tracker_follows(systemwide->tracker, pid)
        || procfs_uids(pid, &real, &effective)
        || (real != getuid() && effective != geteuid() && geteuid() != 0))
        return;
    if (locate_segment(pid, &located) == 0 && located.directory[0])
        add_place(systemwide, located.directory, located.real, located.effective, true);
}

static void
scan(struct system_list *systemwide)
{
    for (unsigned i = 0; i < systemwide->count; i++)
        if (tree_scan(systemwide->places[i].tree))
            process_tracker_look(systemwide->tracker, systemwide->places[i].tree);
}

void
system_list_poll(struct system_list *systemwide, int64_t now_ns)
{
    scan(systemwide);
    if (systemwide->searched_ns == 0 || now_ns - systemwide->searched_ns >= SEARCH_NS) {
        systemwide->searched_ns = now_ns;
        forget_empty_places(systemwide);
        procfs_each(look_at_process, systemwide);
        scan(systemwide);
    }
    process_tracker_take(systemwide->tracker, now_ns, true);
}

const struct process_list *
system_list_processes(const struct system_list *systemwide)
{
    return process_tracker_list(systemwide->tracker);
}
