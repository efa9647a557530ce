/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Growing tables.  The segment's descriptor is closed; a chunk is mapped as windows.c
 * maps shards: a second mapping of a page that is mapped, long enough to reach the chunk,
 * of which only the chunk is kept.
 */
#include "config.h"

#include "preload/sites/growing.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/options.h"
#include "preload/publish.h"
#include "preload/state.h"
#include "preload/windows.h"
#include "segment/seqlock.h"

/* A table grows by half of what it has, but by no less and no more than this. */
#define STEP_MIN 8192u
#define STEP_MAX (UINT64_C(1) << 20)

/* The limit of memory, unless the user gave one. */
#define LIMIT_MOST (UINT64_C(64) << 20)
#define LIMIT_ASKED (UINT64_C(256) << 20) /* if the user gave a rate */
#define LIMIT_LEAST (UINT64_C(1) << 20)
#define LIMIT_OF_FREE 8u /* at most this part of the free space of the file system */
#define LIMIT_IF_ASKED 2u /* the same if the user gave a rate, and so wants it */
#define LIMIT_OF_HEAP 32u /* this part of the heap, besides the least */
#define SHARES 16u

static uint64_t spent;
static uint64_t free_space; /* of the file system */
static unsigned char *head_page;

/* ---- the limit ---- */

void
growing_start_limit(uint64_t free_bytes)
{
    free_space = free_bytes;
}

uint64_t
growing_memory(void)
{
    return word_load(&spent);
}

uint64_t
growing_memory_limit(void)
{
    int64_t heap = __atomic_load_n(&mt_segment.process->current, __ATOMIC_RELAXED);
    uint64_t limit = LIMIT_LEAST + (heap > 0 ? (uint64_t)heap / LIMIT_OF_HEAP : 0);
    bool asked = mt_options.sites_rate > 0;
    uint64_t most = free_space / (asked ? LIMIT_IF_ASKED : LIMIT_OF_FREE);

    if (mt_options.sites_memory > 0)
        return mt_options.sites_memory;
    if (asked)
        limit = LIMIT_ASKED;
    else if (limit > LIMIT_MOST)
        limit = LIMIT_MOST;
    return limit < most ? limit : most;
}

bool
growing_spend(uint64_t bytes, unsigned share)
{
    uint64_t limit = growing_memory_limit() / SHARES * share;

    if (word_load(&spent) + bytes > limit)
        return false;
    word_add_shared(&spent, bytes);
    return true;
}

void
growing_unspend(uint64_t bytes)
{
    word_add_shared(&spent, -bytes);
}

void
growing_forked(uint64_t private_bytes)
{
    spent = private_bytes;
    head_page = NULL;
}

/* ---- mapping ---- */

static unsigned char *
map_private(size_t size)
{
    void *memory =
        (void *)syscall(SYS_mmap, mt_far_place(size), size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, (off_t)0);

    return memory != MAP_FAILED ? memory : NULL;
}

/* Maps size bytes that begin distance behind the start of a mapped page in the file. */
static unsigned char *
map_from(unsigned char *page, uint64_t distance, size_t size)
{
    unsigned char *place = map_private(size), *mapped, *moved;

    if (place == NULL)
        return NULL;
    mapped =
        (void *)syscall(SYS_mremap, page, (size_t)0, distance + size, MREMAP_MAYMOVE);
    if (mapped == MAP_FAILED) {
        syscall(SYS_munmap, place, size);
        return NULL;
    }
    moved = (void *)syscall(SYS_mremap, mapped + distance, size, size,
                            MREMAP_MAYMOVE | MREMAP_FIXED, place);
    syscall(SYS_munmap, mapped, (size_t)distance);
    return moved != MAP_FAILED ? moved : mapped + distance;
}

static size_t
chunk_bytes(const struct mt_growing *table, unsigned chunk)
{
    uint32_t entries = chunk == 0 ? table->first : growing_start(table, chunk);

    return (size_t)entries * table->entry;
}

static unsigned char *
chunk_of(const struct mt_growing *table, unsigned chunk)
{
    return __atomic_load_n(&table->chunks[chunk], __ATOMIC_ACQUIRE);
}

/* The last page before a chunk that is mapped, and how far before it lies. */
static unsigned char *
page_before(const struct mt_growing *table, unsigned chunk, uint64_t *distance)
{
    *distance = table->offset;
    if (chunk == 0)
        return head_page;
    *distance = SEGMENT_PAGE;
    return chunk_of(table, chunk - 1) + chunk_bytes(table, chunk - 1) - SEGMENT_PAGE;
}

