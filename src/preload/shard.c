/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shards and their owners.
 *
 * A thread claims the first free shard at its first call and gives it back when it ends;
 * the sums stay, and the next owner continues them.  A pthread key tells of the thread's
 * end.  Calls after that (other keys' destructors, the loader freeing the thread's TLS)
 * count in shard 0.
 */
#include "config.h"

#include "preload/shard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/account.h"
#include "preload/clock.h"
#include "preload/hooks.h"
#include "preload/publish.h"
#include "preload/real.h"
#include "preload/state.h"
#include "preload/windows.h"
#include "segment/live.h"

_Static_assert(SHARD_COUNT * sizeof(struct ring) <= UINT16_MAX + 1u, "ring_place");

/* With unlimited stacks the next mapping below is terabytes or, in the legacy layout,
   still far away.  Anything nearer than this is taken for the stack; no stack is assumed
   to be deeper. */
#define UNLIMITED_DEPTH UINT32_MAX

/* Other threads' stacks lie side by side, at their default size. */
#define UNLIMITED_THREAD_DEPTH (8u << 20)

/* A coroutine's depth is always over the limit; asking the kernel each time would cost a
   system call a call. */
#define LIMIT_CHECKS 15u

/* ---- the stack's base and limit ---- */

extern void *__libc_stack_end __attribute__((weak));

static uint32_t
stack_rlimit(void)
{
    uint32_t unlimited = mt_thread.is_main ? UNLIMITED_DEPTH : UNLIMITED_THREAD_DEPTH;
    struct rlimit limit;

    if (syscall(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &limit) < 0
        || limit.rlim_cur > unlimited)
        return unlimited;
    return (uint32_t)limit.rlim_cur;
}

/*
 * The main thread's stack begins at __libc_stack_end, another's just below its thread
 * descriptor, which glibc puts at the top of the stack.  (The proper way,
 * pthread_getattr_np, allocates and reads files.)  A thread whose stack is larger than
 * the default is only believed to be as deep as the default.  In a forked child the
 * thread that forked is the main one, on the stack it always had.
 */
static void
find_stack(void)
{
    if (mt_thread.stack_base == 0 && mt_thread.is_main && &__libc_stack_end != NULL)
        mt_thread.stack_base = (uintptr_t)__libc_stack_end;
    else if (mt_thread.stack_base == 0)
        mt_thread.stack_base = (uintptr_t)pthread_self();
    mt_thread.stack_limit = stack_rlimit();
    mt_thread.stack_lowest = mt_thread.stack_base;
}

bool
mt_stack_grew(uint64_t depth)
{
    if (depth > UNLIMITED_DEPTH || mt_thread.limit_checks >= LIMIT_CHECKS || mt_sandboxed)
        return false;
    mt_thread.limit_checks++;
    mt_thread.stack_limit = stack_rlimit();
    if (mt_thread.state == THREAD_COUNTED)
        mt_thread.shard->stack_limit = mt_thread.stack_limit;
    return depth <= mt_thread.stack_limit;
}

bool
mt_on_signal_stack(void)
{
    int saved_errno = errno;
    stack_t stack;
    bool known = !mt_sandboxed && syscall(SYS_sigaltstack, NULL, &stack) == 0;

    errno = saved_errno;
    return !known || (stack.ss_flags & SS_ONSTACK) != 0;
}

/* ---- claiming ---- */

/* Makes the ring of a shard present. */
static bool
ring_present(unsigned index)
{
    return mt_make_present(mt_ring_events(index),
                           mt_guard.ring_capacity * sizeof(struct event));
}

