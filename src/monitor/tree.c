/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A list of the directory's segments, updated when the directory's time has changed.
 * Each new segment is opened once, to learn whose it is; strangers' are remembered too,
 * so that they are not opened again.  For one from another pid namespace the pid it has
 * in ours is looked up in /proc; the pid in its own namespace is never used as one of
 * ours.
 *
 * A program may fork without end, and each dead child's segment takes memory: only the
 * latest KEPT_DEAD of them stay until the end.
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

#include "system/locate.h"
#include "system/pidspace.h"
#include "system/procfs.h"
#include "base/array.h"
#include "base/clock.h"
#include "segment/names.h"

#define KEPT_DEAD 64

/* Times of directories advance with the kernel's tick: a change within the tick of our
   scan would leave the time as it is. */
#define TICK_NS INT64_C(20000000)

struct tree_member {
    struct tree_segment segment; /* first, because it is sorted by */
    uint64_t inode; /* without a keeper a generation number is reused */
    bool ours;
    bool dead;      /* its process has ended */
    bool present;   /* seen in the current scan */
};

struct tree {
    char path[SEGMENT_PATH_MAX];
    int directory; /* -1: none */
    bool keeps;             /* only segments whose keeper is this memtop */
    pid_t root;
    uint64_t started_ns;    /* CLOCK_BOOTTIME; start of this memtop's time as keeper */
    uint64_t pid_namespace; /* ours */
    struct pidspace *others; /* processes of other namespaces, during a scan, or NULL */
    uid_t real, effective;  /* uids whose segments are read */
    unsigned seen;
    struct tree_member *members;
    size_t count, room;
    int64_t changed_ns; /* the directory's time at the last scan */
    bool again;         /* scan again even if it has not changed */
    unsigned looks;
    struct listener {
        tree_leave *leave; /* or NULL */
        void *context;
    } listeners[TREE_LISTENERS];
};

static struct tree *
open_tree(const char *directory)
{
    struct tree *tree = calloc(1, sizeof *tree);

    if (tree == NULL)
        return NULL;
    snprintf(tree->path, sizeof tree->path, "%s", directory);
    tree->pid_namespace = segment_pid_namespace();
    tree->directory = -1;
    if (*directory)
        tree->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* A path through a process in /proc would end with the process. */
    if (tree->directory >= 0 && strncmp(directory, "/proc/", 6) == 0)
        snprintf(tree->path, sizeof tree->path, "/proc/self/fd/%d", tree->directory);
    tree->again = true;
    return tree;
}

struct tree *
tree_new(const char *directory, pid_t root)
{
    struct tree *tree = open_tree(directory);

    if (tree == NULL)
        return NULL;
    tree->keeps = true;
    tree->root = root;
    tree->real = getuid();
    tree->effective = geteuid();
    tree->started_ns = (uint64_t)clock_ns(CLOCK_BOOTTIME);
    return tree;
}

struct tree *
tree_new_all(const char *directory, uid_t owner_real, uid_t owner_effective)
{
    struct tree *tree = open_tree(directory);

    if (tree == NULL)
        return NULL;
    tree->real = owner_real;
    tree->effective = owner_effective;
    return tree;
}

void
tree_free(struct tree *tree)
{
    if (tree == NULL)
        return;
    if (tree->directory >= 0)
        close(tree->directory);
    free(tree->members);
    free(tree);
}

static struct tree_member *
find_member(struct tree *tree, pid_t own_pid, uint32_t generation)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->members[i].segment.own_pid == own_pid
            && tree->members[i].segment.generation == generation)
            return &tree->members[i];
    return NULL;
}

static bool
has_earlier(const struct tree *tree, const struct tree_segment *segment)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->members[i].segment.counts
            && tree_same_process(&tree->members[i].segment, segment))
            return true;
    return false;
}

static struct tree_member *
add_member(struct tree *tree)
{
    if (!ARRAY_GROW(tree->members, tree->room, tree->count + 1))
        return NULL;
    return &tree->members[tree->count++];
}

