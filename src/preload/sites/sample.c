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

#include "preload/account.h"
#include "preload/clock.h"
#include "preload/draw.h"
#include "preload/hooks.h"
#include "preload/lookup.h"
#include "preload/options.h"
#include "preload/publish.h"
#include "preload/real.h"
#include "preload/shard.h"
#include "preload/sites/budget.h"
#include "preload/sites/frames.h"
#include "preload/sites/growing.h"
#include "preload/sites/sites.h"
#include "preload/sites/unwind.h"
#include "preload/sizes.h"
#include "preload/windows.h"
#include "segment/sampling.h"

/* The state of one shard.  The fast path and the slow paths have separate distances, so
   what is hit on one does not depend on the other.  Each is drawn with the rate of its
   step of the budget's. */
struct sampler {
    _Alignas(64) struct draw draw; /* draw.of: the step */
    int64_t left;       /* bytes before the next hit of the slow paths ... */
    uint32_t left_step; /* ... and their step */
    uint64_t beyond;    /* fast path: bytes from where the shard's count passes its limit
                           to the end of the next hit */
};
_Static_assert(sizeof(struct sampler) == 64, "a cache line");

static struct sampler samplers[SHARD_COUNT];
static uint64_t seed;

/* What due() returns: the number of hits, and above it the step that the
   distance was drawn with. */
#define HITS_BITS 56u
#define HITS_MASK ((UINT64_C(1) << HITS_BITS) - 1)

/* A sample is thought to take this long (ns) where no exact clock may be read. */
#define COST_UNKNOWN 3000u

/* ---- drawing ---- */

/* Returns a different seed for each process, thread and use. */
static uint64_t
next_seed(void)
{
    return __atomic_add_fetch(&seed, UINT64_C(0xd1342543de82ef95), __ATOMIC_RELAXED);
}

/* The largest distance in bytes: adding a block to it does not overflow. */
#define DISTANCE_MAX (UINT64_C(1) << 60)

/* Starts a sequence with the rate of a step. */
static void
begin_at(struct draw *draw, unsigned step)
{
    draw->random = next_seed();
    draw->of = step;
    draw_begin(draw, budget_rate(step));
}

static void
begin(struct draw *draw)
{
    begin_at(draw, budget_step());
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
    samplers[0].left_step = first.of;
}

static void
thread_begun(unsigned index)
{
    struct sampler *own = &samplers[index];

    begin(&own->draw);
    own->left = (int64_t)bytes_before(&own->draw);
    own->left_step = own->draw.of;
    begin(&own->draw);
    own->beyond = bytes_before(&own->draw) + SAMPLING_WORD - 1;
}

static struct sampler *
own_sampler(void)
{
    return &samplers[mt_own_shard()];
}

/* Draws for a block that the slow paths' distance ended in, and the next distance.
   Returns the hits with their step. */
static uint64_t
draw_left(int64_t before, unsigned step, uint64_t size, struct draw *next)
{
    uint64_t hits;

    begin_at(next, step);
    hits = draw_block(next, before > 0 ? (uint64_t)before : 0, size);
    if (budget_step() != step)
        begin(next);
    return hits | (uint64_t)step << HITS_BITS;
}

/* Not inside an update: a signal handler may draw meanwhile, and may not return here. */
static uint64_t
draw_own(uint64_t size)
{
    struct sampler *own = own_sampler();
    int64_t before = own->left, after = before - (int64_t)sampling_span(size);
    uint64_t hits = 0;

    if (after < 0) {
        struct draw next;
        hits = draw_left(before, own->left_step, size, &next);
        own->left_step = next.of;
        after = (int64_t)bytes_before(&next);
    }
    __atomic_store_n(&own->left, after, __ATOMIC_RELAXED);
    return hits;
}

/* The distance is shared, and other threads may count it down meanwhile. */
static uint64_t
draw_shared(uint64_t size)
{
    int64_t *left = &samplers[0].left;
    unsigned step = __atomic_load_n(&samplers[0].left_step, __ATOMIC_RELAXED);
    int64_t span = (int64_t)sampling_span(size);
    int64_t now = __atomic_sub_fetch(left, span, __ATOMIC_RELAXED);
    struct draw next;
    uint64_t hits;

    if (now >= 0)
        return 0;
    hits = draw_left(now + span, step, size, &next);
    __atomic_store_n(&samplers[0].left_step, next.of, __ATOMIC_RELAXED);
    __atomic_add_fetch(left, (int64_t)bytes_before(&next) - now, __ATOMIC_RELAXED);
    return hits;
}

