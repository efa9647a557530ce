/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drains the rings of all processes of a tree; the events go to record-dat.c,
 * record-trace.c and record-blocks.c.
 *
 * The order in a round matters: first which processes have ended, then which segments
 * there are, then what the rings hold.  So what an ended process has left is complete
 * when its rings are emptied for the last time.
 *
 * A file that cannot be written is given up and reported; the rings are still emptied,
 * because the program waits while they are full.
 */
#include "config.h"

#include "record/record.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "monitor/tree.h"
#include "base/clock.h"
#include "segment/drain.h"
#include "record/record-parts.h"

/* A program that does nothing but malloc and free fills a ring in half a millisecond, and
   while it is full checks again every 0.1 ms.  A quiet program is polled rarely. */
#define BUSY_NS  INT64_C(50000)
#define QUIET_NS INT64_C(8000000)

struct traced {
    pid_t pid;
    uint32_t generation;     /* image whose rings are open */
    bool ended;              /* noticed in this round */
    bool closed;             /* ended, and everything is written */
    bool listed;             /* its segment is still there */
    struct drain *drain;     /* NULL once that image is finished */
    struct dat_file dat;
    struct trace_image image;
    struct process_blocks blocks;
};

struct record {
    struct record_options options;
    struct dat_files dat;
    struct trace_file trace;
    struct blocks_files blocks;
    struct tree *tree;   /* the session's */
    unsigned looks;      /* tree_looks() when its segments were last checked */
    char directory[SEGMENT_PATH_MAX];
    pid_t root;
    struct traced *traced;
    size_t count, room;
    unsigned processes;
    uint64_t lost;       /* by drains that are closed */
    int64_t round_ns;    /* CLOCK_MONOTONIC of the last round */
    int64_t interval_ns; /* until the next */
};

/* ---- events ---- */

struct taking {
    struct record *record;
    struct traced *traced;
};

static void
take(void *context, const struct drained *events, size_t count)
{
    const struct taking *taking = context;
    struct record *record = taking->record;

    if (record->options.path != NULL || record->options.watch != NULL)
        dat_files_take(&record->dat, &taking->traced->dat, events, count);
    trace_file_take(&record->trace, &taking->traced->image, events, count);
    blocks_files_take(&record->blocks, &taking->traced->blocks, events, count);
}

/* Writes the arguments to the trace, as soon as the process has set them. */
static void
look_for_arguments(struct record *record, struct traced *traced)
{
    struct drain_image image;

    if (!traced->image.open || traced->image.told)
        return;
    drain_image(traced->drain, &image);
    trace_file_arguments(&record->trace, &traced->image, &image);
}

/* The image is gone: takes what it left and closes its drain. */
static void
finish_image(struct record *record, struct traced *traced, bool final)
{
    struct taking taking = {record, traced};

    if (traced->drain == NULL)
        return;
    drain_round(traced->drain, final, take, &taking);
    look_for_arguments(record, traced);
    record->lost += drain_lost(traced->drain);
    drain_close(traced->drain);
    traced->drain = NULL;
    trace_file_ended(&record->trace, &traced->image);
}

static void
finish_process(struct record *record, struct traced *traced, bool final)
{
    finish_image(record, traced, final);
    dat_files_close(&record->dat, &traced->dat);
    blocks_files_ended(&record->blocks, &traced->blocks, traced->pid == record->root);
    traced->closed = true;
}

/* ---- processes ---- */

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
    if (!ARRAY_GROW(record->traced, record->room, record->count + 1))
        return NULL;
    record->traced[record->count] =
        (struct traced){.pid = pid, .dat.first = record->processes++ == 0};
    return &record->traced[record->count++];
}

/* Switches to another image of the process. */
static void
take_image(struct record *record, struct traced *traced, struct drain *drain,
           uint32_t generation, bool first)
{
    struct drain_image image;

    finish_image(record, traced, true);
    drain_image(drain, &image);
    dat_files_image(&traced->dat, &image);
    trace_file_image(&record->trace, &traced->image, traced->pid, generation, &image);
    blocks_files_image(&record->blocks, &traced->blocks, traced->pid, first, &image);
    traced->drain = drain;
    traced->generation = generation;
    traced->listed = true;
}

/* Opens a segment not seen before: a new process, or a further image of one. */
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
        return; /* excluded by -n, or not ready: next time */
    if (new)
        traced = add(record, pid);
    if (traced == NULL) {
        drain_close(drain);
        return;
    }
    take_image(record, traced, drain, generation, new);
    if (new)
        dat_files_process(&record->dat, &traced->dat, pid, generation, known);
}

