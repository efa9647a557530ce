/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The drains of all processes of a tree, and their files.
 *
 * In each round the order matters: first who has ended, then which segments
 * there are, then what the rings hold.  So what an ended process has left is
 * complete when its rings are emptied for the last time.
 *
 * A file that cannot be written is given up and said; its rings are emptied all
 * the same, for the program waits while they are full.
 */
#include "config.h"

#include "trace/record.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/tree.h"
#include "segment/clock.h"
#include "segment/drain.h"

/* A program that does nothing but malloc and free fills a ring in half a
   millisecond, and when it is full looks again every 0.1 ms.  A quiet one is
   left in peace. */
#define BUSY_NS  INT64_C(50000)
#define QUIET_NS INT64_C(8000000)

struct traced {
    pid_t pid;
    uint32_t generation;     /* of the image whose rings are open */
    bool first;              /* the one whose records are watched */
    bool ended;              /* as of this round */
    bool closed;             /* ended, and everything is written */
    bool listed;             /* its segment is still there */
    struct drain *drain;     /* NULL once that image is done with */
    struct dat_writer *file; /* NULL: given up, or none wanted */
    char *path;
    int64_t image_ns;        /* CLOCK_MONOTONIC at the image's start */
    uint64_t heap;
};

struct record {
    struct record_options options;
    struct dat_writer *file; /* of the first process, until it comes */
    char *path;
    struct tree *tree;
    char directory[SEGMENT_PATH_MAX];
    pid_t root;
    int64_t epoch_ns; /* CLOCK_REALTIME less CLOCK_MONOTONIC */
    struct traced *traced;
    size_t count, room;
    unsigned processes;
    uint64_t lost;       /* of drains that are closed */
    int64_t round_ns;    /* CLOCK_MONOTONIC of the last round */
    int64_t interval_ns; /* until the next */
};

static uint64_t
epoch_now(const struct record *record)
{
    return (uint64_t)(record->epoch_ns + clock_ns(CLOCK_MONOTONIC));
}

/* ---- files ---- */

static void
give_up(const struct record *record, const char *path, int error)
{
    if (record->options.failed != NULL)
        record->options.failed(record->options.context, path, error);
}

/* Completes a process's file, whatever became of it. */
static void
close_file(const struct record *record, struct traced *traced)
{
    int error;

    if (traced->file == NULL)
        return;
    error = dat_close(traced->file, epoch_now(record));
    traced->file = NULL;
    if (error != 0)
        give_up(record, traced->path, error);
}

/* FILE.PID, or FILE.PID.GENERATION for a second process of that number. */
static char *
name_file(const struct record *record, const struct traced *traced, bool second)
{
    char *path;
    int length = second ? asprintf(&path, "%s.%ld.%lu", record->options.path,
                                   (long)traced->pid, (unsigned long)traced->generation)
                        : asprintf(&path, "%s.%ld", record->options.path,
                                   (long)traced->pid);

    return length < 0 ? NULL : path;
}

static void
open_file(struct record *record, struct traced *traced, bool second)
{
    int error;

    if (record->options.path == NULL)
        return;
    if (traced->first) {
        traced->file = record->file;
        traced->path = record->path;
        record->file = NULL;
        record->path = NULL;
        return;
    }
    traced->path = name_file(record, traced, second);
    if (traced->path == NULL)
        return;
    error = dat_create(traced->path, record->options.replace,
                       (uint64_t)(record->epoch_ns + traced->image_ns),
                       record->options.buffered, &traced->file);
    if (error != 0)
        give_up(record, traced->path, error);
}

/* ---- records ---- */

static void
write_record(const struct record *record, struct traced *traced,
             const struct drained *event)
{
    const struct dat_record data = {
        .heap = traced->heap,
        .stack = event->depth,
        .time = (uint64_t)(record->epoch_ns + traced->image_ns) + event->time_ns,
    };
    int error = 0;

    if (traced->first && record->options.watch != NULL)
        record->options.watch(record->options.context, &data);
    if (traced->file != NULL)
        error = dat_write(traced->file, &data);
    if (error != 0)
        close_file(record, traced); /* says so */
}

/* Each event acts on its own, so that one that was lost does no more harm than
   its own size. */
static void
apply(const struct record *record, struct traced *traced, const struct drained *event)
{
    switch (event->kind) {
    case FN_FREE:
    case EVENT_REALLOC_FROM:
        traced->heap -= event->size < traced->heap ? event->size : traced->heap;
        break;
    case EVENT_REALLOC_FREED:
        break;
    default:
        traced->heap += event->size;
    }
    if (event->kind != EVENT_REALLOC_FROM && event->kind != EVENT_REALLOC_KEPT)
        write_record(record, traced, event);
}

