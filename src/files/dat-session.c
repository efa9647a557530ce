/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The graphs come from a timeline whose slots suffice for the whole run; checkpoints are
 * the ends of some of them.
 */
#include "config.h"

#include "files/open.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "files/dat.h"
#include "monitor/checkpoints.h"
#include "monitor/timeline.h"
#include "base/figures.h"

/* Fine enough to zoom into the widest window a few times. */
#define SLOTS   4096u
#define CHECKPOINTS 512u

struct building {
    const struct dat *dat;
    struct saved *saved;
    struct timeline *timeline;
    double scale;      /* run time per tick of the file */
    int64_t slot_ns;   /* length of a slot of the timeline */
    int64_t slot;      /* index of the open slot */
    bool kept;         /* there is a checkpoint */
};

static void
keep_checkpoint(struct building *building, int64_t time_ns)
{
    struct tracked *root = &building->saved->root;

    root->process.run_ns = time_ns;
    checkpoints_add(root->checkpoints, &root->process);
    building->kept = true;
}

/* Moves on to slot `next`; nothing happened in the slots between. */
static void
go_on(struct building *building, int64_t next)
{
    if (!building->kept || building->slot % (SLOTS / CHECKPOINTS) == 0)
        keep_checkpoint(building, (building->slot + 1) * building->slot_ns);
    if (next > building->slot + 1)
        keep_checkpoint(building, next * building->slot_ns);
    building->slot = next;
}

static void
take(void *context, uint64_t index, const struct dat_record *record)
{
    struct building *building = context;
    struct snapshot *now = &building->saved->root.process.now;
    int64_t time_ns =
        (int64_t)((double)(record->time - building->dat->start) * building->scale);
    int64_t slot = time_ns / building->slot_ns;

    if (index == 0)
        building->slot = slot;
    else if (slot > building->slot)
        go_on(building, slot);
    now->live_bytes = record->heap;
    now->stack_now = record->stack;
    raise_to(&now->peak_bytes, record->heap);
    raise_to(&now->stack_peak, record->stack);
    timeline_add(building->timeline, (uint64_t)time_ns, record->heap, record->stack,
                 true);
}

/* Chooses the scale and the slots' length; returns the length of the run in run time. */
static int64_t
choose_scale(struct building *building)
{
    uint64_t span = building->dat->end - building->dat->start;
    int64_t run_ns = (int64_t)span;

    building->scale = 1;
    if (!building->dat->nanoseconds) {
        run_ns = PROCESS_RUN_PARTS;
        building->scale = span > 0 ? (double)run_ns / (double)span : 0;
    }
    if (run_ns < 1)
        run_ns = 1;
    building->slot_ns = (run_ns + SLOTS - 1) / SLOTS;
    return run_ns;
}

/* Closes the last slot, at the end of the run. */
static void
finish(struct building *building, int64_t run_ns)
{
    struct process *process = &building->saved->root.process;

    if (building->dat->count > 0) {
        int64_t begin_ns = building->slot * building->slot_ns;

        keep_checkpoint(building, run_ns > begin_ns ? run_ns : begin_ns);
    }
    process->run_ns = run_ns;
    process->now.peak_bytes = building->dat->heap_peak;
    process->now.stack_peak = building->dat->stack_peak;
    process->ended = true;
    process->state = STATE_GONE;
}

static void
note(struct saved *saved, const struct dat *dat)
{
    int64_t end_ns = saved->root.process.run_ns;

    saved_add_message(saved, end_ns, SEVERITY_STATE,
                      _("This is a record of calls: it holds only heap and stack over "
                        "time"));
    if (!dat->nanoseconds)
        saved_add_message(saved, end_ns, SEVERITY_STATE,
                          _("It does not say how long its unit of time is: times are "
                            "in percent of the run"));
    if (dat->killed || dat->cut_bytes > 0)
        saved_add_message(saved, end_ns, SEVERITY_WARNING,
                          _("The record was not completed"));
    if (dat->holes > 0 || dat->backwards > 0)
        saved_add_message(saved, end_ns, SEVERITY_WARNING,
                          _("Several processes wrote to the record"));
}

/* Reads all records into saved, which is empty. */
static int
scan(struct building *building)
{
    struct tracked *root = &building->saved->root;
    struct process *process = &root->process;
    int64_t run_ns = choose_scale(building);
    int error;

    root->checkpoints = checkpoints_new(CHECKPOINTS);
    if (root->checkpoints == NULL)
        return -ENOMEM;
    process->measured = true;
    process->state = STATE_RUNNING;
    process->generations = 1;
    process->missing = PART_COUNTERS | PART_SIZES;
    if (!building->dat->nanoseconds)
        process->missing |= PART_CLOCK;
    building->timeline = timeline_new(SLOTS + 1, (uint64_t)building->slot_ns);
    if (building->timeline == NULL)
        return -ENOMEM;
    error = dat_scan(building->dat, take, building);
    if (error != 0)
        return error;
    finish(building, run_ns);
    history_free(root->history);
    root->history = timeline_history(building->timeline, (uint64_t)run_ns,
                                     building->dat->nanoseconds, true);
    return root->history != NULL ? 0 : -ENOMEM;
}

/* Makes a session named after the file, because the command is not known. */
static struct saved *
saved_of(const char *path)
{
    struct saved *saved = saved_new();

    if (saved == NULL)
        return NULL;
    saved->root.command = strdup(path);
    if (saved->root.command != NULL)
        return saved;
    saved_free(saved);
    return NULL;
}

int
dat_session(const char *path, const struct trace_progress *progress, struct saved **out)
{
    struct building building = {.dat = NULL};
    struct dat dat;
    int error = dat_open(path, progress, &dat);

    if (error != 0)
        return error;
    building.dat = &dat;
    building.saved = saved_of(path);
    error = building.saved != NULL ? scan(&building) : -ENOMEM;
    timeline_free(building.timeline);
    dat_close_read(&dat);
    if (error == 0) {
        note(building.saved, &dat);
        *out = building.saved;
    } else {
        saved_free(building.saved);
    }
    return error;
}
