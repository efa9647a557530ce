/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The counters' slow paths, the peak and what the flight recorder is fed.
 *
 * The peak.  The live bytes of the process are the sum of what every thread has allocated
 * and freed.  Keeping that sum exact at every call would make all threads write one cache
 * line.  So each thread collects its own change (delta) and folds it into
 * process->current when the delta leaves [floor, ceiling]:
 *   one thread      the ceiling is the distance to the peak, so every new peak is
 *                   folded and the peak is exact.  It is also bounded as with two
 *                   threads, so that little is pending when a second one starts;
 *   more threads    1/1024 of the peak, shared out among them, or 4 KiB;
 *   exact           0: every call folds.
 */
#include "config.h"

#include "preload/account.h"

#include <errno.h>

#include "preload/dormant.h"
#include "preload/recorder.h"
#include "preload/shard.h"
#include "segment/live.h"

/* A thread keeps a delta below this to itself, whatever the peak is. */
#define FOLD_AT_LEAST 4096

/* ---- peak ---- */

static int64_t
current_bytes(void)
{
    return __atomic_load_n(&mt_segment.process->current, __ATOMIC_RELAXED);
}

/* Every thread reads these at every call, so they are written only when they change. */
static void
set_guard(int64_t ceiling, int64_t floor)
{
    if (mt_guard.ceiling != ceiling)
        mt_guard.ceiling = ceiling;
    if (mt_guard.floor != floor)
        mt_guard.floor = floor;
}

void
mt_set_limits(void)
{
    struct segment_process *process = mt_segment.process;
    uint32_t threads = __atomic_load_n(&process->threads, __ATOMIC_RELAXED);
    int64_t peak = (int64_t)word_load(&process->peak);
    int64_t share = (peak >> 10) / (threads < 2 ? 2 : threads);
    int64_t room = peak - current_bytes();

    if (share < FOLD_AT_LEAST)
        share = FOLD_AT_LEAST;
    if (mt_guard.exact)
        set_guard(INT64_MIN, INT64_MAX);
    else
        set_guard(threads < 2 && room < share ? room : share, -share);
}

/* Adds to the process's live bytes and raises the peak. */
static void
fold_bytes(int64_t change)
{
    struct segment_process *process = mt_segment.process;
    int64_t now = __atomic_add_fetch(&process->current, change, __ATOMIC_RELAXED);

    if (now > 0) {
        word_max_shared(&process->peak, (uint64_t)now);
        word_max_shared(&process->recorder_heap_max, (uint64_t)now);
    }
}

void
mt_fold(struct shard *shard)
{
    int64_t change = shard->hot.delta;

    delta_store(shard, 0);
    fold_bytes(change);
    mt_set_limits();
}

/* ---- stack ---- */

/* Returns the depth of a stack pointer, or 0 if it lies on another stack (a signal stack
   or a coroutine's): its depth is then larger than the thread's stack can be. */
static uint64_t
depth_of(uintptr_t pointer)
{
    uint64_t depth = mt_thread.stack_base - pointer;

    return depth <= mt_thread.stack_limit || mt_stack_grew(depth) ? depth : 0;
}

static void
note_depth(struct shard *shard)
{
    uint64_t depth = depth_of(shard->hot.stack_pointer);

    if (depth == 0)
        return;
    mt_thread.stack_lowest = shard->hot.stack_pointer;
    word_store(&shard->hot.stack_peak, depth);
    word_max_shared(&mt_segment.process->recorder_stack_max, depth);
}

/* Reading the clock costs a few ns, so it is read when much has changed, not each time a
   growing program raises its peak by a few bytes. */
static bool
worth_a_look(int64_t delta)
{
    return delta >= FOLD_AT_LEAST || delta <= -FOLD_AT_LEAST;
}

static void
end_update(struct shard *shard, uint64_t before, bool look)
{
    int64_t delta = shard->hot.delta;
    bool due = (look || worth_a_look(delta)) && mt_recorder_due(before);

    if (shard->hot.stack_pointer < mt_thread.stack_lowest)
        note_depth(shard);
    if (due || delta > mt_guard.ceiling || delta < mt_guard.floor)
        mt_fold(shard);
    if (due) {
        mt_recorder_look(before, depth_of(shard->hot.stack_pointer));
        if (unlikely(mt_guard.lease != NULL))
            mt_dormant_look(mt_thread.looked_ns);
    }
    seqlock_write_end(&shard->hot.sequence);
}

