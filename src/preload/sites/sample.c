/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sampling for the sites.
 *
 * Each shard has its own generator and distances, in private memory, because others may
 * read what lies in the segment.  Threads that share shard 0 count its distance down with
 * atomic operations; the thread that reaches the hit draws with a generator made for it.
 *
 * The stack is walked after the real allocator has returned and the call is counted:
 * outside any update, so that a signal handler may allocate meanwhile.
 */
#include "config.h"

#include "preload/sites/sample.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/account.h"
#include "preload/clock.h"
#include "preload/draw.h"
#include "preload/hooks.h"
#include "preload/lookup.h"
#include "preload/options.h"
#include "preload/shard.h"
#include "preload/sites/sites.h"
#include "preload/sites/stacks.h"
#include "preload/sites/unwind.h"
#include "preload/sizes.h"
#include "preload/windows.h"
#include "segment/sampling.h"

/* The state of one shard.  The fast path and the slow paths have separate distances, so
   what is hit on one does not depend on the other. */
struct sampler {
    _Alignas(64) struct draw draw;
    int64_t left;    /* bytes before the next hit of the slow paths */
    uint64_t beyond; /* fast path: bytes from where the shard's count passes its limit to
                        the end of the next hit */
};

static struct sampler samplers[SHARD_COUNT];
static uint64_t seed;
static bool loaded;

/* ---- drawing ---- */

/* Returns a different seed for each process, thread and use. */
static uint64_t
next_seed(void)
{
    return __atomic_add_fetch(&seed, UINT64_C(0xd1342543de82ef95), __ATOMIC_RELAXED);
}

/* The largest distance in bytes: adding a block to it does not overflow. */
#define DISTANCE_MAX (UINT64_C(1) << 60)

static void
begin(struct draw *draw)
{
    draw->random = next_seed();
    draw_begin(draw, mt_options.sites_rate);
}

/* Number of sampled words in a block of size bytes, given that the next hit was before
   bytes away. */
static uint64_t
draw_block(struct draw *draw, uint64_t before, uint64_t size)
{
    draw->left = before / SAMPLING_WORD + 1;
    return draw_hits(draw, sampling_span(size) / SAMPLING_WORD);
}

/* The distance to the next hit in bytes, after a draw. */
static uint64_t
bytes_before(const struct draw *draw)
{
    uint64_t words = draw->left - 1;

    return words < DISTANCE_MAX / SAMPLING_WORD ? words * SAMPLING_WORD : DISTANCE_MAX;
}

static void
begin_drawing(void)
{
    const void *random = (const void *)getauxval(AT_RANDOM);
    uint64_t word = 0;
    struct draw first;

    if (random != NULL)
        memcpy(&word, random, sizeof word);
    seed = word ^ mt_segment.header->created_boottime_ns
           ^ (uint64_t)mt_segment.header->pid << 40;
    /* The first distance must be random too, or the first block would always be
       sampled. */
    begin(&first);
    samplers[0].left = (int64_t)bytes_before(&first);
}

static void
thread_begun(unsigned index)
{
    struct sampler *own = &samplers[index];

    begin(&own->draw);
    own->left = (int64_t)bytes_before(&own->draw);
    begin(&own->draw);
    own->beyond = bytes_before(&own->draw) + SAMPLING_WORD - 1;
}

static struct sampler *
own_sampler(void)
{
    return &samplers[mt_own_shard()];
}

/* Not inside an update: a signal handler may draw meanwhile, and may not return here. */
static uint64_t
draw_own(uint64_t size)
{
    struct sampler *own = own_sampler();
    int64_t before = own->left, after = before - (int64_t)sampling_span(size);
    uint64_t hits = 0;

    if (after < 0) {
        struct draw draw = own->draw;
        hits = draw_block(&draw, (uint64_t)before, size);
        own->draw.random = draw.random;
        after = (int64_t)bytes_before(&draw);
    }
    __atomic_store_n(&own->left, after, __ATOMIC_RELAXED);
    return hits;
}

