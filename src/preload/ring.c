/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Event rings: one producer (the thread), one consumer (memtop), no lock.
 *
 *   head   written by the thread after the event is complete
 *   tail   written by memtop in the control page, after it has copied; a lie
 *          there can only lose events or make us wait
 *
 * Ring 0 has many producers: each takes a number with an atomic operation and
 * marks its event when it is complete; memtop stops at one that is not.
 *
 * The time is taken inside the thread's update (its sequence is odd), so that
 * memtop knows of a thread that may still write an event of an earlier time.
 */
#include "config.h"

#include "preload/ring.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined __x86_64__
#include <cpuid.h>
#endif

#include "preload/account.h"
#include "preload/state.h"
#include "segment/clock.h"

/* How long a full ring is waited for, and in what steps. */
#define WAIT_STEP_NS 100000
#define WAIT_STEPS   10000u

/* ---- clock ---- */

/* Does the TSC tick evenly and in step on all CPUs?  Intel SDM 17.17.1:
   CPUID.80000007H:EDX[8].  In a virtual machine each CPUID is a trap of 20 us or
   more. */
static bool
ticks_are_tsc(void)
{
#if defined __x86_64__
    unsigned a, b, c, d;

    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
#else
    return false;
#endif
}

bool
mt_ticks_choose(void)
{
    static bool asked, even; /* children inherit the answer */

    if (!asked)
        even = ticks_are_tsc();
    asked = true;
    mt_guard.tsc = even;
    return even;
}

uint64_t
mt_ticks(void)
{
#if defined __x86_64__
    if (mt_guard.tsc) {
        /* What came before in the program must also have come before in time. */
        __builtin_ia32_lfence();
        return __builtin_ia32_rdtsc();
    }
#endif
    return (uint64_t)clock_ns(CLOCK_MONOTONIC);
}

/* ---- the rings ---- */

void
mt_ring_start(void)
{
    unsigned char *base = (unsigned char *)mt_segment.header;

    mt_guard.rings = (struct ring *)(void *)(base + RINGS_OFFSET);
    mt_guard.events = (struct event *)(void *)(base + EVENTS_OFFSET);
    mt_guard.ring_capacity = mt_options.ring_capacity;
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
    uint64_t capacity = mt_guard.ring_capacity;

    return mt_guard.events + index * capacity + (number & (capacity - 1));
}

bool
mt_ring_present(unsigned index)
{
    return mt_make_present(event_at(index, 0),
                           mt_guard.ring_capacity * sizeof(struct event));
}

static uint64_t
tail_of(unsigned index)
{
    const struct segment_control *control =
        (const void *)((unsigned char *)mt_segment.header + CONTROL_OFFSET);

    return __atomic_load_n(&control->ring_tail[index], __ATOMIC_ACQUIRE);
}

static void
wait_a_step(void)
{
    const struct timespec step = {0, WAIT_STEP_NS};
    int saved_errno = errno;

    syscall(SYS_nanosleep, &step, NULL);
    errno = saved_errno;
}

static bool
is_full(const struct ring *ring, uint64_t head)
{
    return head - word_load(&ring->seen_tail) >= mt_guard.ring_capacity;
}

/* Waits for room in a full ring, if that is wanted; false: the event is lost.
   Once a wait was in vain there is none again until memtop has taken something.
   head is read anew each time: others may write into ring 0 meanwhile. */
