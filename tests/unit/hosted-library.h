/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the library's counting code needs from the rest of the library, for a test
   program, and a segment for it.  Include in one file of a test program. */
#ifndef MEMTOP_HOSTED_LIBRARY_H
#define MEMTOP_HOSTED_LIBRARY_H

#include "preload/clock.h"
#include "preload/dormant.h"
#include "preload/hooks.h"
#include "preload/internal.h"
#include "preload/options.h"
#include "preload/publish.h"
#include "preload/shard.h"
#include "preload/state.h"
#include "preload/windows.h"
#include "preload/sites/unwind.h"
#include "scratch-segment.h"

struct mt_guard mt_guard;
struct mt_hooks mt_hooks;
struct mt_options mt_options;
struct mt_segment mt_segment;
unsigned char *mt_windows[SHARD_COUNT / WINDOW_SHARDS];
unsigned char *mt_ring_pieces[SHARD_COUNT];
void *
mt_far_place(size_t size)
{
    (void)size;
    return NULL;
}

bool mt_sandboxed;
struct shard_hot mt_no_shard = MT_NO_SHARD_INIT;
__thread struct mt_thread mt_thread = {.shard = MT_NO_SHARD, .state = THREAD_SHARED};

uint64_t
mt_now_coarse(void)
{
    static uint64_t ticks;

    return scratch_header()->created_ns
           + __atomic_fetch_add(&ticks, UINT64_C(1) << 20, __ATOMIC_RELAXED);
}

uint64_t
mt_now_exact(void)
{
    return mt_now_coarse();
}

void
mt_unwind_start(enum unwind_choice choice)
{
    (void)choice;
}

size_t
mt_unwind(const void **frames, size_t limit)
{
    (void)frames;
    (void)limit;
    return 0;
}

bool
mt_make_present(void *address, size_t size)
{
    (void)address;
    (void)size;
    return true;
}

bool
mt_present_later(void)
{
    return true;
}

bool
mt_stack_grew(uint64_t depth)
{
    (void)depth;
    return false;
}

/* What mt_on_signal_stack() says. */
static bool on_signal_stack;

bool
mt_on_signal_stack(void)
{
    return on_signal_stack;
}

void
mt_shard_claim(void)
{
}

void
mt_dormant_look(uint64_t now)
{
    (void)now;
}

#ifdef SAME_MAPPING
/* ThreadSanitizer compares addresses, so the reader uses the writers' mapping (ld
   --wrap). */
void *__real_mmap(void *, size_t, int, int, int, off_t);
void *__wrap_mmap(void *, size_t, int, int, int, off_t);
int __wrap_munmap(void *, size_t);

void *
__wrap_mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    return scratch != NULL ? scratch + offset
                           : __real_mmap(address, length, protection, flags, fd, offset);
}

int
__wrap_munmap(void *address, size_t length)
{
    (void)address;
    (void)length;
    return 0;
}
#endif

static inline void
host_segment(uint64_t capacity)
{
    scratch_open_with_rings(capacity);
    mt_segment.header = scratch_header();
    mt_segment.process = scratch_process();
    mt_segment.directory = scratch_states();
    mt_segment.recorder = scratch + RECORDER_OFFSET;
    for (unsigned i = 0; i < SHARD_COUNT / WINDOW_SHARDS; i++)
        mt_windows[i] = scratch + SHARDS_OFFSET + i * WINDOW_SIZE;
    mt_segment.rings = scratch + RINGS_OFFSET;
    for (unsigned i = 0; i < SHARD_COUNT; i++)
        mt_ring_pieces[i] = scratch + EVENTS_OFFSET + i * capacity * sizeof(struct event);
}

/* The tables are made at the first sample. */
static inline void
host_segment_with_sites(void)
{
    scratch_open_with(0, true);
    mt_segment.header = scratch_header();
    mt_segment.process = scratch_process();
    mt_segment.header->sites_state = SITES_WAITING;
    for (unsigned i = 0; i < SHARD_COUNT / WINDOW_SHARDS; i++)
        mt_windows[i] = scratch + SHARDS_OFFSET + i * WINDOW_SIZE;
}

#endif
