/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The process tracker.  The mapping of a living process's segment is kept: it survives
 * the file, so that the last figures of a process can be read after its end, whatever
 * removed the file.  /proc is read once a second.
 */
#include "config.h"

#include "monitor/process-tracker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "system/not-loaded.h"
#include "system/procfs.h"
#include "base/clock.h"
#include "base/figures.h"
#include "base/path.h"
#include "segment/names.h"
#include "segment/reader.h"
#include "segment/sites.h"

#define SECOND INT64_C(1000000000)
#define IDLE_NS (5 * SECOND)
#define LIVING_MAX 2048 /* followed at a time */
#define DESCENDANTS 1024

/* A child that has not loaded the library after this time does not use it. */
#define HANDSHAKE_NS (2 * UINT64_C(1000000000))

/* Rates over shorter intervals would jump. */
#define RATE_MIN_NS (SECOND / 20)

/* A living process. */
struct followed_process {
    struct process_entry *entry;
    struct reader *reader; /* NULL: it has no segment */
    char program[64];      /* its image's, without the path; "" unknown */
    bool asleep;           /* dormant: counts only while it is watched */
    uint64_t alive_ns;     /* CLOCK_BOOTTIME, when it was last seen alive */
    int64_t read_ns;       /* when its figures were last read; 0 never */
    int64_t active_ns;     /* when it last made a new call */
    int64_t replaced_ns;   /* since when it executes another program; 0: it does not */
    uint64_t allocations, calls;
};

struct process_tracker {
    const struct process *root; /* or NULL */
    bool all_ours;
    struct process_list *process_list;
    struct followed_process *followed;
    size_t count;
    int64_t slow_ns;
};

struct process_tracker *
process_tracker_new(const struct process *root, const char *command, bool all_ours)
{
    struct process_tracker *tracker = calloc(1, sizeof *tracker);
    struct process_entry *entry = NULL;

    if (tracker == NULL)
        return NULL;
    tracker->root = root;
    tracker->all_ours = all_ours;
    tracker->process_list = process_list_new(root != NULL);
    tracker->followed = calloc(LIVING_MAX, sizeof *tracker->followed);
    if (tracker->process_list != NULL && root != NULL)
        entry = process_list_add(tracker->process_list, root->pid);
    if (tracker->process_list == NULL || tracker->followed == NULL
        || (root != NULL && entry == NULL)) {
        process_tracker_free(tracker);
        return NULL;
    }
    if (entry != NULL)
        snprintf(entry->command, sizeof entry->command, "%s", command);
    return tracker;
}

void
process_tracker_free(struct process_tracker *tracker)
{
    if (tracker == NULL)
        return;
    for (size_t i = 0; i < tracker->count; i++)
        reader_close(tracker->followed[i].reader);
    free(tracker->followed);
    process_list_free(tracker->process_list);
    free(tracker);
}

const struct process_list *
process_tracker_list(const struct process_tracker *tracker)
{
    return tracker->process_list;
}

/* ---- figures ---- */

static uint64_t
count_allocations(const struct snapshot *snapshot, uint64_t *calls)
{
    uint64_t sum = 0;

    for (int i = 0; i < FN_COUNT; i++)
        sum = add_saturating(sum, snapshot->calls[i]);
    *calls = sum;
    return sum > snapshot->calls[FN_FREE] ? sum - snapshot->calls[FN_FREE] : 0;
}

static void
read_figures(struct followed_process *followed, int64_t now_ns)
{
    struct process_entry *entry = followed->entry;
    struct snapshot snapshot;
    uint64_t calls, allocations;

    if (followed->reader == NULL || followed->replaced_ns
        || (!entry->measured && !followed->asleep)
        || reader_snapshot(followed->reader, &snapshot))
        return;
    followed->asleep = snapshot.asleep;
    entry->measured = !snapshot.asleep;
    entry->why_not =
        snapshot.asleep ? _("libmemtop is dormant until the process is shown") : NULL;
    if (snapshot.asleep)
        entry->state = STATE_NOT_LOADED;
    entry->counters = snapshot;
    entry->heap = snapshot.live_bytes;
    entry->heap_peak = snapshot.peak_bytes;
    allocations = count_allocations(&snapshot, &calls);
    if (calls != followed->calls || followed->active_ns == 0)
        followed->active_ns = now_ns;
    followed->calls = calls;
    if (followed->read_ns && now_ns - followed->read_ns < RATE_MIN_NS)
        return;
    if (followed->read_ns && allocations >= followed->allocations)
        entry->allocations = (double)(allocations - followed->allocations) * 1e9
                             / (double)(now_ns - followed->read_ns);
    followed->allocations = allocations;
    followed->read_ns = now_ns;
}

/* ---- living processes ---- */

