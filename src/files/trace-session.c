/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes a session from a trace.  For the followed process, figures over time are kept
 * (timeline.c for graphs, monitor/checkpoints for the pages at the cursor); for all
 * others only the figures at their end.  A process that executes another program stays
 * the same member, and its figures begin anew, as they do when it is watched live.
 */
#include "config.h"

#include "files/open.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "monitor/checkpoints.h"
#include "base/figures.h"
#include "files/ledger.h"
#include "monitor/timeline.h"
#include "files/trace.h"

#define AT_ONCE 4096u
#define CHECKPOINTS 512u
#define SLOTS 8192u
#define SLOT_NS 16384u /* at first: they suffice for a tenth of a second */
#define NOBODY  UINT32_MAX

/* A process with all its images. */
struct member {
    struct ledger ledger;
    uint32_t process;         /* its latest image */
    unsigned images;
    char before[64];          /* its earlier images, as in struct process_entry */
    uint64_t began_ns;
};

struct builder {
    struct saved *saved;
    struct trace *trace;
    const struct trace_info *info;
    struct timeline *timeline;
    struct member *members;   /* the first is the one that is followed */
    uint32_t count;
    uint32_t *member_of;      /* index of the member, by index in trace_info.process */
    size_t room;
    uint64_t events;          /* number of events in a log without times */
    uint64_t start_ns;        /* when the first process began */
    uint64_t checkpoint_ns;   /* run time of the last checkpoint */
    struct snapshot checkpoint;
};

/* ---- members ---- */

static const char *
name_of(const struct trace_process *process)
{
    const char *name = process->args != NULL ? process->args
                       : process->program != NULL ? process->program
                                                  : "";
    const char *slash = strrchr(name, '/');

    return slash != NULL ? slash + 1 : name;
}

/* The member that the image belongs to; NOBODY if it is a new one. */
static uint32_t
find_member(const struct builder *builder, uint32_t number)
{
    const struct trace_process *process = &builder->info->process[number];

    for (uint32_t i = builder->count; process->pid != 0 && i-- > 0;) {
        const struct trace_process *known =
            &builder->info->process[builder->members[i].process];

        if (known->pid == process->pid)
            return known->generation < process->generation ? i : NOBODY;
    }
    return NOBODY;
}

static void
follow_image(struct builder *builder, struct member *member, uint32_t number)
{
    const char *name = name_of(&builder->info->process[member->process]);
    size_t used = strlen(member->before);

    snprintf(member->before + used, sizeof member->before - used, "%s%s",
             used > 0 ? " > " : "", name);
    member->process = number;
    member->images++;
    ledger_fini(&member->ledger);
}

/* Begins an image.  Returns 0 or -ENOMEM.  Processes beyond the limit are left out. */
static int
begin_image(struct builder *builder, uint32_t number)
{
    const struct trace_process *process = &builder->info->process[number];
    uint32_t found = find_member(builder, number);
    struct member *member;

    builder->member_of[number] = found;
    if (found == NOBODY && builder->count == SAVED_PROCESSES)
        return 0;
    if (found == NOBODY) {
        builder->member_of[number] = found = builder->count++;
        member = &builder->members[found];
        *member = (struct member){.process = number, .images = 1,
                                  .began_ns = process->began_ns};
        if (found == 0)
            builder->start_ns = process->began_ns;
    } else {
        member = &builder->members[found];
        follow_image(builder, member, number);
    }
    return ledger_init(&member->ledger, process->baseline_bytes,
                       builder->info->sizes_of_freed, found == 0)
               ? 0
               : -ENOMEM;
}

/* The member that an event belongs to; NULL if it is left out, or on error. *error is 0
   or -ENOMEM. */
static struct member *
member_of(struct builder *builder, uint32_t number, int *error)
{
    size_t known = builder->room;

    *error = 0;
    if (number >= known) {
        size_t room = (size_t)number * 2 + 64;
        uint32_t *grown = reallocarray(builder->member_of, room, sizeof *grown);

        if (grown == NULL) {
            *error = -ENOMEM;
            return NULL;
        }
        for (size_t i = known; i < room; i++)
            grown[i] = NOBODY - 1; /* not seen yet */
        builder->member_of = grown;
        builder->room = room;
    }
    if (builder->member_of[number] == NOBODY - 1)
        *error = begin_image(builder, number);
    if (*error != 0 || builder->member_of[number] == NOBODY)
        return NULL;
    return &builder->members[builder->member_of[number]];
}

