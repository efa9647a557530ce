/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program's own profiles on the host, without an allocator: threads report blocks
 * while profiles come and go, also under ThreadSanitizer (tests/tsan.sh).
 * tests/preload/memprof.c tests what programs see.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hosted-library.h"
#include "preload/memprof/profile.h"

static int
set_up(void **state)
{
    (void)state;
    host_segment(0);
    mt_guard.mode = ACCOUNTING_REQUESTED;
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    mt_profile_forget();
    mt_sandboxed = false;
    scratch_close();
    return 0;
}

/* ---- a tracker whose data show whether the profile was alive ---- */

struct life {
    unsigned alive;
    unsigned calls;
};

static void
look(struct life *life)
{
    assert_int_equal(__atomic_load_n(&life->alive, __ATOMIC_SEQ_CST), 1);
    __atomic_fetch_add(&life->calls, 1, __ATOMIC_RELAXED);
}

static void *
note_alloc(const struct memprof_allocation *block, void *ctx)
{
    look(ctx);
    assert_true(block->n_samples > 0);
    return ctx;
}

static void *
note_resize(void *data, const struct memprof_allocation *block, void *ctx)
{
    (void)block;
    assert_ptr_equal(data, ctx);
    look(ctx);
    return data;
}

static void
note_dealloc(void *data, void *ctx)
{
    assert_ptr_equal(data, ctx);
    look(ctx);
}

static const struct memprof_tracker tracker = {note_alloc, note_resize, note_dealloc};

static memprof_t *
begin(double rate, struct life *life)
{
    memprof_t *profile = NULL;

    __atomic_store_n(&life->alive, 1, __ATOMIC_SEQ_CST);
    assert_int_equal(mt_profile_start(&tracker, life, rate, 0, &profile), 0);
    assert_non_null(profile);
    return profile;
}

/* ---- one thread ---- */

#define ADDRESS(number) ((void *)(uintptr_t)(((number) + 1) * 16))

/* A signal handler forks during a realloc, which also finishes in the child. */
static void
test_forked_in_resize(void **state)
{
    struct life life = {0};
    struct profile_resize resize, other;

    (void)state;
    begin(1, &life);
    mt_profile_made(MEMPROF_NORMAL, ADDRESS(1), 10, NULL);
    mt_profile_made(MEMPROF_NORMAL, ADDRESS(2), 10, NULL);
    resize = mt_profile_resize_begin(ADDRESS(1), 10);
    other = mt_profile_resize_begin(ADDRESS(2), 10);
    assert_non_null(resize.place.key);
    mt_profile_forget();
    life.alive = 0;
    mt_profile_resize_end(&resize, MEMPROF_NORMAL, ADDRESS(3), 20);
    mt_profile_resize_end(&other, MEMPROF_NORMAL, NULL, 20);
    mt_profile_freed(MEMPROF_NORMAL, ADDRESS(3));
    mt_profile_freed(MEMPROF_NORMAL, ADDRESS(2));
    assert_int_equal(2, life.calls);
}

static void
test_mode(void **state)
{
    struct life one = {0}, two = {0};
    memprof_t *first, *second;

    (void)state;
    assert_false(mt_profiled());
    first = begin(1, &one);
    assert_true(mt_profiled());
    assert_int_equal(mt_profile_stop(), 0);
    assert_true(mt_profiled()); /* its blocks are still followed */
    second = begin(1, &two);
    assert_int_equal(mt_profile_discard(first), 0);
    assert_true(mt_profiled());
    assert_int_equal(mt_profile_stop(), 0);
    assert_int_equal(mt_profile_discard(second), 0);
    assert_false(mt_profiled()); /* the fast paths are restored */
    assert_int_equal(mt_guard.mode, ACCOUNTING_REQUESTED);
}

