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
    struct tree_segment segment; /* first, to be sorted by */
    uint64_t inode; /* without a keeper a generation's number is used again */
    bool ours;
    bool dead;      /* its process has ended */
    bool present;   /* in the scan under way */
};

struct tree {
    char path[SEGMENT_PATH_MAX];
    int directory; /* -1: none */
    bool keeps;             /* those whose keeper is this memtop; else all */
    pid_t root;
    uint64_t started_ns;    /* CLOCK_BOOTTIME; of those it keeps */
    uint64_t pid_namespace; /* of all others */
    uid_t real, effective;  /* whose segments are read */
    unsigned seen;
    struct member *members;
    size_t count, room;
    int64_t changed_ns; /* the directory's time at the last scan */
    bool again;         /* scan again whatever it says */
    unsigned looks;
};

static struct tree *
open_tree(const char *directory)
{
    struct tree *tree = calloc(1, sizeof *tree);

    if (!tree)
        return NULL;
    snprintf(tree->path, sizeof tree->path, "%s", directory);
    tree->directory = -1;
    if (*directory)
        tree->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    tree->again = true;
    return tree;
}

struct tree *
tree_new(const char *directory, pid_t root)
{
    struct tree *tree = open_tree(directory);

    if (!tree)
        return NULL;
    tree->keeps = true;
    tree->root = root;
    tree->real = getuid();
    tree->effective = geteuid();
    tree->started_ns = (uint64_t)clock_ns(CLOCK_BOOTTIME);
    return tree;
}

struct tree *
tree_new_all(const char *directory, uint64_t pid_namespace, uid_t owner_real,
             uid_t owner_effective)
{
    struct tree *tree = open_tree(directory);

    if (!tree)
        return NULL;
    tree->pid_namespace = pid_namespace;
    tree->real = owner_real;
    tree->effective = owner_effective;
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
        if (tree->members[i].segment.pid == pid
            && tree->members[i].segment.generation == generation)
            return &tree->members[i];
    return NULL;
}

static bool
has_earlier(const struct tree *tree, pid_t pid)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->members[i].segment.counts && tree->members[i].segment.pid == pid)
            return true;
    return false;
}

static struct member *
add_member(struct tree *tree)
{
    if (tree->count == tree->room) {
        size_t room = tree->room ? tree->room * 2 : 64;
        struct member *members = reallocarray(tree->members, room, sizeof *members);

        if (!members)
            return NULL;
        tree->members = members;
        tree->room = room;
    }
    return &tree->members[tree->count++];
}

/* Reads who a segment is; false if that cannot be told yet.  *error: it cannot be
   read at all. */
static bool
identify(struct tree *tree, const char *name, struct identity *identity, int *error)
{
    char path[SEGMENT_PATH_MAX + 32];
    struct reader *reader;

    snprintf(path, sizeof path, "%s/%s", tree->path, name);
    *error = reader_open(path, tree->real, tree->effective, &reader);
    if (*error) /* too short or without a header: just being made */
        return *error != -EMSGSIZE && *error != -EPROTO;
    *error = reader_identity(reader, identity);
    reader_close(reader);
    return *error == 0 && identity->state != SEGMENT_EMPTY
           && identity->state != SEGMENT_PREPARED;
}

/* A segment with our keeper from before our time is that of an earlier process
   with our pid. */
static bool
is_ours(const struct tree *tree, const struct identity *identity)
{
    if (!tree->keeps)
        return identity->pid_namespace == tree->pid_namespace;
    return identity->keeper == getpid()
           && identity->created_boottime_ns + UINT64_C(1000000000) >= tree->started_ns;
}