/* ---- moments ---- */

/* The time between, limited to the longest run. */
static uint64_t
between(uint64_t from_ns, uint64_t to_ns)
{
    uint64_t ns = subtract_floor(to_ns, from_ns);

    return ns < PROCESS_RUN_MAX_NS ? ns : PROCESS_RUN_MAX_NS;
}

/* Converts a time of the trace to run time. */
static uint64_t
run_time(const struct builder *builder, uint64_t time_ns)
{
    if (!builder->info->has_time)
        return (uint64_t)((double)time_ns * (double)PROCESS_RUN_PARTS
                          / (double)(builder->events > 0 ? builder->events : 1));
    return between(builder->start_ns, time_ns);
}

static double
rate(uint64_t now, uint64_t before, uint64_t ns)
{
    return ns > 0 ? (double)subtract_floor(now, before) * 1e9 / (double)ns : 0;
}

static void
set_rates(const struct builder *builder, struct rates *rates, const struct snapshot *now,
          uint64_t ns)
{
    const struct snapshot *before = &builder->checkpoint;

    memset(rates, 0, sizeof *rates);
    if (!builder->info->has_time)
        return;
    for (int i = 0; i < FN_COUNT; i++)
        rates->calls[i] = rate(now->calls[i], before->calls[i], ns);
    rates->bytes_allocated = rate(now->total_bytes, before->total_bytes, ns);
    rates->bytes_freed = rate(now->bytes[FN_FREE], before->bytes[FN_FREE], ns);
}

/* Sets the root's figures at that run time. */
static void
tell_process(struct builder *builder, uint64_t run_ns)
{
    struct process *process = &builder->saved->root.process;
    const struct member *member = &builder->members[0];

    process->run_ns = (int64_t)run_ns;
    process->generations = member->images;
    process->now = member->ledger.now;
    process->now.threads = process->now.threads_started = member->ledger.thread_count;
    process->sizes = *member->ledger.sizes;
    set_rates(builder, &process->rates, &process->now, run_ns - builder->checkpoint_ns);
}

static void
keep_checkpoint(struct builder *builder, uint64_t run_ns)
{
    struct tracked *root = &builder->saved->root;

    tell_process(builder, run_ns);
    checkpoints_add(root->checkpoints, &root->process);
    builder->checkpoint = root->process.now;
    builder->checkpoint_ns = run_ns;
}

static bool
checkpoint_due(const struct builder *builder, uint64_t run_ns)
{
    int64_t spacing_ns = checkpoints_spacing(builder->saved->root.checkpoints);

    return run_ns > builder->checkpoint_ns
           && run_ns - builder->checkpoint_ns >= (uint64_t)spacing_ns;
}

/* ---- events ---- */

static int
take_event(struct builder *builder, const struct trace_event *event)
{
    int error, changed;
    struct member *member = member_of(builder, event->process, &error);

    if (member == NULL)
        return error;
    if (member == builder->members) {
        uint64_t run_ns = run_time(builder, event->time_ns);

        uint64_t slot_end_ns = builder->timeline->count * builder->timeline->width;

        if (builder->timeline->count == 0) /* the run begins with an empty heap */
            timeline_add(builder->timeline, 0, 0, 0, false);
        /* Before this event, because the checkpoint is the end of the last slot. */
        if (timeline_reach(builder->timeline, run_ns)
            && checkpoint_due(builder, slot_end_ns))
            keep_checkpoint(builder, slot_end_ns);
        changed = ledger_take(&member->ledger, event);
        timeline_add(builder->timeline, run_ns, member->ledger.now.live_bytes,
                     member->ledger.now.stack_now, changed > 0);
    } else {
        changed = ledger_take(&member->ledger, event);
    }
    return changed < 0 ? changed : 0;
}

static int
take_all(struct builder *builder)
{
    static struct trace_event events[AT_ONCE];
    long got;

    while ((got = trace_read(builder->trace, events, AT_ONCE)) > 0)
        for (long i = 0; i < got; i++) {
            int error = take_event(builder, &events[i]);

            if (error != 0)
                return error;
        }
    return (int)got;
}