static struct followed_process *
follow(struct process_tracker *tracker, pid_t pid)
{
    struct followed_process *followed = &tracker->followed[tracker->count];
    struct process_entry *entry;

    if (tracker->count == LIVING_MAX)
        return NULL;
    entry = process_list_add(tracker->process_list, pid);
    if (entry == NULL)
        return NULL;
    *followed = (struct followed_process){.entry = entry};
    tracker->count++;
    return followed;
}

static void
forget(struct process_tracker *tracker, struct followed_process *followed)
{
    reader_close(followed->reader);
    *followed = tracker->followed[--tracker->count];
}

static struct followed_process *
find_followed(struct process_tracker *tracker, pid_t pid)
{
    for (size_t i = 0; i < tracker->count; i++)
        if (tracker->followed[i].entry->pid == pid)
            return &tracker->followed[i];
    return NULL;
}

bool
process_tracker_follows(const struct process_tracker *tracker, pid_t pid)
{
    return process_list_find(tracker->process_list, pid) != NULL;
}

/* Names a process by the arguments in its segment, if /proc no longer has it. */
static void
name_by_segment(struct process_entry *entry, const struct identity *identity)
{
    const char *program = strrchr(identity->program, '/');
    size_t used = 0;

    for (size_t at = 0; at < identity->args_size; at += strlen(identity->args + at) + 1) {
        const char *argument = identity->args + at;
        const char *slash = at == 0 ? strrchr(argument, '/') : NULL;

        used +=
            (size_t)snprintf(entry->command + used, sizeof entry->command - used, "%s%s",
                             at ? " " : "", slash != NULL ? slash + 1 : argument);
        if (used >= sizeof entry->command)
            return;
    }
    if (used == 0)
        snprintf(entry->command, sizeof entry->command, "%.100s",
                 program != NULL ? program + 1 : identity->program);
}

static void
name_entry(struct followed_process *followed, const struct identity *identity)
{
    struct process_entry *entry = followed->entry;
    struct procfs_stat stat;

    if (procfs_stat(entry->pid, &stat) == 0 && stat.state != 'Z' && stat.state != 'X') {
        if (entry->parent == 0)
            entry->parent = stat.parent;
        entry->start_ns = procfs_boottime_ns(stat.start_ticks);
        entry->rss = stat.rss;
        followed->alive_ns = (uint64_t)clock_ns(CLOCK_BOOTTIME);
        if (procfs_command(entry->pid, entry->command, sizeof entry->command) == 0)
            return;
    }
    if (identity != NULL)
        name_by_segment(entry, identity);
}

/* ---- segments ---- */

static void
note_image(struct followed_process *followed, struct reader *reader,
           const struct identity *identity)
{
    struct process_entry *entry = followed->entry;

    reader_close(followed->reader);
    followed->reader = reader;
    followed->read_ns = followed->replaced_ns = 0;
    snprintf(followed->program, sizeof followed->program, "%.63s",
             path_name(identity->program));
    entry->image_ns = identity->created_boottime_ns;
    entry->sampled = sites_state(reader) != SITES_OFF;
    followed->active_ns = 0;
    entry->measured =
        identity->state != SEGMENT_PASSIVE && identity->reason == REASON_NONE;
    entry->why_not = entry->measured ? NULL : segment_reason_text(identity->reason);
    entry->state = entry->measured ? STATE_RUNNING : STATE_NOT_LOADED;
    if (entry->parent == 0 && identity->pid == entry->pid)
        entry->parent = identity->parent; /* otherwise it is a pid of another namespace */
    name_entry(followed, identity);
    if (entry->start_ns == 0)
        entry->start_ns = entry->image_ns;
}

/* Is PID a descendant of the root, or in the process list? */
static bool
belongs(const struct process_tracker *tracker, pid_t pid)
{
    struct procfs_stat stat;

    if (tracker->root == NULL || tracker->all_ours)
        return true;
    for (int steps = 0; pid > 1 && steps < 64; steps++) {
        if (process_list_find(tracker->process_list, pid) != NULL)
            return true;
        if (procfs_stat(pid, &stat))
            return false;
        pid = stat.parent;
    }
    return false;
}

struct looking {
    struct process_tracker *tracker;
    const struct tree *tree;
};

static struct reader *
open_segment(const struct tree *tree, const struct tree_segment *segment,
             struct identity *identity)
{
    struct reader *reader;

    if (tree_open(tree, segment, &reader))
        return NULL;
    if (reader_identity(reader, identity) == 0)
        return reader;
    reader_close(reader);
    return NULL;
}

