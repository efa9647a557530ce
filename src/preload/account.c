/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counters' slow paths, and what the flight recorder is fed. */
#include "config.h"

#include "preload/account.h"

#include <errno.h>

#include "preload/dormant.h"
#include "preload/publish.h"
#include "preload/recorder.h"
#include "preload/shard.h"
#include "preload/windows.h"
#include "segment/live.h"

void
mt_delta_large(struct shard *shard, int64_t change)
{
    mt_fold(shard);
    word_store(&shard->hot.stack_pointer, stack_pointer());
    mt_fold_bytes(change, change > 0 ? change : 0);
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

/* Reading the clock costs a few ns, so it is read when much has changed, or much changes
   often. */
#define LOOK_DELTA (1 << 20)

static bool
worth_a_look(const struct shard *shard)
{
    int64_t delta = shard->hot.delta;

    return delta >= LOOK_DELTA || delta <= -LOOK_DELTA
           || (beyond_quantum(shard) && (shard->hot.sequence & 14) == 0);
}

static void
end_update(struct shard *shard, bool look)
{
    bool due = false;

    if (look)
        mt_fold_packed(shard);
    if (look || worth_a_look(shard))
        due = mt_recorder_due(shard);
    if (shard->hot.stack_pointer < mt_thread.stack_lowest)
        note_depth(shard);
    if (due || beyond_quantum(shard))
        mt_fold(shard);
    if (due) {
        mt_recorder_look(shard, depth_of(shard->hot.stack_pointer));
        if (unlikely(mt_guard.lease != NULL))
            mt_dormant_look(mt_thread.looked_ns);
    }
    update_close(shard);
}

void
mt_update_end_slow(struct shard *shard, uint64_t before)
{
    end_update(shard, update_looks(before));
}

void
mt_update_end_freed(struct shard *shard)
{
    end_update(shard, free_looks(shard));
}

void
mt_update_end_looking(struct shard *shard)
{
    end_update(shard, true);
}

/* ---- when something is due ---- */

/* Small blocks may follow a large one, so the bytes are limited, too, but not to fewer
   than some large blocks have. */
#define LOOK_BLOCKS 128u
#define LOOK_BYTES  QUANTUM_ALONE
#define LOOK_LARGE  16u

uint64_t
mt_due_after(const struct shard *shard, uint64_t space)
{
    uint64_t bytes = space * LOOK_BLOCKS, most = space * LOOK_LARGE;

    if (most < LOOK_BYTES)
        most = LOOK_BYTES;
    if (shard->hot.quantum < QUANTUM_ALONE)
        most = shard->hot.quantum;
    return bytes < most ? bytes : most;
}

/* ---- updates that were cut off ---- */

/* A signal's frame takes more than twice this on the stack, and no function that opens an
   update has so large a frame. */
#define FRAME_MARGIN 512u

static bool
on_own_stack(uintptr_t pointer)
{
    return mt_thread.stack_base - pointer <= mt_thread.stack_limit;
}

/*
 * A call has found its shard inside an update.  Usually a signal handler makes it, and
 * the update goes on afterwards; but a handler may also have left by a jump
 * (siglongjmp), and then it never will.  It will not either if this call is made from as
 * far up the same stack as the update was: what was below is gone.  On another stack, a
 * signal handler's or a coroutine's, nothing follows from addresses, so both must lie on
 * the thread's own stack, and the kernel must say that this is no handler with a stack of
 * its own inside that.  In doubt the update is under way.
 */
static bool
was_left(const struct shard *shard)
{
    uintptr_t frame = word_load(&shard->update_frame), here = stack_pointer();

    return on_own_stack(frame) && on_own_stack(here) && here + FRAME_MARGIN >= frame
           && !mt_on_signal_stack();
}

/* Ends an update of the thread's own shard that was left; false: it is under way. */
static __attribute__((noinline)) bool
take_back(struct shard *shard)
{
    if (!was_left(shard))
        return false;
    mt_update_cut(shard);
    if (seqlock_is_odd(&shard->hot.sequence))
        return false;
    mt_count_anew(shard);
    return true;
}

/* ---- cells ---- */

/* Makes a page of cells present, once; false if that is not possible. */
static bool
widen(struct shard *shard, unsigned page)
{
    uint32_t bit = UINT32_C(1) << page;

    if (__atomic_load_n(&shard->cell_pages_refused, __ATOMIC_RELAXED) & bit)
        return false;
    if (mt_sandboxed
        || !mt_make_present(shard->cells + (size_t)page * CELLS_A_PAGE, SEGMENT_PAGE)) {
        __atomic_fetch_or(&shard->cell_pages_refused, bit, __ATOMIC_RELAXED);
        return false;
    }
    __atomic_fetch_or(&shard->cell_pages, bit, __ATOMIC_RELEASE);
    return true;
}

struct shard_cell *
mt_far_cell(struct shard *shard, uint64_t size)
{
    if (widen(shard, histogram_cell(size) / CELLS_A_PAGE))
        return near_cell(shard, size);
    return &shard->coarse[histogram_coarse(size)];
}

/* ---- in shard 0 ---- */

/* Shard 0 keeps only the process's peak depth: its stack pointers would come from
   different threads in turn. */
static void
count_depth_shared(void)
{
    if (mt_thread.stack_base != 0)
        word_max_shared(&mt_segment.process->stack_peak, depth_of(stack_pointer()));
}

static __attribute__((noinline)) void
claim(void)
{
    int saved_errno = errno;

    mt_shard_claim();
    errno = saved_errno;
}

/* Gives a thread its shard at its first call.  Returns false if the thread has no shard
   or is inside an update of it. */
static inline __attribute__((always_inline)) bool
own_shard_ready(void)
{
    struct shard *shard;

    if (mt_thread.state == THREAD_NEW)
        claim();
    shard = mt_thread.shard;
    return !seqlock_is_odd(&shard->hot.sequence)
           || (shard != MT_NO_SHARD && take_back(shard));
}

/* A group of threads collects its change in the delta of its shard, as a thread does, but
   without a top: what it has been higher in between is less than the least quantum. */
static void
finish_shared(int64_t change)
{
    struct shard *shard = mt_shared_shard();
    int64_t delta;

    count_depth_shared();
    if (shard != mt_shard(0) && !mt_guard.exact) {
        delta = __atomic_add_fetch(&shard->hot.delta, change, __ATOMIC_RELAXED);
        if (delta < QUANTUM_MIN && delta > -(int64_t)QUANTUM_MIN)
            return;
        change = __atomic_exchange_n(&shard->hot.delta, 0, __ATOMIC_RELAXED);
    }
    mt_fold_bytes(change, change > 0 ? change : 0);
}

void
mt_count_made_slow(enum segment_function fn, uint64_t size, uint64_t usable)
{
    if (own_shard_ready()) {
        mt_count_made(fn, size, usable);
        return;
    }
    count_made(mt_shared_shard(), fn, size, usable, true);
    finish_shared((int64_t)size);
}

void
mt_count_freed_slow(uint64_t size, uint64_t usable)
{
    if (own_shard_ready()) {
        mt_count_freed(size, usable);
        return;
    }
    count_freed(mt_shared_shard(), size, usable, true);
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
    word_add_shared(&mt_shared_shard()->hot.calls[FN_FREE], 1);
    word_add_shared(&mt_shared_shard()->hot.free_null, 1);
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
    count_add(&cell_of(shard, resize->old_size)->gone, 1, shared);
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
    count_add(&cell_of(shard, resize->size)->came, 1, shared);
    count_add(&cell_of(shard, resize->old_size)->gone, 1, shared);
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
        count_resized(mt_shared_shard(), resize, true);
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
   block: letting it go as well takes it out of the live histogram again. */
static void
count_failed(struct shard *shard, enum segment_function fn, uint64_t size, uint64_t asked,
             bool would_make, bool shared)
{
    count_add(&shard->hot.calls[fn], 1, shared);
    if (would_make && fn != FN_REALLOC)
        count_add(&shard->hot.failed_new, 1, shared);
    count_add(&cell_of(shard, asked)->came, 1, shared);
    count_add(&cell_of(shard, asked)->gone, 1, shared);
    count_add(&shard->failed[fn], 1, shared);
    count_add(&shard->failed_bytes[fn], size, shared);
}

void
mt_count_failed(enum segment_function fn, uint64_t size, uint64_t asked, bool would_make)
{
    uint64_t before;
    struct shard *shard;

    if (!own_shard_ready() || !update_begin(shard = mt_thread.shard, &before)) {
        count_failed(mt_shared_shard(), fn, size, asked, would_make, true);
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