/* ---- the end ---- */

static char *
command_of(const struct trace_process *process, const char *path)
{
    char *command;

    if (process == NULL || process->args == NULL)
        return strdup(process != NULL && process->program != NULL ? process->program
                                                                  : path);
    command = malloc(process->args_size + 1);
    if (command == NULL)
        return NULL;
    memcpy(command, process->args, process->args_size);
    for (size_t i = 0; i + 1 < process->args_size; i++)
        if (command[i] == '\0')
            command[i] = ' ';
    command[process->args_size] = '\0';
    return command;
}

static void
tell_identity(struct identity *identity, const struct trace_process *process)
{
    identity->state = SEGMENT_ACTIVE;
    identity->accounting = process->accounting == ACCOUNTING_USABLE
                               ? ACCOUNTING_USABLE
                               : ACCOUNTING_REQUESTED;
    identity->pid = (pid_t)process->pid;
    identity->parent = (pid_t)process->parent;
    identity->generation = process->generation;
    snprintf(identity->program, sizeof identity->program, "%s",
             process->program != NULL ? process->program : "");
    snprintf(identity->allocator, sizeof identity->allocator, "%s",
             process->allocator != NULL ? process->allocator : "");
    if (process->args == NULL)
        return;
    identity->args_size = process->args_size < SEGMENT_ARGS_LEN ? process->args_size
                                                                : SEGMENT_ARGS_LEN;
    memcpy(identity->args, process->args, identity->args_size);
}

static bool
add_member(const struct builder *builder, const struct member *member, uint64_t end_ns)
{
    const struct trace_process *process = &builder->info->process[member->process];
    uint64_t until_ns = process->ended ? process->ended_ns : end_ns;
    struct process_entry entry = {
        .pid = (pid_t)process->pid,
        .parent = (pid_t)process->parent,
        .generations = member->images,
        .state = process->ended || !builder->info->cut ? STATE_GONE : STATE_RUNNING,
        .ended = true,
        .measured = true,
        .run_ns = (int64_t)between(member->began_ns, until_ns),
        .heap = member->ledger.now.live_bytes,
        .heap_peak = member->ledger.now.peak_bytes,
        .counters = member->ledger.now,
    };
    char *command = command_of(process, "?");

    if (command == NULL)
        return false;
    snprintf(entry.command, sizeof entry.command, "%s", command);
    memcpy(entry.before, member->before, sizeof entry.before);
    free(command);
    return saved_add_process(builder->saved, &entry, "");
}

static void
tell_threads(struct saved *saved, const struct ledger *ledger,
             const struct trace_process *process)
{
    saved->threads_known = true;
    saved->thread_count = ledger->thread_count;
    for (size_t i = 0; i < ledger->thread_count && i < THREADS_MAX; i++) {
        struct thread_counters *counters = &saved->threads[i].counters;

        *counters = ledger->threads[i].counters;
        counters->tid = i < process->threads ? (pid_t)process->thread[i] : 0;
        counters->owners = 1;
        counters->place = (unsigned)i + 1;
    }
}

static void
say_lost(struct saved *saved, const struct trace_info *info, int64_t run_ns)
{
    char text[256];

    if (info->cut)
        saved_add_message(saved, run_ns, SEVERITY_WARNING,
                          _("The record was not completed"));
    if (info->lost > 0) {
        snprintf(text, sizeof text,
                 ngettext("%" PRIu64 " call was not recorded",
                          "%" PRIu64 " calls were not recorded", plural(info->lost)),
                 info->lost);
        saved_add_message(saved, run_ns, SEVERITY_WARNING, text);
    }
    if (info->damaged > 0 || info->refused > 0)
        saved_add_message(saved, run_ns, SEVERITY_WARNING,
                          _("Parts of the record are damaged and left out"));
}

static void
say_about(const struct builder *builder, int64_t run_ns)
{
    saved_add_message(builder->saved, run_ns, SEVERITY_STATE,
                      _("This is a record of calls: it lacks the program's output, its "
                        "other memory and calls that failed"));
    if (!builder->info->has_time)
        saved_add_message(builder->saved, run_ns, SEVERITY_STATE,
                          _("It does not say how long its unit of time is: times are "
                            "in percent of the run"));
    say_lost(builder->saved, builder->info, run_ns);
}