/* A segment of another version only says that there is one. */
static void
note_alien(struct process_tracker *tracker, const struct tree_segment *segment)
{
    struct followed_process *followed;

    if (find_followed(tracker, segment->pid) != NULL || !belongs(tracker, segment->pid)
        || !segment_process_lives(segment->pid, 0))
        return;
    followed = follow(tracker, segment->pid);
    if (followed == NULL)
        return;
    followed->entry->state = STATE_NOT_LOADED;
    followed->entry->why_not = reader_error_text(-EPROTONOSUPPORT);
    name_entry(followed, NULL);
}

static void
note_segment(void *context, const struct tree_segment *segment)
{
    struct looking *looking = context;
    struct process_tracker *tracker = looking->tracker;
    struct followed_process *followed;
    struct identity identity;
    struct reader *reader;

    /* The pid is 0 if the process ended before it was found in /proc. */
    if (segment->pid == 0
        || (tracker->root != NULL && segment->pid == tracker->root->pid))
        return;
    if (segment->alien) {
        note_alien(tracker, segment);
        return;
    }
    if (process_list_find_image(tracker->process_list, segment->pid,
                                segment->created_boottime_ns) != NULL
        || (tracker->root == NULL
            && !segment_process_lives(segment->pid, segment->created_boottime_ns))
        || !belongs(tracker, segment->pid))
        return;
    reader = open_segment(looking->tree, segment, &identity);
    if (reader == NULL)
        return;
    followed = find_followed(tracker, segment->pid);
    if (followed != NULL && followed->entry->image_ns)
        process_list_note_exec(followed->entry, followed->program);
    else if (followed == NULL)
        followed = follow(tracker, segment->pid);
    if (followed != NULL)
        note_image(followed, reader, &identity);
    else
        reader_close(reader);
}

/* ---- /proc ---- */

/* Run time up to the last sign of life; the real end is not always known. */
static int64_t
life_of(const struct followed_process *followed)
{
    const struct process_entry *entry = followed->entry;
    const uint64_t now_ns = (uint64_t)clock_ns(CLOCK_BOOTTIME);
    uint64_t life_ns, until_ns = followed->alive_ns;

    if (followed->reader != NULL && reader_life(followed->reader, &life_ns) == 0)
        raise_to(&until_ns, add_saturating(entry->image_ns, life_ns));
    if (until_ns > now_ns)
        until_ns = now_ns;
    return (int64_t)subtract_floor(until_ns, entry->start_ns);
}

/* Has the measured program executed another one, which has not loaded the library so far?
   executed says which; its preload_removed is set only if that one runs already. */
static bool
is_replaced(const struct followed_process *followed, struct executed *executed)
{
    struct identity identity;

    if (reader_executed(followed->reader, executed))
        return false;
    if (reader_identity(followed->reader, &identity) == 0
        && procfs_executes(followed->entry->pid, identity.program) == 0)
        executed->replaced = true; /* maybe by syscall(), which is not noted */
    else
        executed->preload_removed = false; /* the exec may still fail */
    return executed->replaced;
}

/* The image that was measured has ended. */
static void
replace(struct followed_process *followed, const struct executed *executed, bool ended)
{
    struct process_entry *entry = followed->entry;

    process_list_note_exec(entry, followed->program);
    snprintf(followed->program, sizeof followed->program, "%.63s",
             path_name(executed->path));
    entry->measured = false;
    entry->why_not = executed_reason(executed->path, executed->preload_removed,
                                     ended ? 0 : entry->pid);
    if (entry->why_not == NULL)
        entry->why_not = _("it did not load libmemtop");
    if (ended)
        snprintf(entry->command, sizeof entry->command, "%s", followed->program);
    reader_close(followed->reader);
    followed->reader = NULL;
}

static void
note_end(struct process_tracker *tracker, struct followed_process *followed,
         int64_t now_ns)
{
    struct process_entry *entry = followed->entry;
    enum segment_state state = SEGMENT_EMPTY;
    struct executed executed;

    read_figures(followed, now_ns);
    if (followed->reader != NULL)
        reader_state(followed->reader, &state);
    if (followed->reader != NULL && reader_executed(followed->reader, &executed) == 0
        && executed.replaced)
        replace(followed, &executed, true);
    else if (followed->replaced_ns)
        entry->measured = false;
    if (entry->state == STATE_STARTING && entry->image_ns == 0) {
        /* It ended too soon to know what it was. */
        process_list_note_short(tracker->process_list, entry);
    } else {
        entry->ended = true;
        if (entry->start_ns)
            entry->run_ns = life_of(followed);
        entry->state = state == SEGMENT_EXITED ? STATE_EXITED : STATE_GONE;
        entry->allocations = 0;
        entry->rss = 0;
    }
    forget(tracker, followed);
}

/* From its exec on the figures are no longer the program's.  If two seconds later there
   is no segment, the new program does not load the library. */
