/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Differences of cumulative counters.  A poll can follow another at once (a key was
 * pressed).  Rates over so short a time would jump, so the old ones are kept until enough
 * time has passed.
 */
#include "config.h"

#include "monitor/meter.h"

#include <string.h>

#include "base/figures.h"

#define RATE_MIN_NS INT64_C(50000000)
#define IDLE_NS INT64_C(5000000000)

static uint64_t
all_calls(const struct snapshot *snapshot)
{
    uint64_t sum = 0;

    for (int i = 0; i < FN_COUNT; i++)
        sum = add_saturating(sum, snapshot->calls[i]);
    return sum;
}

/* The counters of an untrusted segment may go back. */
static double
rate(uint64_t before, uint64_t now, double seconds)
{
    return now > before ? (double)(now - before) / seconds : 0;
}

void
meter_restart(struct meter *meter, int64_t now_ns)
{
    meter->before = (struct snapshot){0};
    meter->at_ns = now_ns;
    meter->calls = meter->sample_calls = meter->recorded_calls = 0;
    meter->peak = meter->stack_peak = meter->live = 0;
    meter->quiet_since_ns = now_ns;
}

static void
compute_rates(struct meter *meter, struct process *process, double seconds)
{
    const struct snapshot *before = &meter->before, *now = &process->now;
    struct rates *rates = &process->rates;
    /* What was allocated minus what is left was freed. */
    uint64_t gone_before = before->total_bytes - before->live_bytes;
    uint64_t gone_now = now->total_bytes - now->live_bytes;
    bool ordered = (int64_t)(gone_now - gone_before) > 0;

    for (int i = 0; i < FN_COUNT; i++)
        rates->calls[i] = rate(before->calls[i], now->calls[i], seconds);
    rates->bytes_allocated = rate(before->total_bytes, now->total_bytes, seconds);
    rates->bytes_freed = ordered ? (double)(gone_now - gone_before) / seconds : 0;
}

void
meter_read(struct meter *meter, struct process *process, int64_t now_ns)
{
    uint64_t calls = all_calls(&process->now);

    if (!meter->started) {
        /* The first reading is measured from the program's start. */
        meter->at_ns = now_ns - process->run_ns;
        meter->quiet_since_ns = now_ns;
        meter->started = true;
    }
    if (calls != meter->calls)
        meter->quiet_since_ns = now_ns;
    meter->calls = calls;
    if (process->now.wakes != meter->before.wakes) {
        /* It was asleep in between, so there is nothing to compare with. */
        meter->before = process->now;
        meter->at_ns = now_ns;
        process->rates = (struct rates){0};
        return;
    }
    if (now_ns - meter->at_ns < RATE_MIN_NS)
        return;
    compute_rates(meter, process, (double)(now_ns - meter->at_ns) / 1e9);
    meter->before = process->now;
    meter->at_ns = now_ns;
}

bool
meter_idle(const struct meter *meter, int64_t now_ns)
{
    return meter->started && now_ns - meter->quiet_since_ns >= IDLE_NS;
}

/* Calls per second since the last sample.  How many of a slot's calls came before the
   last reading is an estimate; the sum over all slots is more exact, unless some were
   missed. */
static uint64_t
sample_rate(struct meter *meter, const struct process *process)
{
    int64_t ns = process->run_ns - meter->sample_ns;
    uint64_t calls = all_calls(&process->now);
    uint64_t before = meter->sample_calls > meter->recorded_calls ? meter->sample_calls
                                                                  : meter->recorded_calls;
    double seconds = (double)(ns > RATE_MIN_NS ? ns : RATE_MIN_NS) / 1e9;
    uint64_t result = (uint64_t)rate(before, calls, seconds);

    meter->sample_calls = calls;
    return result;
}

/* Marks everything in the sample as unknown. */
static void
forget(struct sample *sample)
{
    memset(sample->max, 0xFF, sizeof sample->max); /* HISTORY_UNKNOWN */
    memset(sample->last, 0xFF, sizeof sample->last);
}