/* Returns 0 or -ENOMEM. */
static int
finish(struct builder *builder, const char *path)
{
    struct saved *saved = builder->saved;
    struct tracked *root = &saved->root;
    const struct member *member = &builder->members[0];
    const struct trace_process *process = NULL;
    uint64_t end_ns = builder->info->ended_ns, run_ns;

    if (builder->count > 0)
        process = &builder->info->process[member->process];
    if (process != NULL && process->ended)
        end_ns = process->ended_ns;
    run_ns = builder->info->has_time ? run_time(builder, end_ns)
                                     : (uint64_t)PROCESS_RUN_PARTS;
    if (run_ns < builder->checkpoint_ns)
        run_ns = builder->checkpoint_ns;
    if (process != NULL) {
        keep_checkpoint(builder, run_ns);
        root->process.pid = (pid_t)process->pid;
        tell_identity(&root->process.identity, process);
        tell_threads(saved, &member->ledger, process);
    }
    root->process.run_ns = (int64_t)run_ns;
    root->process.ended = true;
    root->process.state = STATE_GONE;
    root->command = command_of(process, path);
    history_free(root->history);
    root->history = timeline_history(builder->timeline, run_ns, builder->info->has_time,
                                     builder->info->has_depth);
    for (uint32_t i = 0; i < builder->count; i++)
        if (!add_member(builder, &builder->members[i], builder->info->ended_ns))
            return -ENOMEM;
    saved_arrange_processes(saved);
    if (builder->info->began_epoch_ns > 0)
        saved->epoch_s =
            builder->info->began_epoch_ns / 1000000000 + (int64_t)(end_ns / 1000000000);
    say_about(builder, (int64_t)run_ns);
    return root->command != NULL && root->history != NULL ? 0 : -ENOMEM;
}

/* ---- all of it ---- */

static int
prepare(struct builder *builder)
{
    struct process *process;

    builder->saved = saved_new();
    builder->timeline = timeline_new(SLOTS, SLOT_NS);
    builder->members = calloc(SAVED_PROCESSES, sizeof *builder->members);
    if (builder->saved == NULL || builder->timeline == NULL || builder->members == NULL)
        return -ENOMEM;
    builder->saved->root.checkpoints = checkpoints_new(CHECKPOINTS);
    process = &builder->saved->root.process;
    process->measured = true;
    process->missing = PART_USABLE | PART_VAIN;
    process->state = STATE_RUNNING;
    process->generations = 1;
    return builder->saved->root.checkpoints != NULL ? 0 : -ENOMEM;
}

/* Returns the number of events, or -errno. */
static long
count_events(const char *path, const struct trace_progress *progress)
{
    static struct trace_event events[AT_ONCE];
    struct trace *trace;
    long got = trace_open(path, progress, &trace), count = 0;

    if (got < 0)
        return got;
    while ((got = trace_read(trace, events, AT_ONCE)) > 0)
        count += got;
    trace_close(trace);
    return got < 0 ? got : count;
}

static int
read_trace(struct builder *builder, const char *path,
           const struct trace_progress *progress)
{
    int error = trace_open(path, progress, &builder->trace);

    if (error != 0)
        return error;
    builder->info = trace_about(builder->trace);
    if (!builder->info->has_time) {
        long count = count_events(path, NULL);

        if (count < 0)
            return (int)count;
        builder->events = (uint64_t)count;
        builder->saved->root.process.missing |= PART_CLOCK;
    }
    if (!builder->info->has_depth)
        builder->saved->root.process.missing |= PART_STACK;
    error = take_all(builder);
    return error != 0 ? error : finish(builder, path);
}

int
trace_session(const char *path, const struct trace_progress *progress,
              struct saved **out)
{
    struct builder builder = {0};
    int error = prepare(&builder);

    if (error == 0)
        error = read_trace(&builder, path, progress);
    for (uint32_t i = 0; i < builder.count; i++)
        ledger_fini(&builder.members[i].ledger);
    trace_close(builder.trace);
    free(builder.members);
    free(builder.member_of);
    timeline_free(builder.timeline);
    if (error == 0)
        *out = builder.saved;
    else
        saved_free(builder.saved);
    return error;
}
