/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Folding a shard's changes into the process's live bytes and peak.
 *
 * The peak.  The live bytes of the process are the sum of what every thread has allocated
 * and freed.  Keeping that sum exact at every call would make all threads write one cache
 * line.  So each thread collects its own change (delta and the packed words), remembers
 * how high it has been (segment/live.h), and adds both to the process's sum and peak when
 * the change is beyond its quantum:
 *   one thread      that is exact: the sum does not change in between (and the quantum
 *                   is QUANTUM_ALONE);
 *   more threads    the others' changes are known but for two quanta each, one in the
 *                   packed words and one in the delta.  A quantum is drawn anew at each
 *                   fold: 1/256 of the peak, shared out among the threads, within
 *                   QUANTUM_MIN and QUANTUM_MAX;
 *   exact           0: every call folds.
 */
#include "config.h"

#include "preload/fold.h"

#include "preload/account.h"
#include "preload/recorder.h"
#include "segment/live.h"

static uint64_t
quantum_now(void)
{
    const struct segment_process *process = mt_segment.process;
    uint32_t threads = __atomic_load_n(&process->threads, __ATOMIC_RELAXED);
    uint64_t share;

    if (mt_guard.exact)
        return 0;
    if (threads < 2)
        return QUANTUM_ALONE;
    share = (word_load(&process->peak) >> 8) / threads;
    if (share < QUANTUM_MIN)
        return QUANTUM_MIN;
    return share < QUANTUM_MAX ? share : QUANTUM_MAX;
}

void
mt_fold_bytes(int64_t change, int64_t high)
{
    struct segment_process *process = mt_segment.process;
    int64_t before = __atomic_fetch_add(&process->current, change, __ATOMIC_RELAXED);

    if (before + high > 0) {
        word_max_shared(&process->peak, (uint64_t)(before + high));
        word_max_shared(&process->recorder_heap_max, (uint64_t)(before + high));
    }
}

static void
fold_row(struct shard_hot *hot, enum segment_function fn, uint64_t packed)
{
    word_add(&hot->calls[fn], packed_count(packed));
    word_add(&hot->bytes[fn], packed_bytes(packed));
}

/* Takes what was read out of the packed words, and not what is there: a signal handler
   may have counted meanwhile.  top comes last, because such a handler may raise it. */
void
mt_fold_packed(struct shard *shard)
{
    struct shard_hot *hot = &shard->hot;
    uint64_t gone = word_load(&hot->gone), calloced = word_load(&hot->calloced);
    uint64_t came = word_load(&hot->came);
    int64_t high = hot_high(hot);

    word_subtract(&hot->came, came);
    word_subtract(&hot->calloced, calloced);
    word_subtract(&hot->gone, gone);
    fold_row(hot, FN_MALLOC, came - calloced);
    fold_row(hot, FN_CALLOC, calloced);
    fold_row(hot, FN_FREE, gone);
    word_subtract(&hot->usable, SPACE_HEAD * (packed_count(came) - packed_count(gone)));
    delta_store(shard, hot->delta + (int64_t)(packed_bytes(came) - packed_bytes(gone)));
    word_store((uint64_t *)&hot->top, (uint64_t)packed_of_bytes(high - hot->delta));
}

void
mt_fold(struct shard *shard)
{
    int64_t change, high;

    mt_fold_packed(shard);
    change = shard->hot.delta;
    high = hot_high(&shard->hot);
    delta_store(shard, 0);
    word_store((uint64_t *)&shard->hot.top, 0);
    mt_fold_bytes(change, high);
    word_store(&shard->hot.quantum, quantum_now());
}

void
mt_due_in(struct shard *shard, uint64_t bytes)
{
    struct shard_hot *hot = &shard->hot;
    uint64_t change = -bytes - word_load((uint64_t *)&hot->came_space);

    word_add((uint64_t *)&hot->came_space, change);
    word_subtract(&hot->usable, change);
}

void
mt_due_gone_in(struct shard *shard, uint64_t bytes)
{
    struct shard_hot *hot = &shard->hot;
    uint64_t change = -bytes - word_load((uint64_t *)&hot->gone_space);

    word_add((uint64_t *)&hot->gone_space, change);
    word_add(&hot->usable, change);
}

void
mt_update_cut(struct shard *shard)
{
    uint64_t seen = word_load(&shard->hot.sequence);

    /* A handler that comes in between may do the same. */
    if ((seen & 1) == 0
        || !__atomic_compare_exchange_n(&shard->hot.sequence, &seen, seen + 1, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return;
    word_add_shared(&mt_segment.process->updates_left, 1);
    mt_recorder_left();
}

void
mt_count_anew(struct shard *shard)
{
    update_open(shard);
    mt_fold(shard);
    mt_due_in(shard, 1);
    mt_due_gone_in(shard, 1);
    update_close(shard);
}