/* The fast path's next distance, from the end of a block on, with the step in force. */
static void
begin_beyond(struct sampler *own)
{
    begin(&own->draw);
    own->beyond = bytes_before(&own->draw) + SAMPLING_WORD;
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
    unsigned step;
    uint64_t hits;

    if (end > space) {
        own->beyond = end - space;
        return 0;
    }
    step = own->draw.of;
    hits = draw_block(&own->draw, end - 1, size);
    if (step != budget_step())
        begin_beyond(own);
    else {
        draw_hits(&own->draw, (space - sampling_span(size)) / SAMPLING_WORD);
        own->beyond = bytes_before(&own->draw) + SAMPLING_WORD;
    }
    return hits | (uint64_t)step << HITS_BITS;
}

/* Nothing was hit: may the rate be finer than that of the distance in flight? */
static void
look_at_budget(struct sampler *own)
{
    if (!(mt_segment.header->flags & SEGMENT_FLAG_NO_CLOCK)
        && budget_look(mt_now_coarse(), own->draw.of))
        begin_beyond(own);
}

static uint64_t
due(const struct shard *shard, uint64_t size, uint64_t space, uint64_t *next)
{
    struct sampler *own = own_sampler();
    uint64_t hits = draw_counted(own, (uint64_t)shard->hot.came_space, size, space);

    if ((hits & HITS_MASK) == 0)
        look_at_budget(own);
    if (*next > own->beyond)
        *next = own->beyond;
    own->beyond -= *next;
    return (hits & HITS_MASK) != 0 ? hits : 0;
}

/* ---- following blocks ---- */

/* How long a sample took that began at started. */
static uint64_t
cost_since(uint64_t started)
{
    if (mt_sandboxed || mt_tsc_forbidden
        || (mt_segment.header->flags & SEGMENT_FLAG_NO_CLOCK))
        return COST_UNKNOWN;
    return mt_now_exact() - started;
}

static unsigned
follow(enum segment_function fn, const void *block, uint64_t size, uint64_t hits,
       uint32_t thread)
{
    const void *frames[SITES_DEPTH_MAX];
    size_t depth = mt_frames(frames, mt_options.sites_depth, SITES_DEPTH_MAX);
    const struct mt_followed followed = {
        .size = size,
        .born_ns = mt_now_exact(),
        .samples = hits & HITS_MASK,
        .weight = mt_sites_weight((unsigned)(hits >> HITS_BITS), size),
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
    uint64_t started = mt_now_exact();
    unsigned flags = 0;

    (void)caller;
    if (mt_sites_ready()) {
        flags = follow(fn, block, size, hits, thread);
        budget_spent(started, cost_since(started));
        mt_sites_show(mt_unwinder());
    }
    errno = saved_errno;
    return flags;
}

static unsigned
made(enum segment_function fn, const void *block, uint64_t size, const void *caller)
{
    bool shared = seqlock_is_odd(&mt_thread.shard->hot.sequence);
    uint64_t hits = shared ? draw_shared(size) : draw_own(size);

    return (hits & HITS_MASK) != 0 ? hit(fn, block, size, hits, caller) : 0;
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
    .shut_in = mt_sites_prepare,
};

bool
mt_sample_start(void)
{
    struct segment_header *header = mt_segment.header;

    if (header->sites_state != SITES_WAITING)
        return false;
    budget_start(mt_options.sites_rate);
    growing_start_limit(mt_publish_free());
    begin_drawing();
    if (mt_real._dl_find_object != NULL)
        mt_unwind_start(mt_options.unwind);
    mt_hooks.sampler = &hooks;
    return true;
}

void
mt_sample_loaded(void)
{
    if (mt_segment.header->sites_state != SITES_OFF)
        mt_unwind_start(mt_options.unwind);
}

bool
mt_sample_inherit(void)
{
    if (mt_segment.header->sites_state != SITES_WAITING)
        return false;
    if (mt_sites_cut_off()) {
        mt_segment.header->sites_state = SITES_CUT_OFF;
        return false;
    }
    growing_start_limit(mt_publish_free());
    begin_drawing();
    return true;
}