int
tree_open(const struct tree *tree, const struct tree_segment *segment,
          struct reader **out)
{
    char path[SEGMENT_PATH_MAX + 32], name[24];

    segment_name(name, segment->own_pid, segment->generation);
    snprintf(path, sizeof path, "%s/%s", tree->path, name);
    return reader_open(path, tree->real, tree->effective, out);
}

/* Reads a segment's identity; false if it cannot be told yet.  *error: it cannot be read
   at all. */
static bool
identify(const struct tree *tree, const struct tree_segment *segment,
         struct identity *identity, int *error)
{
    struct reader *reader;

    *error = tree_open(tree, segment, &reader);
    if (*error) /* too short or without a header: it is being made */
        return *error != -EMSGSIZE && *error != -EPROTO;
    *error = reader_identity(reader, identity);
    reader_close(reader);
    return *error == 0 && identity->state != SEGMENT_EMPTY
           && identity->state != SEGMENT_PREPARED;
}

static bool
has_mapped(void *context, pid_t pid)
{
    const uint64_t *inode = context;

    return locate_has_mapped(pid, *inode);
}

/* The pid, in our namespace, of the process that has made a segment, or 0.  A process
   without /proc does not know its namespace: then its mappings tell, and a descendant
   that has mapped nothing any more is assumed to have been in ours. */
static pid_t
our_number(struct tree *tree, const struct tree_segment *segment, uint64_t inode)
{
    const pid_t own = segment->own_pid;
    pid_t found;

    if (segment->pid_namespace == tree->pid_namespace
        || (segment->pid_namespace == 0 && locate_has_mapped(own, inode)))
        return own;
    if (tree->others == NULL)
        tree->others = pidspace_read();
    if (tree->others == NULL)
        return 0;
    if (segment->pid_namespace)
        return pidspace_find(tree->others, segment->pid_namespace, own);
    found = pidspace_search(tree->others, own, has_mapped, &inode);
    return found == 0 && tree->keeps ? own : found;
}

/* A segment with our pid as keeper from before our time belonged to an earlier process
   with our pid. */
static bool
is_ours(const struct tree *tree, const struct identity *identity)
{
    if (!tree->keeps)
        return true;
    return identity->keeper == getpid()
           && identity->created_boottime_ns + UINT64_C(1000000000) >= tree->started_ns;
}

/* A child in its own pid namespace does not see its keeper there, and so has none: it is
   recognised by its ancestors. */
static bool
descends(const struct tree *tree, pid_t pid)
{
    struct procfs_stat stat;

    for (int steps = 0; pid > 1 && steps < 64 && procfs_stat(pid, &stat) == 0; steps++) {
        pid = stat.parent;
        if (pid == tree->root)
            return true;
    }
    return false;
}

static bool
is_elsewhere(const struct tree *tree, const struct tree_segment *segment)
{
    return segment->pid_namespace != 0 && segment->pid_namespace != tree->pid_namespace;
}

/* Fills in what the identity says, or the error for which there is none. */
static void
describe(struct tree *tree, struct tree_member *member, const struct identity *identity,
         int error)
{
    struct tree_segment *segment = &member->segment;

    if (error) { /* another version: only who has mapped it is known */
        segment->alien = error == -EPROTONOSUPPORT;
        if (segment->alien && !tree->keeps)
            segment->pid = our_number(tree, segment, member->inode);
        member->ours = segment->pid > 0;
        return;
    }
    segment->pid_namespace = identity->pid_namespace;
    segment->created_boottime_ns = identity->created_boottime_ns;
    member->ours = is_ours(tree, identity);
    if (member->ours || is_elsewhere(tree, segment))
        segment->pid = our_number(tree, segment, member->inode);
    if (tree->keeps && !member->ours && is_elsewhere(tree, segment))
        member->ours = descends(tree, segment->pid);
    if (!tree->keeps && segment->pid == 0)
        member->ours = false;
    segment->counts = member->ours && identity->state != SEGMENT_PASSIVE
                      && identity->reason == REASON_NONE;
}