static void
follow_executed(struct followed_process *followed, int64_t now_ns)
{
    struct process_entry *entry = followed->entry;
    struct executed executed;

    if (!is_replaced(followed, &executed)) {
        if (followed->replaced_ns)
            entry->measured = true; /* the exec has failed */
        followed->replaced_ns = 0;
        return;
    }
    if (followed->replaced_ns == 0)
        followed->replaced_ns = now_ns;
    entry->measured = false;
    if (executed.preload_removed
        || now_ns - followed->replaced_ns >= (int64_t)HANDSHAKE_NS)
        replace(followed, &executed, false);
    else
        entry->state = STATE_STARTING;
}

static void
judge_state(struct followed_process *followed, char kernel_state, int64_t now_ns)
{
    struct process_entry *entry = followed->entry;
    uint64_t age = (uint64_t)clock_ns(CLOCK_BOOTTIME) - entry->start_ns;

    if (!entry->measured && followed->replaced_ns && followed->reader != NULL) {
        entry->state = STATE_STARTING;
    } else if (!entry->measured
               && (entry->state != STATE_STARTING || age >= HANDSHAKE_NS)) {
        entry->state = STATE_NOT_LOADED;
        if (entry->why_not == NULL)
            entry->why_not = not_loaded_reason(entry->pid);
    } else if (entry->measured) {
        if (kernel_state == 'T' || kernel_state == 't')
            entry->state = STATE_STOPPED;
        else if (followed->read_ns && now_ns - followed->active_ns >= IDLE_NS)
            entry->state = STATE_IDLE;
        else
            entry->state = STATE_RUNNING;
    }
}

/* Returns false if the process has ended and is no longer followed. */
static bool
look_at_process(struct process_tracker *tracker, struct followed_process *followed,
                int64_t now_ns)
{
    struct process_entry *entry = followed->entry;
    struct procfs_stat stat;

    if (procfs_stat(entry->pid, &stat) || stat.state == 'Z' || stat.state == 'X'
        || (entry->start_ns && procfs_boottime_ns(stat.start_ticks) > entry->start_ns)) {
        note_end(tracker, followed, now_ns);
        return false;
    }
    entry->rss = stat.rss;
    followed->alive_ns = (uint64_t)clock_ns(CLOCK_BOOTTIME);
    if (followed->reader != NULL
        && (entry->measured || followed->asleep || followed->replaced_ns))
        follow_executed(followed, now_ns);
    judge_state(followed, stat.state, now_ns);
    procfs_command(entry->pid, entry->command, sizeof entry->command);
    return true;
}

static void
look_for_not_loaded(struct process_tracker *tracker)
{
    pid_t pids[DESCENDANTS];
    unsigned count = 0;

    if (procfs_descendants(tracker->root->pid, pids, DESCENDANTS, &count))
        return;
    for (unsigned i = 0; i < count && i < DESCENDANTS; i++) {
        struct followed_process *followed;
        struct procfs_stat stat;

        if (process_list_find(tracker->process_list, pids[i]) != NULL
            || procfs_stat(pids[i], &stat) || stat.state == 'Z' || stat.state == 'X')
            continue;
        followed = follow(tracker, pids[i]);
        if (followed == NULL)
            return;
        followed->entry->state = STATE_STARTING;
        name_entry(followed, NULL);
    }
}

/* ---- the root ---- */

static void
copy_root(struct process_tracker *tracker)
{
    struct process_entry *entry = process_list_first(tracker->process_list);
    const struct process *root = tracker->root;

    if (root->identity.created_boottime_ns > entry->image_ns) {
        if (entry->image_ns)
            process_list_note_exec(entry, entry->command);
        entry->image_ns = root->identity.created_boottime_ns;
        if (!root->ended)
            procfs_command(entry->pid, entry->command, sizeof entry->command);
    }
    process_list_copy_process(entry, root);
}

void
process_tracker_look(struct process_tracker *tracker, const struct tree *tree)
{
    struct looking looking = {tracker, tree};

    tree_each(tree, note_segment, &looking);
}

void
process_tracker_take(struct process_tracker *tracker, int64_t now_ns, bool figures)
{
    if (tracker->slow_ns == 0 || now_ns - tracker->slow_ns >= SECOND) {
        tracker->slow_ns = now_ns;
        for (size_t i = 0; i < tracker->count;)
            i += look_at_process(tracker, &tracker->followed[i], now_ns);
        if (tracker->root != NULL && !tracker->root->ended)
            look_for_not_loaded(tracker);
    }
    for (size_t i = 0; figures && i < tracker->count; i++)
        read_figures(&tracker->followed[i], now_ns);
    if (tracker->root != NULL)
        copy_root(tracker);
    process_list_arrange(tracker->process_list, (uint64_t)clock_ns(CLOCK_BOOTTIME));
}