struct taking {
    const struct record *record;
    struct traced *traced;
};

static void
take(void *context, const struct drained *events, size_t count)
{
    const struct taking *taking = context;

    for (size_t i = 0; i < count; i++)
        apply(taking->record, taking->traced, &events[i]);
}

/* The image is gone: what it left, and its drain. */
static void
finish_image(struct record *record, struct traced *traced, bool final)
{
    struct taking taking = {record, traced};

    if (traced->drain == NULL)
        return;
    drain_round(traced->drain, final, take, &taking);
    record->lost += drain_lost(traced->drain);
    drain_close(traced->drain);
    traced->drain = NULL;
}

static void
finish_process(struct record *record, struct traced *traced, bool final)
{
    finish_image(record, traced, final);
    close_file(record, traced);
    traced->closed = true;
}

/* ---- who there is ---- */

static struct traced *
find(struct record *record, pid_t pid)
{
    for (size_t i = record->count; i-- > 0;)
        if (record->traced[i].pid == pid)
            return &record->traced[i];
    return NULL;
}

static struct traced *
add(struct record *record, pid_t pid)
{

    if (record->count == record->room) {
        size_t room = record->room * 2 + 16;
        struct traced *grown = reallocarray(record->traced, room, sizeof *grown);
        if (grown == NULL)
            return NULL;
        record->traced = grown;
        record->room = room;
    }
    record->traced[record->count] =
        (struct traced){.pid = pid, .first = record->processes++ == 0};
    return &record->traced[record->count++];
}

/* Goes over to another image of the process. */
static void
take_image(struct record *record, struct traced *traced, struct drain *drain,
           uint32_t generation)
{
    uint64_t image_ns;

    finish_image(record, traced, true);
    drain_origin(drain, &image_ns, &traced->heap);
    traced->drain = drain;
    traced->generation = generation;
    traced->image_ns = (int64_t)image_ns;
    traced->listed = true;
}

/* A segment not seen before: a new process, or an image that follows another. */
static void
open_image(struct record *record, pid_t pid, uint32_t generation)
{
    struct traced *traced = find(record, pid);
    bool known = traced != NULL, new = !known || traced->closed;
    char path[SEGMENT_PATH_MAX + 32], name[24];
    struct drain *drain;

    segment_name(name, pid, generation);
    snprintf(path, sizeof path, "%s/%s", record->directory, name);
    if (drain_open(path, getuid(), geteuid(), &drain) < 0)
        return; /* of another program than -n names, or not ready: next time */
    if (new)
        traced = add(record, pid);
    if (traced == NULL) {
        drain_close(drain);
        return;
    }
    take_image(record, traced, drain, generation);
    if (new)
        open_file(record, traced, known);
}

struct segment {
    pid_t pid;
    uint32_t generation;
};

/* The segments the tree has, in the order in which they are to be opened. */
struct listing {
    pid_t root;
    struct segment *segments;
    size_t count, room;
};

static void
list_segment(void *context, const struct tree_segment *segment)
{
    struct listing *listing = context;

    if (listing->count == listing->room) {
        size_t room = listing->room * 2 + 64;
        struct segment *grown = reallocarray(listing->segments, room, sizeof *grown);
        if (grown == NULL)
            return;
        listing->segments = grown;
        listing->room = room;
    }
    listing->segments[listing->count++] =
        (struct segment){segment->pid, segment->generation};
}

static pid_t listing_root; /* qsort() has no context */

/* The root first: the first file is its. */
static int
by_process(const void *left, const void *right)
{
    const struct segment *a = left, *b = right;

    if (a->pid != b->pid)
        return a->pid == listing_root ? -1 : b->pid == listing_root ? 1
               : a->pid < b->pid      ? -1 : 1;
    return a->generation < b->generation ? -1 : a->generation > b->generation;
}

/* Forgets processes of which nothing is left. */
static void
forget(struct record *record)
{
    size_t kept = 0;

    for (size_t i = 0; i < record->count; i++) {
        if (record->traced[i].closed && !record->traced[i].listed)
            free(record->traced[i].path);
        else
            record->traced[kept++] = record->traced[i];
    }
    record->count = kept;
}