static void
look_at(struct tree *tree, const char *name, uint64_t inode)
{
    struct tree_member *place, member = {.inode = inode, .present = true};
    struct tree_segment *segment = &member.segment;
    struct identity identity;
    int error;

    if (!segment_name_parse(name, &segment->own_pid, &segment->generation))
        return;
    place = find_member(tree, segment->own_pid, segment->generation);
    if (place != NULL && place->inode == inode) {
        place->present = true;
        return;
    }
    if (!identify(tree, segment, &identity, &error)) {
        tree->again = true;
        return;
    }
    describe(tree, &member, &identity, error);
    if (segment->pid != tree->root && segment->counts && !has_earlier(tree, segment))
        tree->seen++;
    if (place == NULL)
        place = add_member(tree);
    if (place != NULL)
        *place = member;
}

/* A cheap check, because there may be many: a pid that has been reused is noticed at the
   end. */
static bool
has_ended(struct tree_member *member)
{
    if (!member->dead)
        member->dead = member->segment.pid == 0
                       || (kill(member->segment.pid, 0) < 0 && errno == ESRCH);
    return member->dead;
}

static void
unlink_member(struct tree *tree, const struct tree_member *member)
{
    char name[24];

    segment_name(name, member->segment.own_pid, member->segment.generation);
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

static void
tell_removal(const struct tree *tree, const struct tree_segment *segment)
{
    for (size_t i = 0; i < TREE_LISTENERS; i++)
        if (tree->listeners[i].leave != NULL)
            tree->listeners[i].leave(tree->listeners[i].context, segment);
}

void
tree_prune(struct tree *tree)
{
    unsigned dead = 0;

    if (!tree->keeps)
        return;
    for (size_t i = tree->count; i-- > 0;) {
        struct tree_member *member = &tree->members[i];

        if (!member->ours || member->segment.pid == tree->root || !has_ended(member)
            || ++dead <= KEPT_DEAD)
            continue;
        tell_removal(tree, &member->segment);
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
    if (entries == NULL) {
        if (copy >= 0)
            close(copy);
        return false;
    }
    for (size_t i = 0; i < tree->count; i++)
        tree->members[i].present = false;
    while ((entry = readdir(entries)) != NULL)
        look_at(tree, entry->d_name, entry->d_ino);
    closedir(entries);
    pidspace_free(tree->others);
    tree->others = NULL;
    forget_absent(tree);
    if (tree->count > 1)
        qsort(tree->members, tree->count, sizeof *tree->members, by_age);
    tree->looks++;
    return true;
}

void
tree_on_removal(struct tree *tree, tree_leave *leave, void *context)
{
    for (size_t i = 0; i < TREE_LISTENERS; i++)
        if (tree->listeners[i].leave == NULL) {
            tree->listeners[i] = (struct listener){leave, context};
            return;
        }
}

void
tree_off_removal(struct tree *tree, tree_leave *leave, void *context)
{
    for (size_t i = 0; i < TREE_LISTENERS; i++)
        if (tree->listeners[i].leave == leave && tree->listeners[i].context == context)
            tree->listeners[i] = (struct listener){0};
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

/* The latest image of the same process. */
static const struct tree_segment *
newest_of(const struct tree *tree, const struct tree_segment *segment)
{
    for (size_t i = 0; i < tree->count; i++) {
        const struct tree_segment *other = &tree->members[i].segment;

        if (tree->members[i].ours && tree_same_process(other, segment)
            && other->created_boottime_ns > segment->created_boottime_ns)
            segment = other;
    }
    return segment;
}

const struct tree_segment *
tree_newest(const struct tree *tree, pid_t pid)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->members[i].ours && tree->members[i].segment.pid == pid)
            return newest_of(tree, &tree->members[i].segment);
    return NULL;
}

bool
tree_empty(const struct tree *tree)
{
    return tree->count == 0;
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
is_over(const struct tree *tree, struct tree_member *member, bool root_ended)
{
    const struct tree_segment *segment = &member->segment;

    /* An earlier image was replaced by exec; nothing else removes its segment. */
    if (newest_of(tree, segment) != segment)
        return true;
    if (segment->pid == tree->root)
        return root_ended;
    return has_ended(member)
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
