/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Event rings: one producer (the thread), one consumer (memtop), no lock.
 *
 *   head   written by the thread after the event is complete
 *   tail   written by memtop in the control page, after it has copied; a wrong value
 *          there can only lose events or make the program wait
 *
 * Ring 0 has many producers: each takes a number with an atomic operation and marks its
 * event when it is complete; memtop stops at an event that is not.
 *
 * The time is taken inside the thread's update (its sequence is odd), so that memtop
 * knows which threads may still write an event with an earlier time.
 */
#include "config.h"

#include "preload/ring/ring.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/account.h"
#include "preload/clock.h"
#include "preload/options.h"
#include "preload/publish.h"
#include "preload/state.h"
#include "base/clock.h"
#include "preload/ticks.h"

/* How long to wait for a full ring: steps of this many ns or, where the kernel must not
   be called, of this many turns of a loop, which take about as long. */
#define WAIT_STEP_NS 100000
#define WAIT_STEP_TURNS 2000u
#define WAIT_STEPS   10000u

void
mt_ring_start(void)
{
    mt_guard.rings = (struct ring *)(void *)mt_segment.rings;
    mt_guard.ring_capacity = mt_options.ring_capacity;
    mt_guard.ring_mask = mt_options.ring_capacity - 1;
    mt_guard.drop = mt_options.drop;
}

static inline struct ring *
ring_of(unsigned index)
{
    return mt_guard.rings + index;
}

static inline struct event *
event_at(unsigned index, uint64_t number)
{
    return mt_ring_events(index) + (number & mt_guard.ring_mask);
}

static uint64_t
tail_of(unsigned index)
{
    const struct segment_control *control =
        (const void *)((unsigned char *)mt_segment.header + CONTROL_OFFSET);

    return __atomic_load_n(&control->ring_tail[index], __ATOMIC_ACQUIRE);
}

static inline void
spin_turn(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#else
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
#endif
}

static void
wait_a_step(void)
{
    const struct timespec step = {0, WAIT_STEP_NS};
    int saved_errno = errno;

    if (mt_sandboxed) {
        for (unsigned turn = 0; turn < WAIT_STEP_TURNS; turn++)
            spin_turn();
        return;
    }
    syscall(SYS_nanosleep, &step, NULL);
    errno = saved_errno;
}

/* The head at which the ring will be full.  The tail is not trusted: one ahead of the
   head would make space that is not there. */
static uint64_t
full_at(unsigned index, uint64_t head)
{
    uint64_t tail = tail_of(index);

    return (tail < head ? tail : head) + mt_guard.ring_capacity;
}

/* Acquire, because another thread may have found the space in ring 0, and the drain must
   have read what lay there before it is overwritten. */
static bool
is_full(const struct ring *ring, uint64_t head)
{
    return head >= __atomic_load_n(&ring->full_at, __ATOMIC_ACQUIRE);
}

/* Waits for space in a full ring, unless waiting is off; false: the event is lost.  After
   a wait in vain nobody waits again until memtop has taken something.  head is read again
   each time because other threads may write into ring 0 meanwhile. */
static bool
wait_for_room(unsigned index, struct ring *ring)
{
    uint64_t head = word_load(&ring->head);
    unsigned steps = mt_guard.drop || ring->given_up == head ? 0 : WAIT_STEPS;

    for (;; steps--) {
        head = word_load(&ring->head);
        __atomic_store_n(&ring->full_at, full_at(index, head), __ATOMIC_RELEASE);
        if (!is_full(ring, head))
            return true;
        if (steps == 0)
            break;
        wait_a_step();
    }
    word_store(&ring->given_up, head);
    word_add_shared(&ring->lost, 1);
    return false;
}

/* Writes an event for a thread without a shard, or from inside an update of its shard. */
static __attribute__((noinline)) void
event_shared(unsigned kind, const void *address, uint64_t size, unsigned alignment)
{
    struct ring *ring = ring_of(0);
    uint64_t head = word_load(&ring->head), depth;
    struct event *event;

    do {
        if (is_full(ring, head) && !wait_for_room(0, ring))
            return;
    } while (!__atomic_compare_exchange_n(&ring->head, &head, head + 1, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    event = event_at(0, head);
    depth = mt_thread.stack_base - stack_pointer();
    event->ticks = mt_ticks();
    event->address = (uintptr_t)address;
    event->size = size;
    event->depth = depth <= mt_thread.stack_limit ? (uint32_t)depth : 0;
    event->kind = (uint8_t)kind;
    event->alignment = (uint8_t)alignment;
    __atomic_store_n(&event->mark, (uint16_t)(head / mt_guard.ring_capacity + 1),
                     __ATOMIC_RELEASE);
}

/* Begins an update with space for an event in the thread's own ring.  The space found
   before may be gone, because a signal handler's events go into the same ring. */
static bool
begin(struct shard *shard, struct ring *ring)
{
    uint64_t before;

    for (;;) {
        if (unlikely(is_full(ring, word_load(&ring->head)))
            && !wait_for_room((unsigned)(ring - mt_guard.rings), ring))
            return false;
        if (unlikely(!update_begin(shard, &before)))
            return false;
        if (likely(!is_full(ring, word_load(&ring->head))))
            return true;
        update_close(shard);
    }
}

static void
event_aligned(unsigned kind, const void *address, uint64_t size, unsigned alignment)
{
    struct shard *shard = mt_thread.shard;
    struct ring *ring;

    if (unlikely(seqlock_is_odd(&shard->hot.sequence))) {
        event_shared(kind, address, size, alignment);
        return;
    }
    ring = mt_ring_own();
    if (!begin(shard, ring))
        return;
    mt_event_write(ring, kind, address, size, alignment, mt_tsc_readable());
    update_close(shard);
}

void
mt_event(unsigned kind, const void *address, uint64_t size)
{
    event_aligned(kind, address, size, 0);
}

/* log2, rounded up as allocators do; 0 for no alignment. */
static unsigned
log2_of(size_t alignment)
{
    return alignment > 1 ? 64u - (unsigned)__builtin_clzll(alignment - 1) : 0;
}

void
mt_event_made(enum segment_function fn, const void *block, uint64_t size,
              uint64_t usable, size_t alignment)
{
    struct shard *shard = mt_thread.shard;
    struct ring *ring = mt_ring_own();
    uint64_t before;

    if (unlikely(!mt_event_begin(shard, ring, &before))) {
        mt_count_made(fn, size, usable);
        event_aligned(fn, block, size, log2_of(alignment));
        return;
    }
    count_made(shard, fn, size, usable, false);
    mt_event_write(ring, fn, block, size, log2_of(alignment), mt_tsc_readable());
    update_end_grown(shard, before, size);
}

void
mt_event_freed(const void *block, uint64_t size, uint64_t usable)
{
    struct shard *shard = mt_thread.shard;
    struct ring *ring = mt_ring_own();
    uint64_t before;

    if (unlikely(!mt_event_begin(shard, ring, &before))) {
        mt_count_freed(size, usable);
        mt_event(FN_FREE, block, size);
        return;
    }
    count_freed(shard, size, usable, false);
    mt_event_write(ring, FN_FREE, block, size, 0, mt_tsc_readable());
    update_end_shrunk(shard, before, size);
}
