/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A list of the directory's entries, brought up to date when the directory's
 * time has changed.  Each new segment is opened once, to learn whose it is;
 * strangers are remembered too, so that they are not opened again.
 *
 * A program may fork without end, and each dead child's segment is memory:
 * only the latest KEPT_DEAD of them stay until the end.
 */
#include "config.h"

#include "monitor/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "segment/clock.h"
#include "segment/names.h"
#include "segment/reader.h"

#define KEPT_DEAD 64

/* Times of directories advance with the kernel's tick: a change within the
   tick of our look would leave the time as it is. */
#define TICK_NS INT64_C(20000000)

struct member {
    pid_t pid;
    uint32_t generation;
    bool ours;
    bool counts; /* not of a program that -n leaves out */
    bool present; /* in the scan under way */
};

struct tree {
    char path[SEGMENT_PATH_MAX];
    int directory; /* -1: none */
    pid_t root;
    uint32_t generation; /* of the root, newest */
    uint64_t started_ns; /* CLOCK_BOOTTIME */
    unsigned seen;
    struct member *members;
    size_t count, room;
    int64_t changed_ns; /* the directory's time at the last scan */
    bool again;         /* scan again whatever it says */
};

struct tree *
tree_new(const char *directory, pid_t root, uint32_t first)
{
    struct tree *tree = calloc(1, sizeof *tree);

    if (!tree)
        return NULL;
    snprintf(tree->path, sizeof tree->path, "%s", directory);
    tree->directory = -1;
    if (*directory)
        tree->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    tree->root = root;
    tree->generation = first;
    tree->started_ns = (uint64_t)clock_ns(CLOCK_BOOTTIME);
    tree->again = true;
    return tree;
}

void
tree_free(struct tree *tree)
{
    if (!tree)
        return;
    if (tree->directory >= 0)
        close(tree->directory);
    free(tree->members);
    free(tree);
}

static struct member *
find_member(struct tree *tree, pid_t pid, uint32_t generation)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->members[i].pid == pid && tree->members[i].generation == generation)
            return &tree->members[i];
    return NULL;
}

static bool
has_earlier(const struct tree *tree, pid_t pid)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->members[i].counts && tree->members[i].pid == pid)
            return true;
    return false;
}

static struct member *
add_member(struct tree *tree, pid_t pid, uint32_t generation)
{
    if (tree->count == tree->room) {
        size_t room = tree->room ? tree->room * 2 : 64;
        struct member *members = reallocarray(tree->members, room, sizeof *members);

        if (!members)
            return NULL;
        tree->members = members;
        tree->room = room;
    }
    tree->members[tree->count] = (struct member){.pid = pid, .generation = generation};
    return &tree->members[tree->count++];
}

/* Reads who a segment is, a stranger (keeper 0) if it cannot be read; false if
   that cannot be told yet. */
static bool
identify(struct tree *tree, const char *name, struct identity *identity)
{
    char path[SEGMENT_PATH_MAX + 32];
    struct reader *reader;
    int error;

    identity->keeper = 0;
    snprintf(path, sizeof path, "%s/%s", tree->path, name);
    error = reader_open(path, getuid(), geteuid(), &reader);
    if (error) /* too short or without a header: just being made */
        return error != -EMSGSIZE && error != -EPROTO;
    error = reader_identity(reader, identity);
    reader_close(reader);
    return error == 0 && identity->state != SEGMENT_EMPTY
           && identity->state != SEGMENT_PREPARED;
}

/* A segment with our keeper from before our time is that of an earlier process
   with our pid. */
static bool
is_ours(const struct tree *tree, const struct identity *identity)
{
    return identity->keeper == getpid()
           && identity->created_boottime_ns + UINT64_C(1000000000) >= tree->started_ns;
}