/* A block that was freed unnoticed ends when its address is returned again. */
static void
test_stale(void **state)
{
    struct life life = {0};
    memprof_t *profile = begin(1, &life);
    struct profile_resize resize;

    (void)state;
    mt_profile_made(MEMPROF_NORMAL, ADDRESS(1), 10, NULL);
    assert_int_equal(life.calls, 1);
    mt_profile_made(MEMPROF_NORMAL, ADDRESS(1), 20, NULL);
    assert_int_equal(life.calls, 3);
    mt_profile_made(MEMPROF_NORMAL, ADDRESS(2), 20, NULL);
    resize = mt_profile_resize_begin(ADDRESS(2), 20);
    mt_profile_resize_end(&resize, MEMPROF_NORMAL, ADDRESS(1), 30);
    assert_int_equal(life.calls, 6);
    mt_profile_freed(MEMPROF_NORMAL, ADDRESS(1));
    mt_profile_freed(MEMPROF_NORMAL, ADDRESS(2));
    assert_int_equal(life.calls, 7);
    mt_profile_stop();
    mt_profile_discard(profile);
}

/* What a profile leaves in the tables does not belong to the next profile. */
static void
test_left_over(void **state)
{
    struct life one = {0}, two = {0};
    memprof_t *profile = begin(1, &one);

    (void)state;
    for (int i = 0; i < 5000; i++)
        mt_profile_made(MEMPROF_NORMAL, ADDRESS(i), 10, NULL);
    mt_profile_stop();
    mt_profile_discard(profile);
    one.alive = 0;
    profile = begin(1, &two);
    for (int i = 0; i < 5000; i++)
        mt_profile_freed(MEMPROF_NORMAL, ADDRESS(i));
    assert_int_equal(two.calls, 0);
    mt_profile_stop();
    mt_profile_discard(profile);
}

/* Without memory, samples are lost and counted. */
static void
test_no_room(void **state)
{
    struct life life = {0};
    memprof_t *profile = begin(1, &life);
    unsigned made;

    (void)state;
    mt_sandboxed = true;
    for (int i = 0; i < 10000; i++)
        mt_profile_made(MEMPROF_NORMAL, ADDRESS(i), 10, NULL);
    made = life.calls;
    assert_true(made > 1000 && made < 10000);
    assert_int_equal(scratch_process()->profile_lost, 10000 - made);
    for (int i = 0; i < 10000; i++)
        mt_profile_freed(MEMPROF_NORMAL, ADDRESS(i));
    assert_int_equal(life.calls, 2 * made);
    mt_profile_stop();
    mt_profile_discard(profile);
}

/* ---- many ---- */

#define THREADS 4
#define OWN     64

static unsigned over;

static void *
tell(void *argument)
{
    uintptr_t base = (uintptr_t)argument * OWN * 2;
    struct profile_resize resize;

    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        for (uintptr_t i = 0; i < OWN; i++)
            mt_profile_made(MEMPROF_NORMAL, ADDRESS(base + i), i * 8, NULL);
        for (uintptr_t i = 0; i < OWN; i++) {
            resize = mt_profile_resize_begin(ADDRESS(base + i), i * 8);
            mt_profile_resize_end(&resize, MEMPROF_NORMAL, ADDRESS(base + OWN + i),
                                  i * 5);
        }
        for (uintptr_t i = 0; i < OWN; i++)
            mt_profile_freed(MEMPROF_NORMAL, ADDRESS(base + OWN + i));
    }
    return NULL;
}

static void
test_storm(void **state)
{
    static struct life lives[200];
    pthread_t threads[THREADS];
    unsigned calls = 0;

    (void)state;
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, tell, (void *)i), 0);
    for (unsigned i = 0; i < sizeof lives / sizeof lives[0]; i++) {
        memprof_t *profile = begin(i % 2 ? 1 : 0.1, &lives[i]);
        while (__atomic_load_n(&lives[i].calls, __ATOMIC_RELAXED) < 20)
            sched_yield();
        assert_int_equal(mt_profile_stop(), 0);
        assert_int_equal(mt_profile_discard(profile), 0);
        lives[i].alive = 0; /* nobody reads any more, so even a race would show */
        calls += lives[i].calls;
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(calls >= 20 * 200);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_no_room), /* must be first, because tables only grow */
        TEST(test_forked_in_resize), TEST(test_mode), TEST(test_stale),
        TEST(test_left_over), TEST(test_storm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
