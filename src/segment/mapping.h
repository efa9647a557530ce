/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A segment mapped by memtop.  It is checked once when it is opened, and visited under a
 * SIGBUS handler, because its owner may truncate the file at any time.  Used only by
 * reader*.c, drain.c and control.c.
 */
#ifndef MEMTOP_MAPPING_H
#define MEMTOP_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "segment/layout.h"

struct mapping {
    const unsigned char *base;
    size_t size;
    uint64_t ring_capacity;            /* as checked; 0 without rings */
    uint64_t sites_offset;             /* as checked; 0 without sites */
    struct segment_control *control;   /* writable, NULL unless asked for */
};

/* See reader_open() for the checks and the errors. */
int mapping_open(const char *path, uid_t owner_real, uid_t owner_effective,
                 bool with_control, struct mapping *out);
void mapping_close(struct mapping *mapping);

/* Runs body(context, out), which touches a mapping.  Returns 0, or -EMSGSIZE if the file
   ended before the mapping did. */
int mapping_visit(void (*body)(void *context, void *out), void *context, void *out);

/* ---- the parts ---- */

static inline const struct segment_header *
mapping_header(const struct mapping *mapping)
{
    return (const void *)mapping->base;
}

static inline const struct segment_process *
mapping_process(const struct mapping *mapping)
{
    return (const void *)(mapping->base + PROCESS_OFFSET);
}

static inline const struct shard *
mapping_shard(const struct mapping *mapping, unsigned index)
{
    return (const void *)(mapping->base + SHARDS_OFFSET + (size_t)index * SHARD_SIZE);
}

static inline const struct recorder_slot *
mapping_level(const struct mapping *mapping, unsigned level)
{
    return (const void *)(mapping->base + RECORDER_OFFSET
                          + (size_t)level * RECORDER_LEVEL_SIZE);
}

/* Number of slots of a level that are present.  Reading others would allocate pages. */
static inline unsigned
mapping_reach(const struct mapping *mapping, unsigned level)
{
    uint32_t reach = __atomic_load_n(&mapping_process(mapping)->recorder_reach[level],
                                     __ATOMIC_ACQUIRE);

    return reach < RECORDER_SLOTS ? reach : RECORDER_SLOTS;
}

static inline const struct ring *
mapping_ring(const struct mapping *mapping, unsigned index)
{
    return (const struct ring *)(const void *)(mapping->base + RINGS_OFFSET) + index;
}

static inline const struct event *
mapping_events(const struct mapping *mapping, unsigned index)
{
    return (const struct event *)(const void *)(mapping->base + EVENTS_OFFSET)
           + (size_t)index * mapping->ring_capacity;
}

static inline uint32_t
mapping_load32(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* State of a shard.  Reading the shard itself if it is unused or refused would allocate
   pages for it. */
static inline enum shard_state
mapping_shard_state(const struct mapping *mapping, unsigned index)
{
    const uint32_t *directory = (const void *)(mapping->base + DIRECTORY_OFFSET);

    return (enum shard_state)mapping_load32(&directory[index]);
}

static inline bool
mapping_shard_counts(const struct mapping *mapping, unsigned index)
{
    enum shard_state state = mapping_shard_state(mapping, index);

    return state == SHARD_FREE || state == SHARD_OWNED;
}

/* Number of shards to look at. */
static inline unsigned
mapping_shards_used(const struct mapping *mapping)
{
    uint32_t used = mapping_load32(&mapping_process(mapping)->shards_used);

    return used < SHARD_COUNT ? used : SHARD_COUNT;
}

#endif