static void
look_at(struct tree *tree, const char *name)
{
    struct identity identity;
    struct member *member;
    uint32_t generation;
    pid_t pid;
    bool earlier;

    if (!segment_name_parse(name, &pid, &generation))
        return;
    member = find_member(tree, pid, generation);
    if (member) {
        member->present = true;
        return;
    }
    if (!identify(tree, name, &identity)) {
        tree->again = true;
        return;
    }
    earlier = has_earlier(tree, pid);
    member = add_member(tree, pid, generation);
    if (!member)
        return;
    member->present = true;
    member->ours = is_ours(tree, &identity);
    if (!member->ours)
        return;
    member->counts = identity.state != SEGMENT_PASSIVE
                     && identity.reason == REASON_NONE;
    if (pid != tree->root)
        tree->seen += member->counts && !earlier;
    else if (generation > tree->generation)
        tree->generation = generation;
}

static bool
process_lives(pid_t pid)
{
    return kill(pid, 0) == 0 || errno != ESRCH;
}

static void
unlink_member(struct tree *tree, const struct member *member)
{
    char name[24];

    segment_name(name, member->pid, member->generation);
    unlinkat(tree->directory, name, 0);
}

static void
forget_absent(struct tree *tree)
{
    size_t kept = 0;

    for (size_t i = 0; i < tree->count; i++)
        if (tree->members[i].present)
            tree->members[kept++] = tree->members[i];
    tree->count = kept;
}

void
tree_prune(struct tree *tree)
{
    unsigned dead = 0;

    for (size_t i = tree->count; i-- > 0;) {
        struct member *member = &tree->members[i];

        if (!member->ours || member->pid == tree->root || process_lives(member->pid)
            || ++dead <= KEPT_DEAD)
            continue;
        unlink_member(tree, member);
        member->present = false;
    }
    forget_absent(tree);
}

/* True if the directory may differ from what the last scan saw. */
static bool
changed(struct tree *tree)
{
    struct stat st;
    int64_t changed_ns;
    bool result;

    if (fstat(tree->directory, &st) < 0)
        return false;
    changed_ns = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
    result = tree->again || changed_ns != tree->changed_ns;
    tree->changed_ns = changed_ns;
    tree->again = clock_ns(CLOCK_REALTIME) - changed_ns < TICK_NS;
    return result;
}

bool
tree_scan(struct tree *tree)
{
    struct dirent *entry;
    DIR *entries;
    int copy;

    if (tree->directory < 0 || !changed(tree))
        return false;
    copy = openat(tree->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    entries = copy < 0 ? NULL : fdopendir(copy);
    if (!entries) {
        if (copy >= 0)
            close(copy);
        return false;
    }
    for (size_t i = 0; i < tree->count; i++)
        tree->members[i].present = false;
    while ((entry = readdir(entries)))
        look_at(tree, entry->d_name);
    closedir(entries);
    forget_absent(tree);
    return true;
}

void
tree_each(const struct tree *tree,
          void (*visit)(void *context, pid_t pid, uint32_t generation), void *context)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->members[i].ours)
            visit(context, tree->members[i].pid, tree->members[i].generation);
}

uint32_t
tree_generation(const struct tree *tree)
{
    return tree->generation;
}

unsigned
tree_seen(const struct tree *tree)
{
    return tree->seen;
}

/* An earlier image of its process: gone by exec, and nobody else removes it. */
static bool
has_later(const struct tree *tree, const struct member *member)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->members[i].ours && tree->members[i].pid == member->pid
            && tree->members[i].generation > member->generation)
            return true;
    return false;
}

void
tree_unlink(struct tree *tree, bool root_ended)
{
    if (tree->directory < 0)
        return;
    tree->again = true;
    tree_scan(tree);
    for (size_t i = 0; i < tree->count; i++) {
        const struct member *member = &tree->members[i];
        bool ended = member->pid == tree->root ? root_ended : !process_lives(member->pid);

        if (member->ours && (ended || has_later(tree, member)))
            unlink_member(tree, member);
    }
}
