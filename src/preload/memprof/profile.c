/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program's own profiles.
 *
 * A profile is a number, which is its handle, and a place among a few, number modulo
 * PROFILES.  The place's word holds number and state, so that one look tells whether the
 * profile that sampled a block still exists:
 *
 *     FREE -> PREPARING -> SAMPLING -> STOPPED -> ENDING -> FREE
 *
 * A thread about to call back increments running before it reads the word, and a thread
 * that discards the profile changes the word before it reads running: one of them sees
 * the other.  Discarding is the only operation that waits; a callback never waits for
 * anything of the library.
 *
 * mt_thread.in_profile is set while a thread is in this code, and so during a callback:
 * what it allocates then is not sampled.  What it frees is taken out of the table at
 * once, so that the address can be reused, and its dealloc is called when the interrupted
 * callback has returned (pending).  A callback that is left by a jump, its own or a
 * signal handler's, is over: this is noticed when the thread calls from further up its
 * stack, or ends.
 *
 * Blocks are found by their address in tables (table.h).  Blocks of pools have a table of
 * their own, because a pool's first block may have the address of malloc's.  A block that
 * the tracker did not want is entered too: asking again at a realloc would be a callback
 * about an untracked block.
 */
#include "config.h"

#include "preload/memprof/profile.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/account.h"
#include "preload/clock.h"
#include "preload/draw.h"
#include "preload/options.h"
#include "preload/shard.h"
#include "preload/sites/unwind.h"
#include "segment/seqlock.h"

#define PROFILES     32u
#define FRAMES_MAX   1024u /* for a thread with a shard */
#define FRAMES_SMALL 64u   /* for others, on their stacks */

enum profile_state {
    PROFILE_FREE = 0,
    PROFILE_PREPARING,
    PROFILE_SAMPLING,
    PROFILE_STOPPED,
    PROFILE_ENDING
};

struct own_profile {
    uint64_t word;        /* number << 8 | state */
    uint32_t running;     /* callbacks under way, or about to be refused */
    int frames;           /* largest number wanted; -1: all */
    double rate;
    struct memprof_tracker tracker;
    void *ctx;
};

/* A block that is tracked, or that the tracker did not want (data is NULL). */
struct tracked_block {
    void *data;
    uint64_t samples;
    uint64_t size;
    uint64_t *key;        /* its place in the table, while it is pending ... */
    struct tracked_block *next; /* ... and the next pending one */
    uint32_t profile;     /* number */
    uint32_t reserved;
};

static struct own_profile profiles[PROFILES];
static uint32_t last_number;
static uint32_t sampling;          /* number of the profile that is sampling; 0: none */
static uint32_t starting;          /* a profile is being started */

static struct mt_table blocks = {.value_size = sizeof(struct tracked_block)};
static struct mt_table pool_blocks = {.value_size = sizeof(struct tracked_block)};
static struct tracked_block *pending;

/* For threads with their own shard: the next hit, and space for a stack. */
static struct draw draws[SHARD_COUNT];
static const void **stacks;

/* ---- profiles ---- */

static struct own_profile *
profile_of(uint32_t number)
{
    return &profiles[number % PROFILES];
}

static uint64_t
word_of(uint32_t number, enum profile_state state)
{
    return (uint64_t)number << 8 | state;
}