struct sample
meter_sample(struct meter *meter, const struct process *process)
{
    const struct snapshot *now = &process->now;
    struct sample sample = {.time_ns = process->run_ns};

    forget(&sample);
    if (process->measured && !now->asleep) {
        sample.last[SERIES_HEAP] = now->live_bytes;
        raise_to(&meter->live, now->live_bytes);
        sample.max[SERIES_HEAP] =
            highest_since(meter->live, now->peak_bytes, &meter->peak);
        sample.last[SERIES_STACK] = now->stack_now;
        sample.max[SERIES_STACK] =
            highest_since(now->stack_now, now->stack_peak, &meter->stack_peak);
        sample.last[SERIES_CALLS] = sample_rate(meter, process);
        sample.max[SERIES_CALLS] = sample.last[SERIES_CALLS];
        meter->live = now->live_bytes;
    }
    if (process->os_known && process->os.rss > 0) {
        sample.last[SERIES_RSS] = process->os.rss;
        sample.max[SERIES_RSS] =
            highest_since(process->os.rss, process->os.rss_peak, &meter->rss_peak);
        meter->rss = process->os.rss;
    }
    meter->sample_ns = process->run_ns;
    return sample;
}

/* The recorder does not record the RSS.  The value read now is used for the time since
   the last reading, as with every sample; before that nothing is known. */
static uint64_t
recorded_rss(const struct meter *meter, const struct process *process)
{
    if (meter->sample_ns == 0)
        return HISTORY_UNKNOWN;
    if (process->os_known && process->os.rss > 0)
        return process->os.rss;
    return meter->rss ? meter->rss : HISTORY_UNKNOWN;
}

/* A sample for time asleep, in which nothing is known but the RSS. */
static struct sample
slept_sample(uint64_t rss, int64_t time_ns)
{
    struct sample sample = {.time_ns = time_ns};

    forget(&sample);
    sample.max[SERIES_RSS] = sample.last[SERIES_RSS] = rss;
    return sample;
}

static struct sample
sample_of(const struct recorded *slot, uint64_t rss, int64_t time_ns)
{
    double seconds = (double)(slot->end_ns - slot->begin_ns) / 1e9;
    uint64_t calls = seconds > 0 ? (uint64_t)((double)slot->calls / seconds) : 0;
    uint64_t heap_max =
        slot->heap_max > slot->heap_last ? slot->heap_max : slot->heap_last;

    return (struct sample){
        .time_ns = time_ns,
        .max = {[SERIES_HEAP] = heap_max,
                [SERIES_STACK] = slot->stack_max,
                [SERIES_RSS] = rss,
                [SERIES_CALLS] = calls},
        .last = {[SERIES_HEAP] = slot->heap_last,
                 [SERIES_STACK] = slot->stack_max,
                 [SERIES_RSS] = rss,
                 [SERIES_CALLS] = calls},
    };
}

/* Accounts a slot that ends at time_ns, so that the next reading does not count it
   again. */
static void
account(struct meter *meter, const struct recorded *slot, int64_t time_ns,
        const struct sample *sample)
{
    double length = (double)(slot->end_ns - slot->begin_ns);
    double part = (double)(time_ns - meter->sample_ns) / length;
    uint64_t calls = (uint64_t)((double)slot->calls * (part < 1 ? part : 1));

    meter->sample_calls = add_saturating(meter->sample_calls, calls);
    meter->sample_ns = time_ns;
    meter->live = slot->heap_last;
    if (slot->asleep)
        return;
    raise_to(&meter->peak, sample->max[SERIES_HEAP]);
    raise_to(&meter->stack_peak, sample->max[SERIES_STACK]);
}

void
meter_push_recorded(struct meter *meter, const struct process *process,
                    const struct recorded *slots, size_t count, int64_t offset_ns,
                    struct history *history)
{
    const uint64_t rss = recorded_rss(meter, process);
    int64_t first_ns, last_ns = INT64_MIN;

    history_span(history, &first_ns, &last_ns);
    for (size_t i = 0; i < count; i++) {
        const struct recorded *slot = &slots[i];
        struct sample sample;
        int64_t time_ns;

        meter->recorded_calls = add_saturating(meter->recorded_calls, slot->calls);
        if (slot->end_ns > INT64_MAX || slot->begin_ns >= slot->end_ns
            || __builtin_add_overflow((int64_t)slot->end_ns, offset_ns, &time_ns)
            || time_ns <= 0 || time_ns <= last_ns || time_ns >= process->run_ns)
            continue;
        sample = slot->asleep ? slept_sample(rss, time_ns)
                              : sample_of(slot, rss, time_ns);
        history_push(history, &sample);
        account(meter, slot, time_ns, &sample);
        last_ns = time_ns;
    }
}
