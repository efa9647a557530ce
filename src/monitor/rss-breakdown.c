/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Divides the RSS into its parts.  Counters know bytes of blocks, the kernel knows pages
 * of mappings; neither knows the other.  With glibc a block lies in one of its heaps or
 * in a mapping of its own, and both sums are known (mapped_bytes).  What is resident of
 * the heaps beyond their blocks was freed and is held; what is resident of anonymous
 * mappings beyond theirs is not malloc's.  Other allocators use anonymous mappings like
 * everything else, so what they hold cannot be told from what the program maps.
 *
 * A block's pages may not be resident.  Then less is resident than the blocks' bytes; the
 * difference is subtracted from the requested bytes, because slack is small and mostly
 * between blocks.
 */
#include "config.h"

#include "monitor/rss-breakdown.h"

#include <string.h>

#include "base/i18n.h"
#include "monitor/session.h"
#include "base/figures.h"

/* Size of glibc's header of a block in a heap, which malloc_usable_size does not
   count. */
#define HEADER_BYTES 8

static uint64_t
less(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool
is_glibc(const struct identity *identity)
{
    const char *slash = strrchr(identity->allocator, '/');
    const char *name = slash != NULL ? slash + 1 : identity->allocator;

    return strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-2", 6) == 0;
}

/* The live blocks in a part of the memory: what they occupy and what is resident. */
struct rss_part {
    uint64_t occupied;
    uint64_t resident;
    uint64_t size;       /* of its address space */
};

static uint64_t
resident_blocks(const struct rss_part *part)
{
    return less(part->occupied, part->resident);
}

/* The number of these bytes that may belong to something else: all pages that are not
   resident could be the blocks'. */
static uint64_t
unsure_blocks(const struct rss_part *part)
{
    uint64_t absent = subtract_floor(part->size, part->resident);

    return resident_blocks(part)
           - less(resident_blocks(part), subtract_floor(part->occupied, absent));
}

static void
divide_blocks(const struct rss_part *heap, const struct rss_part *rest,
              const struct process *process, struct rss_breakdown *out)
{
    uint64_t occupied = heap->occupied + rest->occupied;
    uint64_t live = resident_blocks(heap) + resident_blocks(rest);
    uint64_t slack = subtract_floor(occupied, process->now.live_bytes);

    out->bytes[BAND_SLACK] = less(slack, live);
    out->bytes[BAND_REQUESTED] = live - out->bytes[BAND_SLACK];
    if (process->identity.accounting != ACCOUNTING_REQUESTED)
        out->bytes[BAND_SLACK] = BAND_UNKNOWN; /* and not 0: sizes are usable sizes */
    out->absent = occupied - live;
    out->unsure = unsure_blocks(heap) + unsure_blocks(rest);
    out->bytes[BAND_MMAP] = rest->resident - resident_blocks(rest);
}

/* The library's shadow of the heap lies in anonymous mappings that nothing tells from the
   program's.  A page of it is touched as soon as one block of the heap beside it is, so
   it is about as large as the heap's resident part makes it. */
static void
divide_shadow(const struct process *process, uint64_t heap_resident,
              struct rss_breakdown *out)
{
    uint64_t shadow = less(heap_resident / SEGMENT_SHADOW_UNIT, out->bytes[BAND_MMAP]);

    if ((process->identity.flags & SEGMENT_FLAG_SHADOW) == 0)
        return;
    out->bytes[BAND_MMAP] -= shadow;
    out->bytes[BAND_MEMTOP] += shadow;
}

/* For glibc, when blocks with their own mappings are counted. */
static void
divide_glibc(const struct resident *resident, const struct process *process,
             struct rss_breakdown *out)
{
    const struct snapshot *now = &process->now;
    uint64_t headers = HEADER_BYTES * less(now->live_blocks, UINT64_MAX / 64);
    struct rss_part heap = {now->usable_bytes - now->mapped_bytes + headers,
                            resident->rss[REGION_HEAP], resident->size[REGION_HEAP]};
    struct rss_part rest = {now->mapped_bytes, resident->rss[REGION_ANON],
                            resident->size[REGION_ANON]};

    divide_blocks(&heap, &rest, process, out);
    out->bytes[BAND_HELD] = heap.resident - resident_blocks(&heap);
    out->bytes[BAND_HEAP] = 0;
    divide_shadow(process, heap.resident, out);
}

/* For an allocator whose mappings cannot be recognised. */
static void
divide_unknown(const struct resident *resident, const struct process *process,
               struct rss_breakdown *out)
{
    struct rss_part none = {0};
    struct rss_part all = {process->now.usable_bytes,
                           resident->rss[REGION_HEAP] + resident->rss[REGION_ANON],
                           resident->size[REGION_HEAP] + resident->size[REGION_ANON]};

    divide_blocks(&none, &all, process, out);
    out->bytes[BAND_HEAP] = 0;
    out->unsure = 0; /* with_reserve covers the uncertainty */
    out->with_reserve = true;
}

void
rss_divide(const struct resident *resident, const struct process *process,
             struct rss_breakdown *out)
{
    *out = (struct rss_breakdown){
        .known = true,
        .run_ns = process->run_ns,
        .rss = resident->total,
        .pss = resident->pss,
        .swap = resident->swap,
        .mappings = resident->mappings,
    };
    out->bytes[BAND_REQUESTED] = BAND_UNKNOWN;
    out->bytes[BAND_SLACK] = BAND_UNKNOWN;
    out->bytes[BAND_HELD] = BAND_UNKNOWN;
    out->bytes[BAND_HEAP] = resident->rss[REGION_HEAP];
    out->bytes[BAND_MMAP] = resident->rss[REGION_ANON];
    out->bytes[BAND_FILES] = resident->rss[REGION_FILE];
    out->bytes[BAND_STACKS] = resident->rss[REGION_STACK];
    out->bytes[BAND_PROGRAM] = resident->rss[REGION_PROGRAM];
    out->bytes[BAND_MEMTOP] = resident->rss[REGION_MEMTOP];
    out->bytes[BAND_OTHER] = resident->rss[REGION_OTHER];
    if (!process->measured)
        return;
    if (is_glibc(&process->identity)
        && process->identity.accounting == ACCOUNTING_REQUESTED)
        divide_glibc(resident, process, out);
    else
        divide_unknown(resident, process, out);
}

const char *
band_word(enum band band)
{
    static const char *const words[] = {
#define X(id, word, json, meaning) word,
        BANDS(X)
#undef X
    };

    return _(words[band]);
}

const char *
band_meaning(const struct rss_breakdown *breakdown, enum band band)
{
    static const char *const meanings[] = {
#define X(id, word, json, meaning) meaning,
        BANDS(X)
#undef X
    };
    bool divided = breakdown->bytes[BAND_REQUESTED] != BAND_UNKNOWN;

    if (band == BAND_MMAP && !divided)
        return _("anonymous mappings");
    if (band == BAND_MMAP && breakdown->with_reserve)
        return _("anonymous or kept by malloc");
    if (band == BAND_REQUESTED && divided && breakdown->bytes[BAND_SLACK] == BAND_UNKNOWN)
        return _("live blocks, usable sizes");
    return _(meanings[band]);
}

const char *
band_json(enum band band)
{
    static const char *const names[] = {
#define X(id, word, json, meaning) json,
        BANDS(X)
#undef X
    };

    return names[band];
}