static bool
wait_for_room(unsigned index, struct ring *ring)
{
    uint64_t head = word_load(&ring->head);
    unsigned steps = mt_guard.drop || ring->given_up == head ? 0 : WAIT_STEPS;

    for (;; steps--) {
        word_store(&ring->seen_tail, tail_of(index));
        head = word_load(&ring->head);
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

/* Writes an event but its mark. */
static inline __attribute__((always_inline)) void
fill(struct event *event, unsigned kind, const void *address, uint64_t size)
{
    uint64_t depth = mt_thread.stack_base - stack_pointer();

    event->ticks = mt_ticks();
    event->address = (uintptr_t)address;
    event->size = size;
    event->depth = depth <= mt_thread.stack_limit && depth <= UINT32_MAX ? (uint32_t)depth
                                                                        : 0;
    event->kind = (uint8_t)kind;
    event->reserved = 0;
}

/* Writes event number head into the thread's own ring, inside an update. */
static inline __attribute__((always_inline)) void
write_own(struct ring *ring, uint64_t head, unsigned kind, const void *address,
          uint64_t size)
{
    struct event *event = event_at(mt_thread.index, head);

    fill(event, kind, address, size);
    event->mark = 0;
    __atomic_store_n(&ring->head, head + 1, __ATOMIC_RELEASE);
}

/* By a thread without a shard, or inside an update of it. */
static __attribute__((noinline)) void
event_shared(unsigned kind, const void *address, uint64_t size)
{
    struct ring *ring = ring_of(0);
    uint64_t head = word_load(&ring->head);
    struct event *event;

    do {
        if (is_full(ring, head) && !wait_for_room(0, ring))
            return;
    } while (!__atomic_compare_exchange_n(&ring->head, &head, head + 1, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    event = event_at(0, head);
    fill(event, kind, address, size);
    __atomic_store_n(&event->mark, (uint16_t)(head / mt_guard.ring_capacity + 1),
                     __ATOMIC_RELEASE);
}

/* Begins an update with room for an event in the thread's own ring.  The room
   found before may be gone: a signal handler's events are ours too. */
static bool
begin(struct shard *shard, struct ring *ring, uint64_t *head)
{
    uint64_t before;

    for (;;) {
        *head = word_load(&ring->head);
        if (unlikely(is_full(ring, *head)) && !wait_for_room(mt_thread.index, ring))
            return false;
        if (unlikely(!update_begin(shard, &before)))
            return false;
        mt_thread.looked_sequence += 2; /* this update is no call */
        *head = word_load(&ring->head);
        if (likely(!is_full(ring, *head)))
            return true;
        seqlock_write_end(&shard->hot.sequence);
    }
}

void
mt_event(unsigned kind, const void *address, uint64_t size)
{
    struct shard *shard = mt_thread.shard;
    struct ring *ring;
    uint64_t head;

    if (unlikely(seqlock_is_odd(&shard->hot.sequence))) {
        event_shared(kind, address, size);
        return;
    }
    ring = ring_of(mt_thread.index);
    if (!begin(shard, ring, &head))
        return;
    write_own(ring, head, kind, address, size);
    seqlock_write_end(&shard->hot.sequence);
}

/* Begins an update in which a call is counted and its event written; false: do
   them one after the other. */
static inline __attribute__((always_inline)) bool
begin_both(struct shard *shard, struct ring *ring, uint64_t *head, uint64_t *before)
{
    if (unlikely(!update_begin(shard, before)))
        return false;
    *head = word_load(&ring->head);
    if (likely(!is_full(ring, *head)))
        return true;
    mt_thread.looked_sequence += 2; /* this update is no call */
    seqlock_write_end(&shard->hot.sequence);
    return false;
}

void
mt_event_made(enum segment_function fn, const void *block, uint64_t size,
              uint64_t usable)
{
    struct shard *shard = mt_thread.shard;
    struct ring *ring = ring_of(mt_thread.index);
    uint64_t head, before;

    if (unlikely(!begin_both(shard, ring, &head, &before))) {
        mt_count_made(fn, size, usable);
        mt_event(fn, block, size);
        return;
    }
    count_made(shard, fn, size, usable, false);
    write_own(ring, head, fn, block, size);
    update_end_grown(shard, before, size);
}

void
mt_event_freed(const void *block, uint64_t size, uint64_t usable)
{
    struct shard *shard = mt_thread.shard;
    struct ring *ring = ring_of(mt_thread.index);
    uint64_t head, before;

    if (unlikely(!begin_both(shard, ring, &head, &before))) {
        mt_count_freed(size, usable);
        mt_event(FN_FREE, block, size);
        return;
    }
    count_freed(shard, size, usable, false);
    write_own(ring, head, FN_FREE, block, size);
    update_end_shrunk(shard, before, size);
}