struct segment {
    pid_t pid;
    uint32_t generation;
};

/* The tree's segments, in the order in which they are to be opened. */
struct listing {
    pid_t root;
    struct segment *segments;
    size_t count, room;
};

static void
list_segment(void *context, const struct tree_segment *segment)
{
    struct listing *listing = context;

    if (ARRAY_GROW(listing->segments, listing->room, listing->count + 1))
        listing->segments[listing->count++] =
            (struct segment){segment->pid, segment->generation};
}

static pid_t listing_root; /* qsort() has no context */

/* The root comes first, because the first file is for it. */
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
        struct traced *traced = &record->traced[i];

        if (traced->closed && !traced->listed && traced->pid != record->root) {
            free(traced->dat.path);
            process_blocks_free(&traced->blocks);
        } else {
            record->traced[kept++] = *traced;
        }
    }
    record->count = kept;
}

static void
look_for_segments(struct record *record)
{
    struct listing listing = {.root = record->root};

    tree_scan(record->tree);
    if (tree_looks(record->tree) == record->looks)
        return;
    record->looks = tree_looks(record->tree);
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

/* The root is a zombie until memtop has waited for it, which is done elsewhere. */
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

/* ---- interface ---- */

static void
say_failed(const struct record_options *options, const char *path, int error)
{
    if (options->failed != NULL)
        options->failed(options->context, path, error);
}

int
record_new(const struct record_options *options, struct record **out)
{
    struct record *record = calloc(1, sizeof *record);
    const char *path = options->path;
    int error = -ENOMEM;

    if (record != NULL) {
        record->options = *options;
        error = dat_files_open(&record->dat, &record->options);
    }
    if (error == 0) {
        path = options->trace;
        error = trace_file_open(&record->trace, &record->options);
    }
    if (error == 0) {
        blocks_files_open(&record->blocks, &record->options);
        *out = record;
        return 0;
    }
    say_failed(options, path != NULL ? path : options->trace, error);
    if (record != NULL)
        record->options.trace = NULL; /* it existed before and must not be removed */
    record_free(record, path == options->trace && path != NULL);
    return error;
}

void
record_start(struct record *record, const struct launched *launched, struct tree *tree)
{
    snprintf(record->directory, sizeof record->directory, "%s", launched->directory);
    record->root = launched->pid;
    record->tree = tree;
}

/* One round; returns how many events it brought. */
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
        look_for_arguments(record, traced);
        if (got > events)
            events = got;
        if (got == -EMSGSIZE) /* the process has truncated its segment */
            finish_image(record, traced, false);
    }
    return events;
}

/* Chooses the interval after which the rings are half full at the last round's rate. */
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
    trace_file_tick(&record->trace);
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
    dat_files_finish(&record->dat);
    trace_file_finish(&record->trace);
}

uint64_t
record_lost(const struct record *record)
{
    return record->lost;
}

const struct blocksizes *
record_blocks(const struct record *record, pid_t pid, enum record_blocks which)
{
    if (pid == 0)
        return which == RECORD_BLOCKS_MALLOC ? record->blocks.all : NULL;
    for (size_t i = record->count; i-- > 0;)
        if (record->traced[i].pid == pid)
            return record->traced[i].blocks.of[which];
    return NULL;
}

uint64_t
record_blocks_now(const struct record *record, pid_t pid)
{
    for (size_t i = record->count; i-- > 0;)
        if (record->traced[i].pid == pid)
            return blocks_files_now(&record->blocks, &record->traced[i].blocks);
    return 0;
}

unsigned
record_processes(const struct record *record)
{
    return record->processes;
}

/* Removes a regular file; devices and pipes stay. */
static void
discard_file(const char *path)
{
    struct stat st;

    if (path != NULL && lstat(path, &st) == 0 && S_ISREG(st.st_mode))
        unlink(path);
}

void
record_free(struct record *record, bool discard)
{
    if (record == NULL)
        return;
    record_finish(record, false);
    if (discard && !record->options.replace) {
        discard_file(record->options.path);
        discard_file(record->options.trace);
    }
    for (size_t i = 0; i < record->count; i++) {
        free(record->traced[i].dat.path);
        process_blocks_free(&record->traced[i].blocks);
    }
    blocks_files_free(&record->blocks);
    free(record->traced);
    free(record);
}
