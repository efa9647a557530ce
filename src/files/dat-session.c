/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The run is divided into slots of equal length.  The highest and the last values of the
 * calls in a slot are kept.  In an empty slot all values stay as they were.
 */
#include "config.h"

#include "files/dat-session.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "monitor/checkpoints.h"
#include "base/figures.h"

/* Fine enough to zoom into the widest window a few times. */
#define SLOTS   4096u
#define MOMENTS 512u

struct slots {
    const struct dat *dat;
    struct saved *saved;
    double scale;      /* run time per tick of the file */
    int64_t length_ns; /* of a slot */
    uint64_t current;  /* index of the open slot */
    uint64_t calls;    /* number of calls in it */
    struct sample sample;
    struct sample samples[2 * SLOTS + 2];
    size_t count;
    int64_t last_ns;   /* the end of the newest sample */
};

static void
unknown(struct sample *sample)
{
    memset(sample->max, 0xFF, sizeof sample->max); /* all HISTORY_UNKNOWN */
    memset(sample->last, 0xFF, sizeof sample->last);
}

static void
set(struct sample *sample, enum series series, uint64_t value)
{
    sample->last[series] = sample->max[series] = value;
}

/* Sets the rate of calls, unless the unit of time is not known. */
static void
set_rate(struct slots *slots, uint64_t calls, int64_t ns)
{
    if (slots->dat->nanoseconds && ns > 0)
        set(&slots->sample, SERIES_CALLS, (uint64_t)((double)calls * 1e9 / (double)ns));
}

/* Keeps the process at the end of the sample as a moment. */
static void
keep_moment(struct slots *slots)
{
    struct tracked *root = &slots->saved->root;
    struct process *process = &root->process;
    const struct sample *sample = &slots->sample;

    process->run_ns = sample->time_ns;
    process->now.live_bytes = sample->last[SERIES_HEAP];
    process->now.stack_now = sample->last[SERIES_STACK];
    raise_to(&process->now.peak_bytes, sample->max[SERIES_HEAP]);
    raise_to(&process->now.stack_peak, sample->max[SERIES_STACK]);
    checkpoints_add(root->checkpoints, process);
}

static void
push(struct slots *slots, int64_t time_ns)
{
    slots->sample.time_ns = time_ns;
    slots->samples[slots->count++] = slots->sample;
    slots->last_ns = time_ns;
}

/* Closes the open slot, which ends at time_ns. */
static void
close_slot(struct slots *slots, int64_t time_ns)
{
    set_rate(slots, slots->calls, time_ns - slots->last_ns);
    push(slots, time_ns);
    if (slots->count == 1 || slots->current % (SLOTS / MOMENTS) == 0)
        keep_moment(slots);
    else {
        raise_to(&slots->saved->root.process.now.peak_bytes,
                 slots->sample.max[SERIES_HEAP]);
        raise_to(&slots->saved->root.process.now.stack_peak,
                 slots->sample.max[SERIES_STACK]);
    }
    slots->calls = 0;
}

/* Moves on to slot `next`; nothing happened in the slots between. */
static void
fill_gap(struct slots *slots, uint64_t next)
{
    set(&slots->sample, SERIES_HEAP, slots->sample.last[SERIES_HEAP]);
    set(&slots->sample, SERIES_STACK, slots->sample.last[SERIES_STACK]);
    if (next > slots->current + 1) {
        set_rate(slots, 0, 1);
        push(slots, (int64_t)next * slots->length_ns);
        keep_moment(slots);
    }
    slots->current = next;
}

static void
take(void *context, uint64_t index, const struct dat_record *record)
{
    struct slots *slots = context;
    struct sample *sample = &slots->sample;
    int64_t time_ns =
        (int64_t)((double)(record->time - slots->dat->start) * slots->scale);
    uint64_t slot = (uint64_t)(time_ns / slots->length_ns);

    if (index == 0) {
        slots->current = slot;
        set(sample, SERIES_HEAP, record->heap);
        set(sample, SERIES_STACK, record->stack);
    } else if (slot > slots->current) {
        close_slot(slots, ((int64_t)slots->current + 1) * slots->length_ns);
        fill_gap(slots, slot);
    }
    slots->calls++;
    sample->last[SERIES_HEAP] = record->heap;
    sample->last[SERIES_STACK] = record->stack;
    raise_to(&sample->max[SERIES_HEAP], record->heap);
    raise_to(&sample->max[SERIES_STACK], record->stack);
}

/* Chooses the scale and the slots' length; returns the length of the run in run time. */
static int64_t
choose_scale(struct slots *slots)
{
    uint64_t span = slots->dat->end - slots->dat->start;
    int64_t run_ns = (int64_t)span;

    slots->scale = 1;
    if (!slots->dat->nanoseconds) {
        run_ns = PROCESS_RUN_PARTS;
        slots->scale = span > 0 ? (double)run_ns / (double)span : 0;
    }
    if (run_ns < 1)
        run_ns = 1;
    slots->length_ns = (run_ns + SLOTS - 1) / SLOTS;
    return run_ns;
}

/* Closes the last slot, at the end of the run. */
static void
finish(struct slots *slots, int64_t run_ns)
{
    struct process *process = &slots->saved->root.process;

    if (slots->dat->count > 0) {
        close_slot(slots, run_ns > slots->last_ns ? run_ns : slots->last_ns);
        keep_moment(slots);
    }
    process->run_ns = run_ns;
    process->now.peak_bytes = slots->dat->heap_peak;
    process->now.stack_peak = slots->dat->stack_peak;
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
scan(struct slots *slots)
{
    struct tracked *root = &slots->saved->root;
    struct process *process = &root->process;
    int64_t run_ns = choose_scale(slots);
    int error;

    root->checkpoints = checkpoints_new(MOMENTS);
    if (root->checkpoints == NULL)
        return -ENOMEM;
    process->measured = true;
    process->state = STATE_RUNNING;
    process->generations = 1;
    process->missing = PART_COUNTERS | PART_SIZES;
    if (!slots->dat->nanoseconds)
        process->missing |= PART_CLOCK;
    unknown(&slots->sample);
    error = dat_scan(slots->dat, take, slots);
    if (error != 0)
        return error;
    finish(slots, run_ns);
    history_free(root->history);
    root->history = history_restore(0, slots->samples, slots->count);
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
    struct slots *slots;
    struct dat dat;
    int error = dat_open(path, progress, &dat);

    if (error != 0)
        return error;
    slots = calloc(1, sizeof *slots);
    error = -ENOMEM;
    if (slots != NULL && (slots->saved = saved_of(path)) != NULL) {
        slots->dat = &dat;
        error = scan(slots);
    }
    dat_close_read(&dat);
    if (error == 0) {
        note(slots->saved, &dat);
        *out = slots->saved;
    } else if (slots != NULL) {
        saved_free(slots->saved);
    }
    free(slots);
    return error;
}