/* The distance is shared, and other threads may count it down meanwhile. */
static uint64_t
draw_shared(uint64_t size)
{
    int64_t *left = &samplers[0].left;
    int64_t span = (int64_t)sampling_span(size);
    int64_t now = __atomic_sub_fetch(left, span, __ATOMIC_RELAXED);
    int64_t before = now + span;
    struct draw draw;
    uint64_t hits;

    if (now >= 0)
        return 0;
    begin(&draw);
    hits = draw_block(&draw, before > 0 ? (uint64_t)before : 0, size);
    __atomic_add_fetch(left, (int64_t)bytes_before(&draw) - now, __ATOMIC_RELAXED);
    return hits;
}

/*
 * For the fast path, whose count of the blocks' space has passed the limit by over.  A
 * block's words begin at its start and end within its space, because the head counts as
 * the extra word; a hit behind the last word belongs to no block.
 */
static uint64_t
draw_counted(struct sampler *own, uint64_t over, uint64_t size, uint64_t space)
{
    uint64_t end = space - over + own->beyond; /* of the next hit */
    uint64_t hits;

    if (end > space) {
        own->beyond = end - space;
        return 0;
    }
    hits = draw_block(&own->draw, end - 1, size);
    draw_hits(&own->draw, (space - sampling_span(size)) / SAMPLING_WORD);
    own->beyond = bytes_before(&own->draw) + SAMPLING_WORD;
    return hits;
}

static uint64_t
due(const struct shard *shard, uint64_t size, uint64_t space, uint64_t *next)
{
    struct sampler *own = own_sampler();
    uint64_t hits = draw_counted(own, (uint64_t)shard->hot.came_space, size, space);

    if (*next > own->beyond)
        *next = own->beyond;
    own->beyond -= *next;
    return hits;
}

/* ---- following blocks ---- */

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

static unsigned
hit(enum segment_function fn, const void *block, uint64_t size, uint64_t hits,
    const void *caller)
{
    unsigned index = mt_own_shard();
    uint32_t thread = index != 0 ? mt_shard(index)->thread : 0;
    int saved_errno = errno;
    unsigned flags = follow(fn, block, size, hits, thread, caller);

    errno = saved_errno;
    return flags;
}

static unsigned
made(enum segment_function fn, const void *block, uint64_t size, const void *caller)
{
    bool shared = seqlock_is_odd(&mt_thread.shard->hot.sequence);
    uint64_t hits = shared ? draw_shared(size) : draw_own(size);

    return hits > 0 ? hit(fn, block, size, hits, caller) : 0;
}

static unsigned
take(const void *block, struct mt_followed *taken)
{
    if (!mt_sites_take(block, taken))
        return 0;
    return taken->ours ? BLOCK_OURS : BLOCK_SAMPLED;
}

static void
gone(const struct mt_followed *taken)
{
    int saved_errno = errno;

    mt_sites_gone(taken, mt_now_exact());
    errno = saved_errno;
}

static void
freed(const void *block)
{
    struct mt_followed taken;

    if (take(block, &taken) == BLOCK_SAMPLED)
        gone(&taken);
    else
        mt_sites_missed();
}

static unsigned
keep(const void *block, const struct mt_followed *taken)
{
    return mt_sites_keep(block, taken) ? BLOCK_SAMPLED : 0;
}

/* ---- processes ---- */

static const struct mt_sampler_hooks hooks = {
    .thread_begun = thread_begun,
    .made = made,
    .due = due,
    .hit = hit,
    .freed = freed,
    .take = take,
    .gone = gone,
    .keep = keep,
    .mark_ours = mt_sites_mark_ours,
    .woken = mt_sites_forget,
};

bool
mt_sample_start(void)
{
    if (mt_options.sites_rate <= 0
        || !mt_sites_start(mt_options.sites_rate, mt_options.sites_depth))
        return false;
    mt_stacks_loaded(mt_lookup_list(), mt_now_exact());
    begin_drawing();
    mt_hooks.sampler = &hooks;
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
