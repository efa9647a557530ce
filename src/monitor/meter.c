/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Differences of cumulative counters.  A poll can follow another at once (a
 * key was pressed): rates over so short a time would jump, so they are kept
 * until enough has passed.
 */
#include "config.h"

#include "monitor/meter.h"

#include <string.h>

#define RATE_MIN_NS  INT64_C(50000000)
#define IDLE_NS      INT64_C(5000000000)

static uint64_t
all_calls(const struct snapshot *snapshot)
{
    uint64_t sum = 0;

    for (int i = 0; i < FN_COUNT; i++)
        if (__builtin_add_overflow(sum, snapshot->calls[i], &sum))
            return UINT64_MAX;
    return sum;
}

/* Counters of an untrusted segment may go back. */
static double
rate(uint64_t before, uint64_t now, double seconds)
{
    return now > before ? (double)(now - before) / seconds : 0;
}

void
meter_restart(struct meter *meter, int64_t now_ns)
{
    meter->before = (struct snapshot){ 0 };
    meter->at_ns = now_ns;
    meter->calls = 0;
    meter->peak = meter->stack_peak = meter->live = 0;
    meter->quiet_since_ns = now_ns;
}

static void
compute_rates(struct meter *meter, struct process *process, double seconds)
{
    const struct snapshot *before = &meter->before, *now = &process->now;
    struct rates *rates = &process->rates;
    /* What came less what is left has gone. */
    uint64_t gone_before = before->total_bytes - before->live_bytes;
    uint64_t gone_now = now->total_bytes - now->live_bytes;
    bool ordered = (int64_t)(gone_now - gone_before) > 0;

    for (int i = 0; i < FN_COUNT; i++)
        rates->calls[i] = rate(before->calls[i], now->calls[i], seconds);
    rates->bytes_allocated = rate(before->total_bytes, now->total_bytes, seconds);
    rates->bytes_freed = ordered ? (double)(gone_now - gone_before) / seconds : 0;
    meter->call_rate = rate(all_calls(before), all_calls(now), seconds);
}

void
meter_read(struct meter *meter, struct process *process, int64_t now_ns)
{
    uint64_t calls = all_calls(&process->now);

    if (!meter->started) {
        /* The first reading is measured from the program's start. */
        meter_restart(meter, now_ns - process->run_ns);
        meter->started = true;
    }
    if (calls != meter->calls)
        meter->quiet_since_ns = now_ns;
    meter->calls = calls;
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

/* The maximum of a stretch that ends at now: the peak if it rose there. */
static uint64_t
stretch_max(uint64_t now, uint64_t last, uint64_t peak, uint64_t peak_before)
{
    uint64_t max = now > last ? now : last;

    return peak > peak_before && peak > max ? peak : max;
}

struct sample
meter_sample(struct meter *meter, const struct process *process)
{
    const struct snapshot *now = &process->now;
    struct sample sample = { .time_ns = process->run_ns };

    memset(sample.max, 0xFF, sizeof sample.max); /* HISTORY_UNKNOWN */
    memset(sample.last, 0xFF, sizeof sample.last);
    if (process->measured) {
        sample.last[SERIES_HEAP] = now->live_bytes;
        sample.max[SERIES_HEAP] =
            stretch_max(now->live_bytes, meter->live, now->peak_bytes, meter->peak);
        sample.last[SERIES_STACK] = now->stack_now;
        sample.max[SERIES_STACK] =
            stretch_max(now->stack_now, 0, now->stack_peak, meter->stack_peak);
        sample.last[SERIES_CALLS] = (uint64_t)meter->call_rate;
        sample.max[SERIES_CALLS] = (uint64_t)meter->call_rate;
        meter->live = now->live_bytes;
        meter->peak = now->peak_bytes;
        meter->stack_peak = now->stack_peak;
    }
    if (process->os_known && process->os.rss > 0) {
        sample.last[SERIES_RSS] = process->os.rss;
        sample.max[SERIES_RSS] =
            stretch_max(process->os.rss, 0, process->os.rss_peak, meter->rss_peak);
        meter->rss_peak = process->os.rss_peak;
        meter->rss = process->os.rss;
    }
    return sample;
}

struct sample
meter_recorded(struct meter *meter, const struct recorded *slot, int64_t recorded_ns)
{
    struct sample sample = { .time_ns = recorded_ns + (int64_t)slot->end_ns };
    double seconds = (double)(slot->end_ns - slot->begin_ns) / 1e9;

    sample.last[SERIES_HEAP] = slot->heap_last;
    sample.max[SERIES_HEAP] = slot->heap_max;
    sample.last[SERIES_STACK] = sample.max[SERIES_STACK] = slot->stack_max;
    sample.last[SERIES_CALLS] = sample.max[SERIES_CALLS] =
        (uint64_t)((double)slot->calls / seconds);
    sample.last[SERIES_RSS] = sample.max[SERIES_RSS] =
        meter->rss ? meter->rss : HISTORY_UNKNOWN;
    /* These peaks have their place now: not once more at the next poll. */
    if (meter->peak < slot->heap_max)
        meter->peak = slot->heap_max;
    if (meter->stack_peak < slot->stack_max)
        meter->stack_peak = slot->stack_max;
    meter->live = slot->heap_last;
    return sample;
}