static bool
change_state(uint32_t number, enum profile_state from, enum profile_state to)
{
    uint64_t word = word_of(number, from);

    return __atomic_compare_exchange_n(&profile_of(number)->word, &word,
                                       word_of(number, to), false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

/*
 * The state of a thread inside this code: its stack pointer on entry, and the profiles
 * whose callbacks it is in.  There can be two: one profile is told about a block while
 * another is told about a block's end.  Indexed by shards that one thread owns alone;
 * stack is 0 while the thread is outside.
 */
#define WITHIN_MOST 2u

static struct inside {
    uintptr_t stack;
    uint32_t depth;
    uint32_t numbers[WITHIN_MOST];
} insides[SHARD_COUNT];

static void
note_entered(uint32_t number)
{
    struct inside *inside = &insides[mt_own_shard()];

    if (inside->stack == 0)
        return;
    if (inside->depth < WITHIN_MOST)
        inside->numbers[inside->depth] = number;
    inside->depth++;
}

static void
note_left(void)
{
    struct inside *inside = &insides[mt_own_shard()];

    if (inside->depth > 0)
        inside->depth--;
}

/* Begins a callback of a profile; false if the profile may not be called any more. */
static bool
enter(uint32_t number, bool sampling_only)
{
    struct own_profile *profile = profile_of(number);
    uint64_t word;

    __atomic_fetch_add(&profile->running, 1, __ATOMIC_SEQ_CST);
    word = __atomic_load_n(&profile->word, __ATOMIC_SEQ_CST);
    if (word == word_of(number, PROFILE_SAMPLING)
        || (!sampling_only && word == word_of(number, PROFILE_STOPPED))) {
        note_entered(number);
        return true;
    }
    __atomic_fetch_sub(&profile->running, 1, __ATOMIC_RELEASE);
    return false;
}

/* Ends a callback.  In a child forked during it the profile no longer exists. */
static void
leave(uint32_t number)
{
    struct own_profile *profile = profile_of(number);

    note_left();
    if (__atomic_load_n(&profile->word, __ATOMIC_RELAXED) >> 8 == number)
        __atomic_fetch_sub(&profile->running, 1, __ATOMIC_RELEASE);
}

static void
go_out(void)
{
    unsigned index = mt_own_shard();

    if (index != 0)
        insides[index].stack = 0;
}

static void
thread_left(void)
{
    struct inside *inside = &insides[mt_own_shard()];

    while (inside->depth > WITHIN_MOST)
        note_left();
    while (inside->depth > 0)
        leave(inside->numbers[inside->depth - 1]);
    go_out();
    mt_thread.in_profile = false;
}

/* Was the code of this file left by a jump?  A call from within a callback has a stack
   pointer below the one the callback began with. */
static bool
left_by_jump(uintptr_t here)
{
    uintptr_t inside = insides[mt_own_shard()].stack;

    if (inside == 0 || here <= inside || here > mt_thread.stack_base)
        return false;
    thread_left();
    return true;
}

static inline __attribute__((always_inline)) bool
in_callback(void)
{
    return unlikely(mt_thread.in_profile) && !left_by_jump(stack_pointer());
}

/* ---- describing a block ---- */

/* What a thread needs to sample: its own, or a temporary one. */
struct means {
    const void *caller;   /* see mt_unwind() */
    struct draw *draw;
    const void **stack;   /* space for this many frames */
    int frames;
    struct draw other;
    const void *small[FRAMES_SMALL];
};

static uint64_t
random_seed(void)
{
    static uint64_t turns;
    const void *random = (const void *)getauxval(AT_RANDOM);
    uint64_t seed = 0;

    if (random != NULL)
        memcpy(&seed, random, sizeof seed);
    /* The factor is odd, so no two seeds of a process are equal. */
    return seed
           + __atomic_add_fetch(&turns, 1, __ATOMIC_RELAXED)
                 * UINT64_C(0xd1342543de82ef95);
}

static void
get_means(struct means *means, const void *caller)
{
    unsigned index = mt_own_shard();

    means->caller = caller;
    means->draw = &draws[index];
    means->stack = stacks + (size_t)index * FRAMES_MAX;
    means->frames = FRAMES_MAX;
    if (index == 0) {
        means->other = (struct draw){0};
        means->draw = &means->other;
        means->stack = means->small;
        means->frames = FRAMES_SMALL;
    }
    if (means->draw->random == 0)
        means->draw->random = random_seed();
}

/* Prepares draw for the profile; false if it does not sample any more. */
static bool
draw_for(struct draw *draw, uint32_t number)
{
    if (draw->of == number)
        return true;
    if (!enter(number, true))
        return false;
    draw_begin(draw, profile_of(number)->rate);
    draw->of = number;
    leave(number);
    return true;
}

/* Walks the stack as deep as the profile wants; returns the number of frames. */
static int
walk_stack(const struct own_profile *profile, const struct means *means)
{
    size_t wanted = (size_t)means->frames;

    if (profile->frames >= 0 && profile->frames < means->frames)
        wanted = (size_t)profile->frames;
    return (int)mt_unwind(means->stack, wanted);
}

/* Describes a block for the callback. */
static struct memprof_allocation
describe(const struct own_profile *profile, enum memprof_source source, void *block,
         const struct tracked_block *tracked, const struct means *means)
{
    return (struct memprof_allocation){
        .n_samples = tracked->samples,
        .size = tracked->size,
        .source = source,
        .ptr = block,
        .callstack = means->stack,
        .n_frames = walk_stack(profile, means),
        .time_ns = mt_now_exact(),
    };
}

static void
count_lost(void)
{
    word_add_shared(&mt_segment.process->profile_lost, 1);
}

/* ---- callbacks ---- */

/* Calls dealloc for a block that is gone, if its profile still exists. */
static void
deliver_dealloc(const struct tracked_block *tracked)
{
    const struct own_profile *profile = profile_of(tracked->profile);

    if (tracked->data == NULL || !enter(tracked->profile, false))
        return;
    if (profile->tracker.dealloc != NULL)
        profile->tracker.dealloc(tracked->data, profile->ctx);
    leave(tracked->profile);
}

static void
end_tracking(struct mt_place place)
{
    deliver_dealloc(place.value);
    mt_table_release(place);
}

/* Called during a callback: delivers the block's end later. */
static void
postpone(struct mt_place place)
{
    struct tracked_block *tracked = place.value;

    tracked->key = place.key;
    tracked->next = __atomic_load_n(&pending, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&pending, &tracked->next, tracked, true,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

static void
deliver_pending(void)
{
    struct tracked_block *next;

    if (__atomic_load_n(&pending, __ATOMIC_RELAXED) == NULL)
        return;
    while ((next = __atomic_exchange_n(&pending, NULL, __ATOMIC_ACQUIRE)) != NULL)
        while (next != NULL) {
            struct tracked_block *tracked = next;
            next = tracked->next;
            end_tracking((struct mt_place){tracked->key, tracked});
        }
}

/* From here on the thread's allocations are not sampled; returns errno.  Not inlined, so
   that its frame lies below its caller's, where the next such call has its frame if this
   one is left by a jump. */
static __attribute__((noinline)) int
suspend(void)
{
    unsigned index = mt_own_shard();

    if (index != 0)
        insides[index] = (struct inside){.stack = stack_pointer()};
    mt_thread.in_profile = true;
    return errno;
}

static void
resume(int saved_errno)
{
    for (;;) {
        deliver_pending();
        go_out();
        mt_thread.in_profile = false;
        /* A signal handler may have added more meanwhile. */
        if (__atomic_load_n(&pending, __ATOMIC_RELAXED) == NULL)
            break;
        mt_thread.in_profile = true;
    }
    errno = saved_errno;
}

static struct mt_table *
table_of(enum memprof_source source)
{
    return source == MEMPROF_CUSTOM ? &pool_blocks : &blocks;
}

/* ---- new blocks ---- */

/* Enters a block with that many hits and asks the tracker for its data. */
static void
begin_tracking(uint32_t number, enum memprof_source source, void *block, uint64_t size,
               uint64_t hits, const struct means *means)
{
    const struct own_profile *profile = profile_of(number);
    struct mt_place place = mt_table_take(table_of(source), (uintptr_t)block);
    struct memprof_allocation told;
    struct tracked_block *tracked;

    if (place.key != NULL) /* it was freed where we do not see it */
        end_tracking(place);
    place = mt_table_claim(table_of(source), (uintptr_t)block);
    if (place.key == NULL) {
        count_lost();
        return;
    }
    tracked = place.value;
    *tracked = (struct tracked_block){.samples = hits, .size = size, .profile = number};
    told = describe(profile, source, block, tracked, means);
    tracked->data = profile->tracker.alloc(&told, profile->ctx);
    mt_table_show(place, (uintptr_t)block);
}

/* Samples a block of which that many words are new. */
static void
sample(enum memprof_source source, void *block, uint64_t size, uint64_t words,
       const void *caller)
{
    uint32_t number = __atomic_load_n(&sampling, __ATOMIC_ACQUIRE);
    struct means means;
    uint64_t hits;

    if (number == 0)
        return;
    get_means(&means, caller);
    if (!draw_for(means.draw, number))
        return;
    hits = draw_hits(means.draw, words);
    if (hits == 0 || !enter(number, true))
        return;
    if (profile_of(number)->tracker.alloc != NULL)
        begin_tracking(number, source, block, size, hits, &means);
    leave(number);
}

/* Subtracts the block's words from the distance.  Returns false if one of them is hit, or
   if the thread's distance to the next hit is not known yet. */
static bool
passes(uint64_t words)
{
    uint32_t number = __atomic_load_n(&sampling, __ATOMIC_ACQUIRE);
    struct draw *draw = &draws[mt_own_shard()]; /* index 0: no thread uses it */

    if (number == 0)
        return true;
    if (draw->of != number || draw->left <= words)
        return false;
    draw->left -= words;
    return true;
}

void
mt_profile_made(enum memprof_source source, void *block, uint64_t size,
                const void *caller)
{
    uint64_t words = draw_words(size);
    int saved_errno;

    if (block == NULL || in_callback() || passes(words))
        return;
    saved_errno = suspend();
    sample(source, block, size, words, caller);
    resume(saved_errno);
}

/* ---- freed blocks ---- */

void
mt_profile_freed(enum memprof_source source, void *block)
{
    struct mt_place place = mt_table_take(table_of(source), (uintptr_t)block);
    int saved_errno;

    if (place.key == NULL)
        return;
    if (in_callback()) {
        postpone(place);
        return;
    }
    saved_errno = suspend();
    end_tracking(place);
    resume(saved_errno);
}

/* ---- resized blocks ---- */

struct profile_resize
mt_profile_resize_begin(void *block, uint64_t size)
{
    struct profile_resize resize = {.block = block, .size = size};

    if (block != NULL)
        resize.place = mt_table_take(&blocks, (uintptr_t)block);
    return resize;
}

/* A tracked block changes its size: the words it keeps keep their hits, and new words may
   be hit while the profile samples. */
static uint64_t
hits_resized(const struct tracked_block *tracked, uint64_t size, struct draw *draw)
{
    uint64_t before = draw_words(tracked->size), words = draw_words(size);

    if (words <= before)
        return draw_kept(draw, tracked->samples, before, words);
    if (__atomic_load_n(&sampling, __ATOMIC_ACQUIRE) != tracked->profile
        || !draw_for(draw, tracked->profile))
        return tracked->samples;
    return tracked->samples + draw_hits(draw, words - before);
}

/* Enters the block under its new address. */
static void
move_tracked(struct mt_place place, void *from, void *to)
{
    struct mt_place other = place;

    if (from != to) {
        other = mt_table_take(&blocks, (uintptr_t)to);
        if (other.key != NULL) /* it was freed where we do not see it */
            end_tracking(other);
        other = mt_table_claim(&blocks, (uintptr_t)to);
    }
    if (other.key == NULL) {
        count_lost();
        end_tracking(place);
        return;
    }
    if (other.key != place.key) {
        memcpy(other.value, place.value, sizeof(struct tracked_block));
        mt_table_release(place);
    }
    mt_table_show(other, (uintptr_t)to);
}

static void
resize_tracked(const struct profile_resize *resize, enum memprof_source source,
               void *made, uint64_t size)
{
    struct tracked_block *tracked = resize->place.value;
    uint32_t number = tracked->profile;
    const struct own_profile *profile = profile_of(number);
    struct memprof_allocation told;
    struct means means;

    if (!enter(number, false)) {
        mt_table_release(resize->place);
        return;
    }
    if (tracked->data != NULL) {
        get_means(&means, NULL);
        tracked->samples = hits_resized(tracked, size, means.draw);
        tracked->size = size;
    }
    if (tracked->data != NULL && profile->tracker.resize != NULL) {
        told = describe(profile, source, made, tracked, &means);
        tracked->data = profile->tracker.resize(tracked->data, &told, profile->ctx);
    }
    move_tracked(resize->place, resize->block, made);
    leave(number);
}

/* An untracked block: the words it gained may be hit, like those of a new block. */
static void
resize_untracked(const struct profile_resize *resize, enum memprof_source source,
                 void *made, uint64_t size)
{
    uint64_t before = resize->block != NULL ? draw_words(resize->size) : 0;
    uint64_t words = draw_words(size);

    if (words > before)
        sample(source, made, size, words - before, NULL);
}

void
mt_profile_resize_end(const struct profile_resize *resize, enum memprof_source source,
                      void *made, uint64_t size)
{
    struct mt_place place = resize->place;
    int saved_errno;

    if (place.key != NULL && made == NULL && size != 0) {
        mt_table_show(place, (uintptr_t)resize->block);
        return;
    }
    if (in_callback() || (place.key == NULL && made == NULL)) {
        if (place.key != NULL && made == NULL)
            postpone(place);
        else if (place.key != NULL)
            move_tracked(place, resize->block, made);
        return;
    }
    saved_errno = suspend();
    if (place.key == NULL)
        resize_untracked(resize, source, made, size);
    else if (made == NULL)
        end_tracking(place);
    else
        resize_tracked(resize, source, made, size);
    resume(saved_errno);
}

/* ---- start, stop, discard ---- */

/* Makes the tables and the space for stacks, once. */
static bool
make_room(void)
{
    size_t bytes = (size_t)SHARD_COUNT * FRAMES_MAX * sizeof *stacks;
    void *made;

    if (!mt_table_start(&blocks) || !mt_table_start(&pool_blocks))
        return false;
    if (stacks != NULL)
        return true;
    if (mt_sandboxed)
        return false;
    made = (void *)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED)
        return false;
    stacks = made;
    return true;
}

static bool
any_profile(void)
{
    for (unsigned i = 0; i < PROFILES; i++)
        if (__atomic_load_n(&profiles[i].word, __ATOMIC_SEQ_CST) != PROFILE_FREE)
            return true;
    return false;
}

/* Takes a place for a new profile; returns its number, or 0. */
static uint32_t
take_number(void)
{
    for (unsigned i = 0; i < PROFILES; i++) {
        uint32_t number = __atomic_add_fetch(&last_number, 1, __ATOMIC_RELAXED);
        uint64_t vacant = PROFILE_FREE;
        if (number != 0
            && __atomic_compare_exchange_n(&profile_of(number)->word, &vacant,
                                           word_of(number, PROFILE_PREPARING), false,
                                           __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            return number;
    }
    return 0;
}

static const struct mt_profile_hooks hooks = {
    .made = mt_profile_made,
    .freed = mt_profile_freed,
    .resize_begin = mt_profile_resize_begin,
    .resize_end = mt_profile_resize_end,
    .thread_ended = thread_left,
};

static int
start(const struct memprof_tracker *tracker, void *ctx, double rate, int frames,
      memprof_t **out)
{
    struct own_profile *profile;
    uint32_t number;

    if (__atomic_load_n(&sampling, __ATOMIC_ACQUIRE) != 0)
        return EBUSY;
    if (!make_room())
        return ENOMEM;
    if (!any_profile()) { /* nothing in the tables is needed then */
        mt_table_clear(&blocks);
        mt_table_clear(&pool_blocks);
    }
    number = take_number();
    if (number == 0)
        return EAGAIN;
    profile = profile_of(number);
    profile->rate = rate;
    profile->frames = frames;
    profile->tracker = *tracker;
    profile->ctx = ctx;
    change_state(number, PROFILE_PREPARING, PROFILE_SAMPLING);
    mt_hooks.profile = &hooks;
    mt_mode_change(MODE_PROFILED, 0);
    mt_unwind_start(mt_options.unwind);
    *out = (memprof_t *)(uintptr_t)number;
    __atomic_store_n(&sampling, number, __ATOMIC_RELEASE);
    return 0;
}

int
mt_profile_start(const struct memprof_tracker *tracker, void *ctx, double rate,
                 int frames, memprof_t **out)
{
    int error;

    if (__atomic_exchange_n(&starting, 1, __ATOMIC_ACQUIRE) != 0)
        return EBUSY;
    error = start(tracker, ctx, rate, frames, out);
    __atomic_store_n(&starting, 0, __ATOMIC_RELEASE);
    return error;
}

int
mt_profile_stop(void)
{
    uint32_t number = __atomic_exchange_n(&sampling, 0, __ATOMIC_ACQ_REL);

    if (number == 0)
        return ESRCH;
    change_state(number, PROFILE_SAMPLING, PROFILE_STOPPED);
    return 0;
}

/* Waits until no other thread is in a callback of the profile. */
static void
await_callbacks(const struct own_profile *profile)
{
    const struct timespec step = {0, 100000};

    while (__atomic_load_n(&profile->running, __ATOMIC_SEQ_CST) != 0)
        if (!mt_sandboxed)
            syscall(SYS_nanosleep, &step, NULL);
}

/* Takes the wrappers back off the slow paths, unless another profile has started. */
static void
leave_wrappers(void)
{
    if (any_profile())
        return;
    mt_mode_change(0, MODE_PROFILED);
    if (any_profile())
        mt_mode_change(MODE_PROFILED, 0);
}

int
mt_profile_discard(memprof_t *handle)
{
    uintptr_t value = (uintptr_t)handle;
    uint32_t number = (uint32_t)value;
    uint64_t word;

    if (value == 0 || value > __atomic_load_n(&last_number, __ATOMIC_RELAXED))
        return EINVAL;
    word = __atomic_load_n(&profile_of(number)->word, __ATOMIC_SEQ_CST);
    if (word == word_of(number, PROFILE_SAMPLING))
        return EBUSY;
    if (word == word_of(number, PROFILE_STOPPED) && in_callback())
        return EDEADLK;
    if (!change_state(number, PROFILE_STOPPED, PROFILE_ENDING))
        return EALREADY;
    await_callbacks(profile_of(number));
    __atomic_store_n(&profile_of(number)->word, PROFILE_FREE, __ATOMIC_SEQ_CST);
    leave_wrappers();
    return 0;
}

void
mt_profile_forget(void)
{
    sampling = 0;
    starting = 0;
    pending = NULL;
    for (unsigned i = 0; i < PROFILES; i++)
        profiles[i] = (struct own_profile){.word = PROFILE_FREE};
    memset(insides, 0, sizeof insides);
    /* The memory is not unmapped: a handler may have forked during a call that continues
       here and finds no profile. */
    mt_table_clear(&blocks);
    mt_table_clear(&pool_blocks);
}