static void
look_for_segments(struct record *record)
{
    struct listing listing = {.root = record->root};

    if (!tree_scan(record->tree))
        return;
    tree_each(record->tree, list_segment, &listing);
    listing_root = record->root;
    if (listing.count > 0)
        qsort(listing.segments, listing.count, sizeof *listing.segments, by_process);
    for (size_t i = 0; i < record->count; i++)
        record->traced[i].listed = false;
    for (size_t i = 0; i < listing.count; i++) {
        const struct segment *segment = &listing.segments[i];
        struct traced *traced = find(record, segment->pid);

        if (traced != NULL && segment->generation <= traced->generation)
            traced->listed = true;
        else
            open_image(record, segment->pid, segment->generation);
    }
    free(listing.segments);
    tree_prune(record->tree);
    forget(record);
}

/* The root is a zombie until memtop has waited for it, which others do. */
static void
look_for_ended(struct record *record, bool root_ended)
{
    for (size_t i = 0; i < record->count; i++) {
        struct traced *traced = &record->traced[i];

        if (traced->pid == record->root)
            traced->ended = root_ended;
        else if (!traced->ended)
            traced->ended = kill(traced->pid, 0) < 0 && errno == ESRCH;
    }
}

/* ---- from outside ---- */

int
record_new(const struct record_options *options, struct record **out)
{
    struct record *record = calloc(1, sizeof *record);
    int error = 0;

    if (record == NULL)
        return -ENOMEM;
    record->options = *options;
    record->epoch_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
    if (options->path != NULL) {
        record->path = strdup(options->path);
        error = record->path == NULL ? -ENOMEM
                : dat_create(options->path, options->replace, epoch_now(record),
                             options->buffered, &record->file);
    }
    if (error != 0)
        record_free(record, false);
    else
        *out = record;
    return error;
}

int
record_start(struct record *record, const struct launched *launched)
{
    snprintf(record->directory, sizeof record->directory, "%s", launched->directory);
    record->root = launched->pid;
    record->tree = tree_new(launched->directory, launched->pid);
    return record->tree != NULL ? 0 : -ENOMEM;
}

/* One round; how many events it brought. */
static long
round_of_all(struct record *record)
{
    long events = 0;

    for (size_t i = 0; i < record->count; i++) {
        struct traced *traced = &record->traced[i];
        struct taking taking = {record, traced};
        long got;

        if (traced->drain == NULL)
            continue;
        got = drain_round(traced->drain, false, take, &taking);
        if (got > events)
            events = got;
        if (got == -EMSGSIZE) /* its owner has cut the segment short */
            finish_image(record, traced, false);
    }
    return events;
}

/* At the rate of the last round the rings are half full by then. */
static int64_t
choose_interval(struct record *record, long events)
{
    const long half = RING_CAPACITY_DEFAULT / 2;
    int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    int64_t elapsed_ns = now_ns - record->round_ns;
    int64_t most_ns = record->interval_ns * 2 + BUSY_NS;
    int64_t wanted_ns = most_ns;

    if (events >= half)
        wanted_ns = 0;
    else if (events > 0 && elapsed_ns < QUIET_NS * 2)
        wanted_ns = elapsed_ns * half / events;
    record->round_ns = now_ns;
    record->interval_ns = wanted_ns < most_ns ? wanted_ns : most_ns;
    if (record->interval_ns > QUIET_NS)
        record->interval_ns = QUIET_NS;
    return record->interval_ns;
}

int64_t
record_poll(struct record *record)
{
    long events;

    if (record->tree == NULL)
        return QUIET_NS;
    look_for_ended(record, false);
    look_for_segments(record);
    events = round_of_all(record);
    for (size_t i = 0; i < record->count; i++)
        if (record->traced[i].ended && !record->traced[i].closed)
            finish_process(record, &record->traced[i], true);
    return choose_interval(record, events);
}

void
record_finish(struct record *record, bool root_ended)
{
    if (record->tree != NULL) {
        look_for_ended(record, root_ended);
        look_for_segments(record);
    }
    for (size_t i = 0; i < record->count; i++)
        if (!record->traced[i].closed)
            finish_process(record, &record->traced[i], record->traced[i].ended);
    if (record->file != NULL) { /* nobody came to use it */
        int error = dat_close(record->file, epoch_now(record));
        record->file = NULL;
        if (error != 0)
            give_up(record, record->path, error);
    }
}

uint64_t
record_lost(const struct record *record)
{
    return record->lost;
}

unsigned
record_processes(const struct record *record)
{
    return record->processes;
}

void
record_free(struct record *record, bool discard)
{
    if (record == NULL)
        return;
    record_finish(record, false);
    if (discard && record->path != NULL && !record->options.replace)
        unlink(record->path);
    for (size_t i = 0; i < record->count; i++)
        free(record->traced[i].path);
    free(record->traced);
    free(record->path);
    tree_free(record->tree);
    free(record);
}