static struct member
make_member(const struct tree *tree, pid_t pid, uint32_t generation,
            const struct identity *identity, int error)
{
    struct member member = {.segment = {.pid = pid, .generation = generation},
                            .present = true};

    if (error) {
        member.segment.alien = error == -EPROTONOSUPPORT;
        member.ours = member.segment.alien && !tree->keeps;
        return member;
    }
    member.ours = is_ours(tree, identity);
    member.segment.parent = identity->parent;
    member.segment.created_boottime_ns = identity->created_boottime_ns;
    member.segment.counts = member.ours && identity->state != SEGMENT_PASSIVE
                            && identity->reason == REASON_NONE;
    return member;
}

static void
look_at(struct tree *tree, const char *name, uint64_t inode)
{
    struct identity identity;
    struct member *place, member;
    uint32_t generation;
    pid_t pid;
    int error;

    if (!segment_name_parse(name, &pid, &generation))
        return;
    place = find_member(tree, pid, generation);
    if (place && place->inode == inode) {
        place->present = true;
        return;
    }
    if (!identify(tree, name, &identity, &error)) {
        tree->again = true;
        return;
    }
    member = make_member(tree, pid, generation, &identity, error);
    member.inode = inode;
    if (pid != tree->root && member.segment.counts && !has_earlier(tree, pid))
        tree->seen++;
    if (!place)
        place = add_member(tree);
    if (place)
        *place = member;
}

/* Cheap, for many: a number that has passed to another process is found at the
   end. */
static bool
has_ended(struct member *member)
{
    if (!member->dead)
        member->dead = kill(member->segment.pid, 0) < 0 && errno == ESRCH;
    return member->dead;
}

static void
unlink_member(struct tree *tree, const struct member *member)
{
    char name[24];

    segment_name(name, member->segment.pid, member->segment.generation);
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

    if (!tree->keeps)
        return;
    for (size_t i = tree->count; i-- > 0;) {
        struct member *member = &tree->members[i];

        if (!member->ours || member->segment.pid == tree->root || !has_ended(member)
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

static int
by_age(const void *left, const void *right)
{
    const struct tree_segment *a = left, *b = right;

    return (a->created_boottime_ns > b->created_boottime_ns)
           - (a->created_boottime_ns < b->created_boottime_ns);
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
        look_at(tree, entry->d_name, entry->d_ino);
    closedir(entries);
    forget_absent(tree);
    if (tree->count > 1)
        qsort(tree->members, tree->count, sizeof *tree->members, by_age);
    tree->looks++;
    return true;
}

unsigned
tree_looks(const struct tree *tree)
{
    return tree->looks;
}

void
tree_each(const struct tree *tree,
          void (*visit)(void *context, const struct tree_segment *segment), void *context)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->members[i].ours)
            visit(context, &tree->members[i].segment);
}

const struct tree_segment *
tree_newest(const struct tree *tree, pid_t pid)
{
    const struct tree_segment *newest = NULL;

    for (size_t i = 0; i < tree->count; i++) {
        const struct tree_segment *segment = &tree->members[i].segment;

        if (tree->members[i].ours && segment->pid == pid
            && (!newest || segment->created_boottime_ns > newest->created_boottime_ns))
            newest = segment;
    }
    return newest;
}

const char *
tree_directory(const struct tree *tree)
{
    return tree->path;
}

unsigned
tree_seen(const struct tree *tree)
{
    return tree->seen;
}

static bool
is_over(const struct tree *tree, const struct member *member, bool root_ended)
{
    const struct tree_segment *segment = &member->segment;

    /* An earlier image is gone by exec, and nobody else removes it. */
    if (tree_newest(tree, segment->pid) != segment)
        return true;
    if (segment->pid == tree->root)
        return root_ended;
    return member->dead
           || !segment_process_lives(segment->pid, segment->created_boottime_ns);
}

void
tree_unlink(struct tree *tree, bool root_ended)
{
    if (tree->directory < 0 || !tree->keeps)
        return;
    tree->again = true;
    tree_scan(tree);
    for (size_t i = 0; i < tree->count; i++)
        if (tree->members[i].ours && is_over(tree, &tree->members[i], root_ended))
            unlink_member(tree, &tree->members[i]);
}
