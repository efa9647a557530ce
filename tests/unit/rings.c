/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Event rings on the host: threads with their own rings, and threads that share one,
 * write while the drain drains; the rings are full most of the time. tests/tsan.sh
 * builds this with ThreadSanitizer as well.
 */
#include "config.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hosted-library.h"
#include "preload/account.h"
#include "preload/recorder.h"
#include "preload/ring/ring.h"
#include "base/clock.h"
#include "segment/drain.h"

#define OWNERS  2
#define SHARERS 2
#define THREADS (OWNERS + SHARERS)
#define ROUNDS  5000

static unsigned running;

/* The address tells the thread and the round of a block. */
static void *
block_of(uint64_t thread, uint64_t round)
{
    return (void *)(uintptr_t)(thread << 32 | round << 4);
}

static void *
allocate_and_free(void *argument)
{
    uint64_t thread = (uintptr_t)argument;

    if (thread <= OWNERS) {
        mt_thread.shard = mt_shard((unsigned)thread);
        mt_thread.ring_place = (uint16_t)(thread * sizeof(struct ring));
        mt_thread.events = mt_ring_events((unsigned)thread);
        mt_thread.state = THREAD_COUNTED;
    }
    mt_thread.stack_base = mt_thread.stack_lowest = (uintptr_t)&thread + 4096;
    mt_thread.stack_limit = 1 << 20;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        mt_event_made(FN_MALLOC, block_of(thread, round), round, round + 8, 0);
        mt_event_freed(block_of(thread, round), round, round + 8);
    }
    __atomic_sub_fetch(&running, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* ---- checking the drained events ---- */

static uint64_t made[THREADS + 1], freed[THREADS + 1], wrong, latest_ns;

static void
take(void *context, const struct drained *events, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++) {
        const struct drained *event = &events[i];
        uint64_t thread = event->address >> 32;

        assert_in_range(thread, 1, THREADS);
        if (event->kind == FN_MALLOC)
            made[thread]++;
        else
            freed[thread]++;
        /* A thread's events are in order, freed after allocated, and from the right
           ring. */
        wrong += event->address != (uintptr_t)block_of(thread, made[thread])
                 || event->size != made[thread] || made[thread] - freed[thread] > 1
                 || event->ring != (thread <= OWNERS ? thread : 0)
                 || event->time_ns < latest_ns;
        latest_ns = event->time_ns;
    }
}

static void
start(void)
{
    struct segment_header *header;

    host_segment(RING_CAPACITY_MIN);
    header = scratch_header();
    header->created_ns = (uint64_t)clock_ns(CLOCK_MONOTONIC);
    header->flags |= mt_ticks_are_tsc() ? SEGMENT_FLAG_TICKS : 0;
    header->created_ticks = mt_ticks();
    for (unsigned i = 0; i <= OWNERS; i++)
        scratch_states()[i] = SHARD_OWNED;
    scratch_process()->shards_used = OWNERS + 1;
    scratch_process()->threads = OWNERS;
    mt_options.ring_capacity = RING_CAPACITY_MIN;
    mt_recorder_start();
    mt_ring_start();
    mt_guard.mode = ACCOUNTING_REQUESTED | MODE_EVENTS;
}

static void
test_rings(void **state)
{
    pthread_t threads[THREADS];
    struct drain *drain;

    (void)state;
    start();
    running = THREADS;
    assert_int_equal(0, drain_open(scratch_path, getuid(), geteuid(), &drain));
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, allocate_and_free, (void *)(i + 1));
    while (__atomic_load_n(&running, __ATOMIC_ACQUIRE) > 0)
        assert_true(drain_round(drain, false, take, NULL) >= 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(drain_round(drain, true, take, NULL) >= 0);
    assert_int_equal(0, drain_lost(drain));
    for (unsigned i = 1; i <= THREADS; i++) {
        assert_int_equal(ROUNDS, made[i]);
        assert_int_equal(ROUNDS, freed[i]);
    }
    assert_int_equal(0, wrong);
    drain_close(drain);
    scratch_close();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
