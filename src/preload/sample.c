/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sampling for the sites.
 *
 * Each shard has a generator of its own, in private memory, because what lies in the
 * segment may be read by others.  Threads that share shard 0 count its distance down
 * with atomic operations; whoever passes the hit draws with a generator made for it.
 *
 * Walking the stack happens when the real allocator has returned and the call is
 * counted: outside any update, so that a signal handler may allocate meanwhile.
 */
#include "config.h"

#include "preload/sample.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/draw.h"
#include "preload/ring.h"
#include "preload/shard.h"
#include "preload/unwind.h"

static struct draw draws[SHARD_COUNT];
static uint64_t seed;
static bool loaded;

/* ---- drawing ---- */

/* Another for each process, thread and use. */
static uint64_t
next_seed(void)
{
    return __atomic_add_fetch(&seed, UINT64_C(0xd1342543de82ef95), __ATOMIC_RELAXED);
}

/* How many words of a block are hit, before which it was so many bytes to the next
   hit; and how far it is behind it. */
static uint64_t
draw_block(struct draw *draw, int64_t before, uint64_t size, int64_t *after)
{
    uint64_t hits;

    if (draw->of == 0) {
        draw->random = next_seed();
        draw_begin(draw, mt_options.sites_rate);
        draw->of = 1;
    } else {
        draw->left = (uint64_t)(before > 0 ? before : 0) / SAMPLING_WORD + 1;
    }
    hits = draw_hits(draw, sampling_span(size) / SAMPLING_WORD);
    *after = (int64_t)((draw->left - 1) * SAMPLING_WORD);
    return hits;
}

static void
begin_drawing(void)
{
    const void *random = (const void *)getauxval(AT_RANDOM);
    uint64_t word = 0;
    struct draw first = {.of = 0};

    if (random != NULL)
        memcpy(&word, random, sizeof word);
    seed = word ^ mt_segment.header->created_boottime_ns
           ^ (uint64_t)mt_segment.header->pid << 40;
    memset(draws, 0, sizeof draws);
    /* Nobody who passes it could tell a first distance from a hit. */
    draw_block(&first, 0, 0, &mt_shard(0)->hot.sample_left);
}

/* The distance is the thread's own. */
static uint64_t
draw_own(struct shard *shard, uint64_t size)
{
    int64_t before = shard->hot.sample_left + (int64_t)sampling_span(size), after;
    uint64_t hits = draw_block(&draws[mt_own_shard()], before, size, &after);

    __atomic_store_n(&shard->hot.sample_left, after, __ATOMIC_RELAXED);
    return hits;
}

/* It is shared, and others may count it down meanwhile. */
static uint64_t
draw_shared(uint64_t size)
{
    int64_t *left = &mt_shard(0)->hot.sample_left;
    int64_t span = (int64_t)sampling_span(size), after, now;
    struct draw draw = {.of = 0};
    uint64_t hits;

    now = __atomic_sub_fetch(left, span, __ATOMIC_RELAXED);
    if (now >= 0)
        return 0;
    draw.random = next_seed();
    draw_begin(&draw, mt_options.sites_rate);
    draw.of = 1;
    hits = draw_block(&draw, now + span, size, &after);
    __atomic_add_fetch(left, after - now, __ATOMIC_RELAXED);
    return hits;
}

/* ---- what is followed ---- */

static unsigned
follow(enum segment_function fn, const void *block, uint64_t size, uint64_t hits,
       uint32_t thread, const void *caller)
{
    const void *frames[SITES_DEPTH_MAX];
    size_t limit = loaded ? mt_options.sites_depth : 0;
    size_t depth = limit > 0 ? mt_unwind(caller, frames, limit) : 0;
    const struct mt_followed followed = {
        .size = size,
        .born_ns = mt_now_exact(),
        .samples = hits,
        .thread = thread,
        .function = fn,
    };

    return mt_sites_made(block, &followed, frames, depth, depth > 0) ? BLOCK_SAMPLED : 0;
}

unsigned
mt_sample_hit(enum segment_function fn, const void *block, uint64_t size,
              const void *caller)
{
    struct shard *shard = mt_thread.shard;
    uint64_t hits = draw_own(shard, size);
    int saved_errno = errno;
    unsigned flags = 0;

    if (hits > 0)
        flags = follow(fn, block, size, hits, shard->thread, caller);
    errno = saved_errno;
    return flags;
}

unsigned
mt_sample_made(enum segment_function fn, const void *block, uint64_t size,
               const void *caller)
{
    struct shard *shard = mt_thread.shard;
    uint64_t hits;
    unsigned flags = 0;
    int saved_errno = errno;

    if (!seqlock_is_odd(&shard->hot.sequence))
        return sample_pass(shard, size) ? mt_sample_hit(fn, block, size, caller) : 0;
    hits = draw_shared(size);
    if (hits > 0)
        flags = follow(fn, block, size, hits, 0, caller);
    errno = saved_errno;
    return flags;
}

unsigned
mt_sample_take(const void *block, struct mt_followed *taken)
{
    if (!mt_sites_take(block, taken))
        return 0;
    return taken->ours ? BLOCK_OURS : BLOCK_SAMPLED;
}

void
mt_sample_gone(const struct mt_followed *taken)
{
    int saved_errno = errno;

    mt_sites_gone(taken, mt_now_exact());
    errno = saved_errno;
}

void
mt_sample_freed(const void *block)
{
    struct mt_followed taken;

    if (mt_sample_take(block, &taken) == BLOCK_SAMPLED)
        mt_sample_gone(&taken);
    else
        mt_sites_missed();
}

unsigned
mt_sample_keep(const void *block, const struct mt_followed *taken)
{
    return mt_sites_keep(block, taken) ? BLOCK_SAMPLED : 0;
}

/* ---- processes ---- */

bool
mt_sample_start(void)
{
    if (mt_options.sites_rate <= 0
        || !mt_sites_start(mt_options.sites_rate, mt_options.sites_depth))
        return false;
    begin_drawing();
    return true;
}

void
mt_sample_loaded(void)
{
    if (mt_options.sites_rate <= 0 || mt_segment.sites == NULL)
        return;
    mt_unwind_start(mt_options.unwind);
    mt_sites_unwinder(mt_unwinder());
    loaded = true;
}

bool
mt_sample_inherit(const struct mt_segment *parent)
{
    if (!mt_sites_inherit(parent))
        return false;
    begin_drawing();
    return true;
}
