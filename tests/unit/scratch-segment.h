/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A segment for the test in a directory under /dev/shm, open for writing.  Include in
   one file of a test program. */
#ifndef MEMTOP_SCRATCH_SEGMENT_H
#define MEMTOP_SCRATCH_SEGMENT_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "segment/layout.h"
#include "segment/names.h"

static char scratch_directory[64];
static char scratch_path[128];
static unsigned char *scratch;
static size_t scratch_size;

static inline struct segment_header *
scratch_header(void)
{
    return (void *)scratch;
}

static inline struct segment_process *
scratch_process(void)
{
    return (void *)(scratch + PROCESS_OFFSET);
}

static inline uint32_t *
scratch_states(void)
{
    return (void *)(scratch + DIRECTORY_OFFSET);
}

static inline struct shard *
scratch_shard(unsigned index)
{
    return (void *)(scratch + SHARDS_OFFSET + (size_t)index * SHARD_SIZE);
}

/* Opens a valid, empty segment with shards 0 and 1, rings of capacity events, and
   optionally sites. */
static inline void
scratch_open_with(uint64_t capacity, bool sites)
{
    uint32_t generation;
    int directory, fd;

    strcpy(scratch_directory, "/dev/shm/memtop-test-XXXXXX");
    assert_non_null(mkdtemp(scratch_directory));
    directory = open(scratch_directory, O_RDONLY | O_DIRECTORY);
    fd = segment_create(directory, getpid(), 2, capacity, sites, &generation);
    assert_true(fd >= 0);
    snprintf(scratch_path, sizeof scratch_path, "%s/%d.0", scratch_directory,
             (int)getpid());
    scratch_size = segment_size(capacity, sites);
    scratch = mmap(NULL, scratch_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(MAP_FAILED, scratch);
    segment_header_init(scratch_header(), capacity, sites);
    scratch_header()->pid = (uint32_t)getpid();
    scratch_header()->state = SEGMENT_ACTIVE;
    scratch_header()->accounting = ACCOUNTING_REQUESTED;
    scratch_process()->shards_used = 2;
    scratch_states()[0] = SHARD_FREE;
    scratch_states()[1] = SHARD_OWNED;
    close(fd);
    close(directory);
}

static inline void
scratch_open_with_rings(uint64_t capacity)
{
    scratch_open_with(capacity, false);
}

static inline void
scratch_open(void)
{
    scratch_open_with(0, false);
}

static inline void
scratch_close(void)
{
    munmap(scratch, scratch_size);
    unlink(scratch_path);
    rmdir(scratch_directory);
}

#endif
