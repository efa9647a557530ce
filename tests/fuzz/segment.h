/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For the targets that read segments: writes the input over a valid segment, in pieces
 * {offset (4 bytes), length (1), bytes}.  Only one file of a target may include this.
 */
#ifndef MEMTOP_TESTS_FUZZ_SEGMENT_H
#define MEMTOP_TESTS_FUZZ_SEGMENT_H

#include <stdbool.h>
#include <sys/types.h>

#include "fuzz.h"
#include "segment/names.h"

/* Whether the segment has tables of sites.  A target that reads them defines this before
   it includes this header. */
#ifndef SEGMENT_SITES
#define SEGMENT_SITES false
#endif

static char segment_path[64];
static unsigned char *segment_base;

static inline void
segment_remove(void)
{
    unlink(segment_path);
}

static inline void
segment_make(uint64_t capacity)
{
    size_t size = segment_size(capacity, SEGMENT_SITES);
    int fd;

    strcpy(segment_path, "/dev/shm/memtop-fuzz-XXXXXX");
    fd = mkstemp(segment_path);
    REQUIRE(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
    segment_base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    REQUIRE(segment_base != MAP_FAILED);
    atexit(segment_remove);
}

/* The parts of the segment that an input can overwrite: the head with two shards, two
   rings with their events, and the beginnings of the sites' tables.  Not the whole
   segment, so that no input makes many MiB exist. */
#define SEGMENT_WINDOWS 7
struct segment_window {
    uint64_t offset, size;
};

static inline void
segment_windows(uint64_t capacity, struct segment_window windows[SEGMENT_WINDOWS])
{
    uint64_t sites = segment_rings_end(capacity);

    windows[0] = (struct segment_window){0, SHARDS_OFFSET + 2 * SHARD_SIZE};
    windows[1] = (struct segment_window){RINGS_OFFSET, capacity > 0 ? 2 * 64 : 0};
    windows[2] = (struct segment_window){EVENTS_OFFSET, 2 * capacity * 32};
    windows[3] =
        (struct segment_window){sites, SEGMENT_SITES ? SITES_MODULES_AT + 2048 : 0};
    windows[4] = (struct segment_window){sites + SITES_POOL_AT, SEGMENT_SITES ? 4096 : 0};
    windows[5] =
        (struct segment_window){sites + SITES_RECORDS_AT, SEGMENT_SITES ? 4096 : 0};
    windows[6] =
        (struct segment_window){sites + SITES_BLOCKS_AT, SEGMENT_SITES ? 4096 : 0};
}

/* The place for an offset of the input; *left is the room from there to the end of its
   part. */
static inline unsigned char *
segment_at(uint64_t capacity, uint64_t offset, size_t *left)
{
    struct segment_window windows[SEGMENT_WINDOWS];
    uint64_t all = 0;

    segment_windows(capacity, windows);
    for (int i = 0; i < SEGMENT_WINDOWS; i++)
        all += windows[i].size;
    offset %= all;
    for (int i = 0; i < SEGMENT_WINDOWS; i++) {
        if (offset < windows[i].size) {
            *left = windows[i].size - offset;
            return segment_base + windows[i].offset + offset;
        }
        offset -= windows[i].size;
    }
    abort();
}

static inline void
segment_reset(uint64_t capacity)
{
    struct segment_header *header = (void *)segment_base;
    struct segment_process *process = (void *)(segment_base + PROCESS_OFFSET);
    uint32_t *directory = (void *)(segment_base + DIRECTORY_OFFSET);
    struct segment_window windows[SEGMENT_WINDOWS];

    segment_windows(capacity, windows);
    for (int i = 0; i < SEGMENT_WINDOWS; i++)
        if (windows[i].size > 0)
            memset(segment_base + windows[i].offset, 0, windows[i].size);
    segment_header_init(header, capacity, SEGMENT_SITES);
    header->state = SEGMENT_ACTIVE;
    header->accounting = ACCOUNTING_REQUESTED;
    header->pid = 1;
    process->shards_used = 2;
    process->overview_ns = OVERVIEW_NS_MIN;
    directory[0] = directory[1] = SHARD_OWNED;
}

/* Makes a segment whose rings hold capacity events, and writes the input over it. */
static inline void
segment_of(uint64_t capacity, const uint8_t *data, size_t size)
{
    if (segment_base == NULL)
        segment_make(capacity);
    segment_reset(capacity);
    while (size > 5) {
        size_t length = data[4], left;
        unsigned char *place;
        uint32_t offset;

        memcpy(&offset, data, 4);
        place = segment_at(capacity, offset, &left);
        data += 5;
        size -= 5;
        if (length > size)
            length = size;
        if (length > left)
            length = left;
        memcpy(place, data, length);
        data += length;
        size -= length;
    }
}

#endif
