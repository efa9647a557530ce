/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Dormant mode: the library counts only while a viewer's lease (segment/control.h) lasts.
 *
 *   asleep   every call is passed on after one look at the lease; when the lease has
 *            changed, the calling thread wakes the process
 *   awake    calls are counted as usual; the thread that reads the clock for the
 *            flight recorder also checks the lease, and puts the process to sleep when
 *            it is over, unless a profile of the program's own (profile.h) would then
 *            miss calls
 *
 * What was missed is not guessed.  Each wake begins a new awake period: the live bytes
 * counted before are forgotten, and so is which blocks were counted in earlier periods
 * (sizes.h).  So freeing a block that was not made in this period counts as an
 * unmatched free and nothing else.
 *
 * The clock is the coarse one: a program may have forbidden itself the TSC.
 *
 * Only the owner of the flight recorder changes the state, so nobody waits.  A call that
 * began before a sleep and ends after the next wake may be counted in part; no other call
 * can.
 */
#include "config.h"

#include "preload/dormant.h"

#include "preload/account.h"
#include "preload/baseline.h"
#include "preload/clock.h"
#include "preload/hooks.h"
#include "preload/options.h"
#include "preload/recorder.h"
#include "preload/shard.h"
#include "preload/sizes.h"
#include "preload/windows.h"
#include "segment/live.h"

/* Awake periods begun in this process and in those it was forked from. */
static uint64_t periods;

static const uint64_t *
lease(void)
{
    const struct segment_control *control =
        (const void *)((unsigned char *)mt_segment.header + CONTROL_OFFSET);

    return &control->awake_until_ns;
}

/* ---- an awake period begins ---- */

/* Sums the changes that threads have not yet folded into the process's live bytes. */
static int64_t
pending_bytes(void)
{
    struct shard_hot hot;
    int64_t sum = 0;

    for (unsigned i = 0; i < mt_segment.process->shards_used; i++)
        if (mt_shard_counts(i)) {
            hot_read(&mt_shard(i)->hot, &hot, MT_COPY_TRIES);
            sum += hot.delta;
        }
    return sum;
}

/* Folds the calling thread's shard, so that its earlier heights are no peak of the new
   period. */
static void
fold_own(void)
{
    uint64_t before;

    if (!update_begin(mt_thread.shard, &before))
        return;
    mt_fold(mt_thread.shard);
    update_close(mt_thread.shard);
}

/* Changes baseline or forgotten so that both together cancel the live sum. */
static void
settle(uint64_t *baseline, uint64_t *forgotten, uint64_t live)
{
    if (live > INT64_MAX) /* more was freed than made: usable sizes may do that */
        word_add(baseline, -live);
    else
        word_add(forgotten, live);
}

static void
forget_live(struct segment_process *process)
{
    static struct mt_baseline live; /* large; used by the recorder's owner only */

    mt_live_sum(&live);
    settle(&process->baseline_bytes, &process->forgotten_bytes, live.bytes);
    settle(&process->baseline_blocks, &process->forgotten_blocks, live.blocks);
    word_subtract(&process->custom_carried, live.custom);
    word_subtract(&process->custom_carried_bytes, live.custom_bytes);
    settle(&process->baseline_usable, &process->forgotten_usable, live.usable);
    for (unsigned bucket = 0; bucket < HISTOGRAM_COARSE; bucket++)
        settle(&process->baseline_sizes[bucket], &process->forgotten_sizes[bucket],
               live.sizes[bucket]);
    word_store(&process->mapped, 0);
    __atomic_store_n(&process->current, -pending_bytes(), __ATOMIC_RELAXED);
}

static void
begin_awake_period(uint64_t now)
{
    struct segment_process *process = mt_segment.process;

    /* This comes first: a child forked from here on uses it as soon as we count as
       awake. */
    periods++;
    __atomic_add_fetch(&process->wake_sequence, 1, __ATOMIC_ACQ_REL);
    fold_own();
    forget_live(process);
    if (mt_hooks.sampler != NULL)
        mt_hooks.sampler->woken();
    process->wakes++;
    word_store(&process->awake_since_ns, now);
    word_store(&process->asleep_since_ns, 0);
    __atomic_add_fetch(&process->wake_sequence, 1, __ATOMIC_ACQ_REL);
    mt_guard.awake_period = periods;
    mt_sizes_forget();
    mt_recorder_wake(now);
}

bool
mt_dormant_wake(void)
{
    uint64_t until = word_load(mt_guard.lease);
    uint64_t now;

    if (until == mt_guard.lease_seen || !mt_recorder_take())
        return false;
    now = mt_now_coarse();
    mt_guard.lease_seen = until;
    if (now < until && (mt_guard.mode & MODE_ASLEEP)) {
        begin_awake_period(now);
        mt_guard.mappings = mt_options.mappings;
        mt_mode_change(0, MODE_ASLEEP);
    }
    mt_recorder_give();
    return (mt_guard.mode & MODE_ASLEEP) == 0;
}

/* ---- and ends ---- */

/* A lease that differs from lease_seen wakes the process at the next call. */
static void
fall_asleep(uint64_t now, uint64_t lease_seen)
{
    mt_guard.lease_seen = lease_seen;
    mt_guard.mappings = 0;
    mt_mode_change(MODE_ASLEEP, 0);
    mt_recorder_sleep(now);
    word_store(&mt_segment.process->asleep_since_ns, now);
}

void
mt_dormant_look(uint64_t now)
{
    uint64_t until;

    if (now < word_load(mt_guard.lease) || mt_profiled() || !mt_recorder_take())
        return;
    /* The lease may have been renewed, or another thread may have been here,
       meanwhile. */
    until = word_load(mt_guard.lease);
    if (now >= until && !(mt_guard.mode & (MODE_ASLEEP | MODE_PROFILED)))
        fall_asleep(now, until);
    mt_recorder_give();
}

/* ---- a process begins ---- */

void
mt_dormant_inherit(const struct mt_segment *parent)
{
    struct segment_control *control =
        (void *)((unsigned char *)mt_segment.header + CONTROL_OFFSET);
    const struct segment_control *other =
        (const void *)((unsigned char *)parent->header + CONTROL_OFFSET);

    if (!mt_dormant_asleep(parent))
        control->awake_until_ns = word_load(&other->awake_until_ns);
}

uint32_t
mt_dormant_start(void)
{
    struct segment_process *process = mt_segment.process;
    uint64_t now = mt_now_coarse();

    mt_guard.lease = lease();
    mt_guard.lease_seen = word_load(mt_guard.lease);
    mt_guard.awake_period = periods;
    if (now < mt_guard.lease_seen) { /* forked from a process that is awake */
        process->wakes = 1;
        process->awake_since_ns = mt_segment.header->created_ns;
        return 0;
    }
    mt_guard.mappings = 0;
    process->asleep_since_ns = now;
    mt_recorder_sleep(now);
    return MODE_ASLEEP;
}
