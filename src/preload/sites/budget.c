/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The budget of sampling.  All threads share it and change it with plain atomic words: a
 * change that is lost when two threads meet makes one step a little late, no more.
 */
#include "config.h"

#include "preload/sites/budget.h"

#include "segment/sampling.h"
#include "segment/seqlock.h"

/* Samples cost at most one part in this many of the time that passes. */
#define BUDGET_PART 200u

/* The bucket holds the cost of so many samples. */
#define BUCKET_SAMPLES 64

/* At the finest step one sample is taken in this many bytes on average; a process begins
   with a coarser one, because most processes are small and end soon. */
#define FINEST_BYTES 1024u
#define FIRST_STEP   9u

/* What a sample is thought to cost until some have been taken, and how many times the
   mean one may: more means that the thread was interrupted, or met code and tables for
   the first time, and says nothing about the next samples. */
#define COST_FIRST 2000
#define COST_TIMES 4

/* Weight of the newest sample in the mean cost: 1 / this. */
#define COST_MEMORY 16

static double given_rate;  /* 0: the budget chooses; never changes */
static uint32_t step = FIRST_STEP;
static uint32_t finest;    /* the finest step that the tables have space for */
static uint64_t changes;
static int64_t balance;    /* ns that may be spent */
static int64_t mean_cost = COST_FIRST;
static uint64_t looked;    /* when the balance was last raised */

static int64_t
bucket(void)
{
    return __atomic_load_n(&mean_cost, __ATOMIC_RELAXED) * BUCKET_SAMPLES;
}

void
budget_start(double given)
{
    given_rate = given;
    step = FIRST_STEP;
    mean_cost = COST_FIRST;
    balance = bucket();
}

unsigned
budget_step(void)
{
    return given_rate > 0 ? RATE_GIVEN : __atomic_load_n(&step, __ATOMIC_RELAXED);
}

double
budget_rate(unsigned of)
{
    if (of == RATE_GIVEN)
        return given_rate;
    return (double)SAMPLING_WORD / ((double)FINEST_BYTES * (double)(UINT64_C(1) << of));
}

uint64_t
budget_changes(void)
{
    return word_load(&changes);
}

static void
change_step(unsigned to, int64_t left)
{
    if (to < __atomic_load_n(&finest, __ATOMIC_RELAXED) || to >= RATE_STEPS)
        return;
    __atomic_store_n(&step, to, __ATOMIC_RELAXED);
    __atomic_store_n(&balance, left, __ATOMIC_RELAXED);
    word_add_shared(&changes, 1);
}

/* Adds to the balance for the time since it was last done, and returns it. */
static int64_t
refill(uint64_t now)
{
    uint64_t before = word_load(&looked);

    if (now > before
        && __atomic_compare_exchange_n(&looked, &before, now, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED)
        && before != 0)
        __atomic_add_fetch(&balance, (int64_t)((now - before) / BUDGET_PART),
                           __ATOMIC_RELAXED);
    return __atomic_load_n(&balance, __ATOMIC_RELAXED);
}

/* A full bucket makes the step finer and leaves half of it, so that the step does not go
   to and fro; after a long time several times.  No more than a bucket is kept. */
static void
refine_if_full(int64_t have)
{
    unsigned now = budget_step(), to = now;
    int64_t most = bucket();

    if (now == RATE_GIVEN)
        return;
    for (; to > 0 && have >= most; to--)
        have /= 2;
    if (to != now)
        change_step(to, have);
    else if (have > most)
        __atomic_store_n(&balance, most, __ATOMIC_RELAXED);
}

void
budget_spent(uint64_t now, uint64_t cost)
{
    int64_t mean = __atomic_load_n(&mean_cost, __ATOMIC_RELAXED), have;
    int64_t paid =
        cost < (uint64_t)(mean * COST_TIMES) ? (int64_t)cost : mean * COST_TIMES;
    unsigned in_force = budget_step();

    if (in_force == RATE_GIVEN)
        return;
    have = refill(now);
    refine_if_full(have);
    __atomic_store_n(&mean_cost, mean + (paid - mean) / COST_MEMORY, __ATOMIC_RELAXED);
    have = __atomic_sub_fetch(&balance, paid, __ATOMIC_RELAXED);
    if (have < 0)
        change_step(in_force + 1, 0);
}

bool
budget_look(uint64_t now, unsigned drawn)
{
    if (drawn == RATE_GIVEN)
        return false;
    refine_if_full(refill(now));
    return budget_step() < drawn;
}

unsigned
budget_thin(void)
{
    unsigned in_force = budget_step(), limit;

    if (in_force == RATE_GIVEN)
        return RATE_GIVEN;
    limit = __atomic_load_n(&finest, __ATOMIC_RELAXED);
    limit = (limit > in_force ? limit : in_force) + 1;
    if (limit >= RATE_STEPS)
        limit = RATE_STEPS - 1;
    __atomic_store_n(&finest, limit, __ATOMIC_RELAXED);
    change_step(limit, 0);
    return limit;
}