void
mt_update_end_slow(struct shard *shard, uint64_t before)
{
    end_update(shard, before, update_looks(before));
}

void
mt_update_end_freed(struct shard *shard, uint64_t before)
{
    end_update(shard, before, free_looks(shard));
}

void
mt_update_end_looking(struct shard *shard, uint64_t before)
{
    end_update(shard, before, true);
}

void
mt_look_in(struct shard *shard, uint64_t bytes)
{
    struct shard_hot *hot = &shard->hot;

    word_store(&hot->usable, hot_usable(hot) + bytes);
    word_store(&hot->made, -bytes);
}

/* Shard 0 keeps only the process's peak depth: its stack pointers would come from
   different threads in turn. */
static void
count_depth_shared(void)
{
    if (mt_thread.stack_base != 0)
        word_max_shared(&mt_segment.process->stack_peak, depth_of(stack_pointer()));
}

/* ---- in shard 0 ---- */

/* Gives a thread its shard at its first call.  Returns false if the thread has no shard
   or is inside an update of it. */
static bool
own_shard_ready(void)
{
    if (mt_thread.state == THREAD_NEW) {
        int saved_errno = errno;
        mt_shard_claim();
        errno = saved_errno;
    }
    return !seqlock_is_odd(&mt_thread.shard->hot.sequence);
}

static void
finish_shared(int64_t change)
{
    fold_bytes(change);
    count_depth_shared();
}

void
mt_count_made_slow(enum segment_function fn, uint64_t size, uint64_t usable)
{
    if (own_shard_ready()) {
        mt_count_made(fn, size, usable);
        return;
    }
    count_made(mt_shard(0), fn, size, usable, true);
    finish_shared((int64_t)size);
}

void
mt_count_freed_slow(uint64_t size, uint64_t usable)
{
    if (own_shard_ready()) {
        mt_count_freed(size, usable);
        return;
    }
    count_freed(mt_shard(0), size, usable, true);
    finish_shared(-(int64_t)size);
}

void
mt_count_free_null_slow(void)
{
    if (own_shard_ready()) {
        mt_count_free_null();
        return;
    }
    if (mt_thread.internal)
        return;
    word_add_shared(&mt_shard(0)->hot.calls[FN_FREE], 1);
    word_add_shared(&mt_shard(0)->hot.free_null, 1);
}

/* ---- realloc ---- */

/* realloc(p, 0) that freed its block.  The call counts in the realloc row, its bytes in
   free's, and no histogram of calls has it (as in memusage). */
static void
count_realloc_freed(struct shard *shard, const struct mt_resize *resize, bool shared)
{
    struct shard_hot *hot = &shard->hot;

    count_add(&hot->calls[FN_REALLOC], 1, shared);
    count_add(&hot->realloc_freed, 1, shared);
    count_add(&hot->bytes[FN_FREE], resize->old_size, shared);
    count_add(&hot->usable, -resize->old_usable, shared);
    count_add(&shard->freed[histogram_coarse_block(resize->old_size)], 1, shared);
}

/* realloc of a counted block to a size above 0: the row's bytes are the growth. */
static void
count_realloc_moved(struct shard *shard, const struct mt_resize *resize, bool shared)
{
    struct shard_hot *hot = &shard->hot;

    count_add(&hot->calls[FN_REALLOC], 1, shared);
    if (resize->size > resize->old_size)
        count_add(&hot->bytes[FN_REALLOC], resize->size - resize->old_size, shared);
    if (resize->size < resize->old_size) {
        count_add(&hot->realloc_shrunk, resize->old_size - resize->size, shared);
        count_add(&hot->realloc_dec, 1, shared);
    }
    if (resize->in_place)
        count_add(&hot->realloc_inplace, 1, shared);
    count_add(&hot->usable, resize->usable - resize->old_usable, shared);
    count_add(&shard->allocated[histogram_cell(resize->size)], 1, shared);
    count_add(&shard->freed[histogram_coarse_block(resize->old_size)], 1, shared);
}

