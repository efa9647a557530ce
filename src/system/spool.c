/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file: [0, half) has the first bytes, [half, 2 half) is a ring of the latest.  The
 * ring holds what came after the first half; once it has wrapped around, the bytes it
 * overwrote are the gap.
 */
#include "config.h"

#include "system/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct spool {
    int file; /* -1: no file, everything is dropped */
    uint64_t half;
    uint64_t total; /* bytes appended */
    uint64_t lost;  /* at the end, not written because there is no file */
};

/* Unlinked at once, so that nothing is left behind however memtop ends. */
static int
open_temporary(void)
{
    const char *directory = getenv("TMPDIR");
    char name[] = "/tmp/memtop-output-XXXXXX";
    int file = -1;

    if (directory != NULL && *directory)
        file = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0)
        file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) {
        file = mkostemp(name, O_CLOEXEC);
        if (file >= 0)
            unlink(name);
    }
    return file;
}

struct spool *
spool_new(uint64_t room)
{
    struct spool *spool = calloc(1, sizeof *spool);

    if (spool == NULL)
        return NULL;
    spool->half = room / 2;
    spool->file = open_temporary();
    return spool;
}

void
spool_free(struct spool *spool)
{
    if (spool == NULL)
        return;
    if (spool->file >= 0)
        close(spool->file);
    free(spool);
}

/* The offset of byte number `number`, and in *room how many may follow it there. */
static uint64_t
place(const struct spool *spool, uint64_t number, uint64_t *room)
{
    uint64_t offset;

    if (number < spool->half) {
        *room = spool->half - number;
        return number;
    }
    offset = (number - spool->half) % spool->half;
    *room = spool->half - offset;
    return spool->half + offset;
}

void
spool_append(struct spool *spool, const char *bytes, size_t count)
{
    while (count > 0 && spool->file >= 0 && spool->lost == 0) {
        uint64_t room, offset = place(spool, spool->total, &room);
        size_t chunk = count < room ? count : (size_t)room;
        ssize_t written = pwrite(spool->file, bytes, chunk, (off_t)offset);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            break;
        spool->total += (uint64_t)written;
        bytes += written;
        count -= (size_t)written;
    }
    /* Once something is missing nothing may follow, because the order matters. */
    spool->lost += count;
}

/* Reads bytes number from to `to` - 1. */
static int
read_range(struct spool *spool, uint64_t from, uint64_t to,
           const struct spool_reader *reader)
{
    char buffer[65536];

    while (from < to) {
        uint64_t room, offset = place(spool, from, &room);
        ssize_t got;
        int result;

        if (room > to - from)
            room = to - from;
        if (room > sizeof buffer)
            room = sizeof buffer;
        got = pread(spool->file, buffer, (size_t)room, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : -EIO;
        result = reader->write(reader->context, buffer, (size_t)got);
        if (result)
            return result;
        from += (uint64_t)got;
    }
    return 0;
}

int
spool_read(struct spool *spool, const struct spool_reader *reader)
{
    uint64_t room = 2 * spool->half;
    uint64_t head = spool->total < spool->half ? spool->total : spool->half;
    uint64_t tail = spool->total > room ? spool->total - spool->half : head;
    int result = read_range(spool, 0, head, reader);

    if (result == 0 && tail > head)
        result = reader->gap(reader->context, tail - head);
    if (result == 0)
        result = read_range(spool, tail, spool->total, reader);
    if (result == 0 && spool->lost > 0)
        result = reader->gap(reader->context, spool->lost);
    return result;
}
