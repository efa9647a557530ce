/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opens, checks and visits segments.  Sizes and offsets must be exactly those of this
 * version, so that nothing read later can lead outside.
 */
#include "config.h"

#include "segment/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- surviving a truncated file ---- */

static sigjmp_buf visit_escape;

static void
on_sigbus(int signal_number)
{
    (void)signal_number;
    siglongjmp(visit_escape, 1);
}

int
mapping_visit(void (*body)(void *context, void *out), void *context, void *out)
{
    struct sigaction action = {.sa_handler = on_sigbus, .sa_flags = SA_NODEFER};
    struct sigaction before;
    int result = 0;

    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &before);
    if (sigsetjmp(visit_escape, 0) == 0)
        body(context, out);
    else
        result = -EMSGSIZE;
    sigaction(SIGBUS, &before, NULL);
    return result;
}

/* ---- opening ---- */

static int
check_header(const struct segment_header *header)
{
    if (header->magic != SEGMENT_MAGIC || header->byte_order != SEGMENT_BYTE_ORDER)
        return -EPROTO;
    if (header->version != SEGMENT_VERSION)
        return -EPROTONOSUPPORT;
    if (!ring_capacity_valid(header->ring_capacity)
        || header->total_size
               != segment_size(header->ring_capacity, header->sites_offset != 0)
        || (header->sites_offset != 0
            && header->sites_offset != segment_rings_end(header->ring_capacity))
        || header->header_size != sizeof *header
        || header->control_offset != CONTROL_OFFSET
        || header->process_offset != PROCESS_OFFSET
        || header->directory_offset != DIRECTORY_OFFSET
        || header->recorder_offset != RECORDER_OFFSET
        || header->shards_offset != SHARDS_OFFSET || header->shard_size != SHARD_SIZE
        || header->shard_count != SHARD_COUNT
        || header->recorder_levels != RECORDER_LEVELS
        || header->recorder_slots != RECORDER_SLOTS
        || header->recorder_slot_ns != RECORDER_SLOT_NS)
        return -EPROTO;
    return 0;
}

static int
check_file(int fd, uid_t owner_real, uid_t owner_effective, struct mapping *mapping)
{
    struct segment_header header;
    struct stat st;
    ssize_t got;

    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EPROTO;
    if (st.st_uid != owner_real && st.st_uid != owner_effective)
        return -EPERM;
    got = pread(fd, &header, sizeof header, 0);
    if (got < 0)
        return -errno;
    if (got < (ssize_t)sizeof header)
        return -EMSGSIZE;
    int error = check_header(&header);
    if (error < 0)
        return error;
    mapping->ring_capacity = header.ring_capacity;
    mapping->sites_offset = header.sites_offset;
    return st.st_size == (off_t)header.total_size ? 0 : -EMSGSIZE;
}

/* Maps the control pages separately, because only they are written to. */
static int
map_control(int fd, struct mapping *mapping)
{
    void *control = mmap(NULL, CONTROL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                         CONTROL_OFFSET);

    if (control == MAP_FAILED)
        return -errno;
    mapping->control = control;
    return 0;
}

static int
map_file(int fd, bool with_control, struct mapping *mapping)
{
    void *base;

    mapping->size = segment_size(mapping->ring_capacity, mapping->sites_offset != 0);
    base = mmap(NULL, mapping->size, PROT_READ, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
        return -errno;
    mapping->base = base;
    if (with_control && map_control(fd, mapping) < 0) {
        int error = -errno;
        mapping_close(mapping);
        return error;
    }
    return 0;
}

int
mapping_open(const char *path, uid_t owner_real, uid_t owner_effective,
             bool with_control, struct mapping *out)
{
    int access = with_control ? O_RDWR : O_RDONLY;
    int fd = open(path, access | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int error;

    if (fd < 0)
        return -errno;
    *out = (struct mapping){.base = NULL};
    error = check_file(fd, owner_real, owner_effective, out);
    if (error == 0)
        error = map_file(fd, with_control, out);
    close(fd);
    return error;
}

void
mapping_close(struct mapping *mapping)
{
    if (mapping->control != NULL)
        munmap(mapping->control, CONTROL_SIZE);
    if (mapping->base != NULL)
        munmap((void *)mapping->base, mapping->size);
    *mapping = (struct mapping){.base = NULL};
}