/* Takes a shard if it is free; makes its pages present the first time. */
static bool
take(unsigned index)
{
    uint32_t *state = &mt_segment.directory[index];
    uint32_t seen = __atomic_load_n(state, __ATOMIC_RELAXED);

    if (seen != SHARD_FREE && seen != SHARD_UNUSED)
        return false;
    uint32_t claimed = seen == SHARD_FREE ? SHARD_OWNED : SHARD_REFUSED;
    if (!__atomic_compare_exchange_n(state, &seen, claimed, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return false;
    if (claimed == SHARD_OWNED)
        return true;
    /* First use: the shard stays refused until its memory exists. */
    if (!mt_make_present(mt_shard(index), SHARD_NEAR_SIZE)
        || (mt_guard.ring_capacity > 0 && !ring_present(index)))
        return false;
    __atomic_store_n(state, SHARD_OWNED, __ATOMIC_RELEASE);
    return true;
}

static void
raise_shards_used(uint32_t used)
{
    uint32_t *word = &mt_segment.process->shards_used;
    uint32_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);

    while (seen < used
           && !__atomic_compare_exchange_n(word, &seen, used, true, __ATOMIC_RELEASE,
                                           __ATOMIC_RELAXED))
        ;
}

static bool
is_unused(unsigned index)
{
    return __atomic_load_n(&mt_segment.directory[index], __ATOMIC_RELAXED)
           == SHARD_UNUSED;
}

/* Claims a shard; returns its index, or 0.  Where one cannot be mapped, those behind it
   cannot either; the next thread will try again. */
static unsigned
find_shard(void)
{
    for (unsigned index = 1; index < SHARD_OWN_END; index++) {
        if (is_unused(index) && !mt_window_map(index))
            return 0;
        if (take(index)) {
            raise_shards_used(index + 1);
            return index;
        }
    }
    return 0;
}

bool
mt_shards_begin(void)
{
    uint32_t unused = SHARD_UNUSED;

    if (!is_unused(0))
        return true;
    if (!mt_make_present(mt_shard(0), SHARD_NEAR_SIZE))
        return false;
    /* Two threads may be here at once. */
    if (__atomic_compare_exchange_n(&mt_segment.directory[0], &unused, SHARD_FREE, false,
                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        raise_shards_used(1);
    return true;
}

/* Finds a shard for a thread that must share one, so that not all such threads write the
   same cache lines; 0 if there is no memory for another. */
static unsigned
find_group(uint32_t tid)
{
    unsigned index = SHARD_OWN_END + tid % SHARD_GROUPS;
    uint32_t *state = &mt_segment.directory[index];
    uint32_t unused = SHARD_UNUSED;

    if (mt_guard.ring_capacity > 0) /* its ring would be shared, too */
        return 0;
    if (is_unused(index) && mt_window_map(index)
        && __atomic_compare_exchange_n(state, &unused, SHARD_REFUSED, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)
        && mt_make_present(mt_shard(index), SHARD_NEAR_SIZE)) {
        __atomic_store_n(state, SHARD_FREE, __ATOMIC_RELEASE);
        raise_shards_used(index + 1);
    }
    return __atomic_load_n(state, __ATOMIC_ACQUIRE) == SHARD_FREE ? index : 0;
}

static void
own_shard(unsigned index, uint32_t tid)
{
    struct shard *shard = mt_shard(index);

    mt_count_anew(shard);
    if (with_sites())
        mt_hooks.sampler->thread_begun(index);
    shard->thread = tid;
    shard->owners++;
    shard->claimed_ns = mt_now_coarse();
    shard->stack_base = mt_thread.stack_base;
    shard->stack_limit = mt_thread.stack_limit;
    mt_thread.ring_place = (uint16_t)(index * sizeof(struct ring));
    mt_thread.events = mt_ring_events(index);
    mt_thread.looked_calls = hot_calls_folded(&shard->hot);
    mt_thread.shard = shard;
    mt_thread.state = THREAD_COUNTED;
    if (mt_guard.ring_capacity > 0)
        mt_hooks.events->write(EVENT_THREAD, NULL, tid);
}

static void
count_thread(bool merged)
{
    struct segment_process *process = mt_segment.process;

    word_add_shared(&process->threads_started, 1);
    if (merged) {
        word_add_shared(&process->threads_merged, 1);
        return;
    }
    uint32_t threads = __atomic_add_fetch(&process->threads, 1, __ATOMIC_RELAXED);
    if (threads > process->threads_peak)
        process->threads_peak = threads;
}

/* ---- the end of a thread ---- */

static pthread_key_t end_key;
static bool end_key_made;
static int (*set_specific)(pthread_key_t, const void *);

static void
release_shard(void)
{
    unsigned index = mt_own_shard();
    struct shard *shard = mt_shard(index); /* also during an internal call (internal.h) */

    mt_thread.shard = MT_NO_SHARD;
    mt_update_cut(shard); /* no frame of this thread goes on */
    update_open(shard);
    mt_fold(shard);
    word_max_shared(&mt_segment.process->stack_peak, shard->hot.stack_peak);
    word_store(&shard->hot.stack_peak, 0);
    update_close(shard);
    __atomic_store_n(&mt_segment.directory[index], SHARD_FREE, __ATOMIC_RELEASE);
    __atomic_sub_fetch(&mt_segment.process->threads, 1, __ATOMIC_RELAXED);
}

static void
on_thread_end(void *value)
{
    (void)value;
    if (mt_thread.in_profile)
        mt_hooks.profile->thread_ended();
    if (mt_guard.mode && mt_thread.state == THREAD_COUNTED)
        release_shard();
    mt_thread.state = THREAD_ENDED;
}

void
mt_shard_install(void)
{
    /* Before glibc 2.34 these are in libpthread, which a program without threads does not
       have and does not need. */
    int (*create)(pthread_key_t *, void (*)(void *));

    *(void **)&create = mt_real_next("pthread_key_create");
    *(void **)&set_specific = mt_real_next("pthread_setspecific");
    end_key_made = create != NULL && set_specific != NULL
                   && create(&end_key, on_thread_end) == 0;
}

void
mt_shard_claim(void)
{
    uint32_t tid;
    unsigned index;

    /* Calls from here on (pthread_setspecific may allocate) go to shard 0. */
    mt_thread.ring_place = 0;
    mt_thread.state = THREAD_SHARED;
    if (mt_sandboxed) {
        count_thread(true);
        return;
    }
    tid = (uint32_t)syscall(SYS_gettid);
    mt_thread.is_main = tid == mt_segment.header->pid;
    find_stack();
    index = end_key_made || mt_thread.is_main ? find_shard() : 0;
    count_thread(index == 0);
    if (index != 0)
        own_shard(index, tid);
    else if (end_key_made)
        mt_thread.ring_place = (uint16_t)(find_group(tid) * sizeof(struct ring));
    if (end_key_made)
        set_specific(end_key, &mt_thread);
}