static void
count_resized(struct shard *shard, const struct mt_resize *resize, bool shared)
{
    switch (resize->kind) {
    case RESIZE_FRESH:
        count_made(shard, FN_REALLOC, resize->size, resize->usable, shared);
        count_add(&shard->hot.realloc_fresh, 1, shared);
        break;
    case RESIZE_MOVED:
        count_realloc_moved(shard, resize, shared);
        break;
    case RESIZE_FREED:
        count_realloc_freed(shard, resize, shared);
        break;
    }
}

void
mt_count_resized(const struct mt_resize *resize)
{
    uint64_t before;
    struct shard *shard;

    if (!own_shard_ready() || !update_begin(shard = mt_thread.shard, &before)) {
        count_resized(mt_shard(0), resize, true);
        finish_shared((int64_t)(resize->size - resize->old_size));
        return;
    }
    count_resized(shard, resize, false);
    if (resize->size >= resize->old_size)
        update_end_grown(shard, before, resize->size - resize->old_size);
    else
        update_end_shrunk(shard, before, resize->old_size - resize->size);
}

/* ---- rare ---- */

/* A failed call counts in its row and in the histogram (as in memusage) but makes no
   block: adding it to freed as well takes it out of the live histogram again. */
static void
count_failed(struct shard *shard, enum segment_function fn, uint64_t size, uint64_t asked,
             bool would_make, bool shared)
{
    count_add(&shard->hot.calls[fn], 1, shared);
    if (would_make && fn != FN_REALLOC)
        count_add(&shard->hot.failed_new, 1, shared);
    count_add(&shard->allocated[histogram_cell(asked)], 1, shared);
    count_add(&shard->freed[histogram_coarse(asked)], 1, shared);
    count_add(&shard->failed[fn], 1, shared);
    count_add(&shard->failed_bytes[fn], size, shared);
}

void
mt_count_failed(enum segment_function fn, uint64_t size, uint64_t asked, bool would_make)
{
    uint64_t before;
    struct shard *shard;

    if (!own_shard_ready() || !update_begin(shard = mt_thread.shard, &before)) {
        count_failed(mt_shard(0), fn, size, asked, would_make, true);
        return;
    }
    count_failed(shard, fn, size, asked, would_make, false);
    update_end_grown(shard, before, 0);
}

/* Unmatched frees are too rare to need a fast path, so shard 0 counts them. */
void
mt_count_unmatched(void)
{
    word_add_shared(&mt_shard(0)->hot.unmatched, 1);
}

/* A block with its own mapping costs the allocator a system call; an atomic operation on
   a shared word is cheap beside that. */
void
mt_count_mapped(uint64_t change)
{
    word_add_shared(&mt_segment.process->mapped, change);
}

/* Adds one call and its bytes to two consecutive words of the thread's shard, for calls
   that do not change the live bytes. */
static void
count_custom(size_t offset, uint64_t size)
{
    bool shared = !own_shard_ready();
    struct shard *shard = shared ? mt_shard(0) : mt_thread.shard;
    uint64_t *words = (uint64_t *)(void *)((char *)shard + offset);

    count_add(&words[1], size, shared);
    count_add(&words[0], 1, shared);
}

void
mt_count_custom_made(uint64_t size)
{
    count_custom(offsetof(struct shard, custom_made), size);
}

void
mt_count_custom_freed(uint64_t size)
{
    count_custom(offsetof(struct shard, custom_freed), size);
}

void
mt_count_custom_unmatched(void)
{
    word_add_shared(&mt_segment.process->custom_unmatched, 1);
}

void
mt_count_mapping(enum segment_mapping mapping, uint64_t bytes, bool failed)
{
    struct shard *shard = mt_shard(0);

    word_add_shared(&shard->mapping_calls[mapping], 1);
    if (failed)
        word_add_shared(&shard->mapping_failed[mapping], 1);
    else
        word_add_shared(&shard->mapping_bytes[mapping], bytes);
}

void
mt_count_mremap(uint64_t growth, bool failed, bool in_place, bool shrunk)
{
    struct shard *shard = mt_shard(0);

    mt_count_mapping(MAPPING_MREMAP, growth, failed);
    if (failed)
        return;
    if (in_place)
        word_add_shared(&shard->mremap_inplace, 1);
    if (shrunk)
        word_add_shared(&shard->mremap_dec, 1);
}