static bool
map_chunk(struct mt_growing *table, unsigned chunk)
{
    size_t size = chunk_bytes(table, chunk);
    unsigned char *none = NULL, *mapped, *page;
    uint64_t distance;

    if (chunk_of(table, chunk) != NULL)
        return true;
    if (table->offset == 0)
        mapped = map_private(size);
    else {
        page = page_before(table, chunk, &distance);
        mapped = map_from(page, distance, size);
    }
    if (mapped == NULL)
        return false;
    if (!__atomic_compare_exchange_n(&table->chunks[chunk], &none, mapped, false,
                                     __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        syscall(SYS_munmap, mapped, size);
    return true;
}

void *
growing_head(void)
{
    unsigned char *none = NULL, *page;
    uint64_t distance =
        mt_segment.header->sites_offset - (SHARDS_OFFSET + WINDOW_SIZE - SEGMENT_PAGE);

    if (__atomic_load_n(&head_page, __ATOMIC_ACQUIRE) != NULL)
        return head_page;
    page =
        map_from(mt_windows[0] + WINDOW_SIZE - SEGMENT_PAGE, distance, SITES_HEAD_SIZE);
    if (page == NULL)
        return NULL;
    if ((mt_present_later() && !mt_make_present(page, SITES_HEAD_SIZE))
        || !__atomic_compare_exchange_n(&head_page, &none, page, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        syscall(SYS_munmap, page, (size_t)SITES_HEAD_SIZE);
    return head_page;
}

/* ---- growing ---- */

static uint64_t
step_from(const struct mt_growing *table, unsigned chunk, uint64_t present)
{
    uint64_t end =
        (uint64_t)growing_start(table, chunk) * table->entry + chunk_bytes(table, chunk);
    uint64_t step = present / 2 / SEGMENT_PAGE * SEGMENT_PAGE;

    if (step < STEP_MIN)
        step = STEP_MIN;
    if (step > STEP_MAX)
        step = STEP_MAX;
    return step < end - present ? step : end - present;
}

/* Where the kernel cannot make pages present later, the first SITES_AHEAD bytes of each
   table were made present at the start. */
static bool
make_present(const struct mt_growing *table, unsigned chunk, uint64_t from, uint64_t step)
{
    uint64_t start = (uint64_t)growing_start(table, chunk) * table->entry;

    if (table->offset == 0)
        return true;
    if (!mt_present_later())
        return from + step <= SITES_AHEAD;
    return mt_make_present(chunk_of(table, chunk) + (from - start), step);
}

static bool
grow(struct mt_growing *table, uint64_t present)
{
    unsigned chunk = growing_chunk(table, (uint32_t)(present / table->entry));
    uint64_t step = step_from(table, chunk, present);

    if (chunk >= GROWING_CHUNKS || mt_sandboxed || !growing_spend(step, table->share))
        return false;
    if (map_chunk(table, chunk) && make_present(table, chunk, present, step)) {
        /* If another thread has done the same meanwhile, no harm is done. */
        if (__atomic_compare_exchange_n(&table->present, &present, present + step, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return true;
        growing_unspend(step);
        return true;
    }
    growing_unspend(step);
    return false;
}

bool
growing_has(struct mt_growing *table, uint32_t count)
{
    uint64_t needed = (uint64_t)count * table->entry;
    uint64_t present = __atomic_load_n(&table->present, __ATOMIC_ACQUIRE);
    int saved_errno = errno;
    bool there = count <= table->limit;

    while (there && present < needed) {
        there = grow(table, present);
        present = __atomic_load_n(&table->present, __ATOMIC_ACQUIRE);
    }
    errno = saved_errno;
    return there;
}

void
growing_forget(struct mt_growing *table)
{
    memset(table->chunks, 0, sizeof table->chunks);
    table->present = 0;
}

void
growing_unmap(struct mt_growing *table)
{
    for (unsigned chunk = 0; chunk < GROWING_CHUNKS; chunk++)
        if (table->chunks[chunk] != NULL)
            syscall(SYS_munmap, table->chunks[chunk], chunk_bytes(table, chunk));
    growing_forget(table);
}

void
growing_unmap_head(void *page)
{
    syscall(SYS_munmap, page, (size_t)SITES_HEAD_SIZE);
}

void
growing_copy(const struct mt_growing *to, const struct mt_growing *from, uint32_t count)
{
    for (unsigned chunk = 0; count > 0; chunk++) {
        uint32_t entries = (uint32_t)(chunk_bytes(to, chunk) / to->entry);

        if (entries > count)
            entries = count;
        memcpy(to->chunks[chunk], from->chunks[chunk], (size_t)entries * to->entry);
        count -= entries;
    }
}

/* If there is no memory, the parent's pages are unmapped all the same: its figures must
   not change. */
static void
make_private(unsigned char *chunk, size_t size, size_t used)
{
    unsigned char *copy = map_private(size);

    if (copy != NULL) {
        memcpy(copy, chunk, used);
        copy = (void *)syscall(SYS_mremap, copy, size, size,
                               MREMAP_MAYMOVE | MREMAP_FIXED, chunk);
    }
    if (copy != chunk)
        syscall(SYS_munmap, chunk, size);
}

void
growing_make_private(const struct mt_growing *table)
{
    uint64_t used = table->present;

    for (unsigned chunk = 0; chunk < GROWING_CHUNKS && table->chunks[chunk] != NULL;
         chunk++) {
        size_t size = chunk_bytes(table, chunk);
        size_t part = used < size ? (size_t)used : size;

        make_private(table->chunks[chunk], size, part);
        used -= part;
    }
}

void
growing_make_head_private(void)
{
    if (head_page != NULL)
        make_private(head_page, SITES_HEAD_SIZE, SITES_HEAD_SIZE);
}
