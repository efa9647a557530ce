/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libFuzzer driver of the segment reader: the input is laid over a segment as
 * pieces {offset, length, bytes}, and everything is read.
 *
 * Without libFuzzer (FUZZ_MAIN) it reads the files named as arguments, or makes
 * up pieces at random, so that it is a test as well.
 */
#include "config.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "segment/names.h"
#include "segment/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];
static unsigned char *base;

/* What may be written over: up to the end of shard 1, so that no input makes
   the whole 40 MiB exist. */
#define WINDOW (SHARDS_OFFSET + 2 * SHARD_SIZE)

static void
remove_segment(void)
{
    unlink(path);
}

static void
make_segment(void)
{
    int fd;

    snprintf(path, sizeof path, "/dev/shm/memtop-fuzz-XXXXXX");
    fd = mkstemp(path);
    if (fd < 0 || ftruncate(fd, (off_t)SEGMENT_SIZE) < 0)
        abort();
    base = mmap(NULL, SEGMENT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (base == MAP_FAILED)
        abort();
    atexit(remove_segment);
}

static void
reset_segment(void)
{
    struct segment_header *header = (void *)base;
    struct segment_process *process = (void *)(base + PROCESS_OFFSET);
    uint32_t *directory = (void *)(base + DIRECTORY_OFFSET);

    memset(base, 0, WINDOW);
    segment_header_init(header, 0);
    header->state = SEGMENT_ACTIVE;
    header->pid = 1;
    process->shards_used = 2;
    process->overview_ns = OVERVIEW_NS_MIN;
    directory[0] = directory[1] = SHARD_OWNED;
}

static void
overlay(const uint8_t *data, size_t size)
{
    while (size > 5) {
        uint32_t offset;
        size_t length = data[4];

        memcpy(&offset, data, 4);
        offset %= WINDOW;
        data += 5;
        size -= 5;
        if (length > size)
            length = size;
        if (length > WINDOW - offset)
            length = WINDOW - offset;
        memcpy(base + offset, data, length);
        data += length;
        size -= length;
    }
}

/* What any caller may rely on. */
static void
read_everything(struct reader *reader)
{
    static struct histogram histogram;
    static struct identity identity;
    struct recorded *recorded;
    struct snapshot snapshot;
    size_t count;

    if (reader_identity(reader, &identity) == 0
        && (identity.pid <= 0 || identity.args[identity.args_size] != '\0'
            || strnlen(identity.program, sizeof identity.program) == sizeof identity.program))
        abort();
    if (reader_snapshot(reader, &snapshot) == 0 && snapshot.peak_bytes < snapshot.live_bytes)
        abort();
    reader_histogram(reader, &histogram);
    if (reader_recorded(reader, &recorded, &count) != 0)
        return;
    for (size_t i = 0; i < count; i++)
        if (recorded[i].begin_ns >= recorded[i].end_ns
            || (i > 0 && recorded[i].begin_ns < recorded[i - 1].end_ns))
            abort();
    free(recorded);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reader *reader;

    if (base == NULL)
        make_segment();
    reset_segment();
    overlay(data, size);
    if (reader_open(path, getuid(), geteuid(), &reader) == 0) {
        read_everything(reader);
        reader_close(reader);
    }
    return 0;
}

#ifdef FUZZ_MAIN
static void
read_file(const char *name)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(name, "rb");

    if (file == NULL)
        abort();
    LLVMFuzzerTestOneInput(data, fread(data, 1, sizeof data, file));
    fclose(file);
}

static void
made_up(unsigned rounds)
{
    static uint8_t data[4096];
    uint64_t seed = 88172645463325252u;

    while (rounds-- > 0) {
        for (size_t i = 0; i < sizeof data; i++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            data[i] = (uint8_t)(seed >> 56);
        }
        LLVMFuzzerTestOneInput(data, sizeof data);
    }
}

int
main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        read_file(argv[i]);
    if (argc == 1)
        made_up(500);
    return 0;
}
#endif
