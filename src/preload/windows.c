/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Maps further parts of the segment, whose descriptor is closed.  mremap() with an old
 * size of 0 makes a second mapping of a shared page, of any size: what follows that page
 * in the file comes behind it.  So a piece is mapped from the last page of the piece
 * before it, and begins behind a second mapping of that page.
 *
 * Threads that need the same piece at the same time all map it; the first one to enter it
 * wins, and the others unmap theirs.
 */
#include "config.h"

#include "preload/windows.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/options.h"
#include "preload/state.h"

unsigned char *mt_windows[SHARD_COUNT / WINDOW_SHARDS];
unsigned char *mt_ring_pieces[SHARD_COUNT];

static size_t
ring_size(void)
{
    return mt_options.ring_capacity * sizeof(struct event);
}

static unsigned char *
load(unsigned char **piece)
{
    return __atomic_load_n(piece, __ATOMIC_ACQUIRE);
}

static void
unmap_piece(unsigned char *piece, size_t size)
{
    syscall(SYS_munmap, piece - SEGMENT_PAGE, SEGMENT_PAGE + size);
}

/* Maps the piece behind one that is mapped; both are size bytes long.  Returns NULL on
   failure. */
static unsigned char *
map_behind(unsigned char *piece, size_t size)
{
    unsigned char *last_page = piece + size - SEGMENT_PAGE;
    unsigned char *mapped = (void *)syscall(SYS_mremap, last_page, (size_t)0,
                                            SEGMENT_PAGE + size, MREMAP_MAYMOVE);

    return mapped != MAP_FAILED ? mapped + SEGMENT_PAGE : NULL;
}

/* Maps a piece, and those before it that are not mapped yet. */
static bool
map_piece(unsigned char **pieces, unsigned number, size_t size)
{
    unsigned mapped = number;

    while (load(&pieces[mapped]) == NULL)
        mapped--; /* the first is mapped from the start */
    for (; mapped < number; mapped++) {
        unsigned char *nothing = NULL, *next = map_behind(load(&pieces[mapped]), size);

        if (next == NULL)
            return false;
        if (!__atomic_compare_exchange_n(&pieces[mapped + 1], &nothing, next, false,
                                         __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            unmap_piece(next, size);
    }
    return true;
}

bool
mt_window_map(unsigned shard)
{
    return map_piece(mt_windows, shard / WINDOW_SHARDS, WINDOW_SIZE)
           && (mt_options.ring_capacity == 0
               || map_piece(mt_ring_pieces, shard, ring_size()));
}

/* So far below the segment that the program's mappings do not come there soon. */
#define FAR_BELOW (UINT64_C(1) << 40)
#define FAR_STEP  (UINT64_C(1) << 16)

void *
mt_far_place(size_t size)
{
    static uint64_t used;
    uintptr_t top = ((uintptr_t)mt_windows[0] - FAR_BELOW) & ~(uintptr_t)(FAR_STEP - 1);
    uint64_t step = (size + FAR_STEP - 1) & ~(FAR_STEP - 1);

    if (sizeof top < 8 || (uintptr_t)mt_windows[0] < 2 * FAR_BELOW)
        return NULL;
    return (void *)(top - (uintptr_t)__atomic_add_fetch(&used, step, __ATOMIC_RELAXED));
}

void
mt_windows_start(unsigned char *shards, unsigned char *events)
{
    mt_windows[0] = shards;
    if (events != NULL)
        mt_ring_pieces[0] = events;
}

static void
unmap_pieces(unsigned char **pieces, unsigned count, size_t size)
{
    for (unsigned i = 1; i < count && pieces[i] != NULL; i++) {
        unmap_piece(pieces[i], size);
        pieces[i] = NULL;
    }
    pieces[0] = NULL;
}

void
mt_windows_unmap(void)
{
    unmap_pieces(mt_windows, SHARD_COUNT / WINDOW_SHARDS, WINDOW_SIZE);
    if (mt_options.ring_capacity > 0)
        unmap_pieces(mt_ring_pieces, SHARD_COUNT, ring_size());
}
