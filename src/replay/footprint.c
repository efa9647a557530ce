/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Now: the Rss of the private mappings without a file in /proc/self/smaps.  Peak: VmHWM,
 * which also counts memory of files; that only grows, so its final amount is subtracted.
 *
 * /proc is read with input.h into memory mapped here, because stdio would allocate.
 */
#include "config.h"

#include "replay/footprint.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files/input.h"
#include "base/figures.h"

static struct input input;

static bool
open_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;
    input_init(&input, fd);
    return true;
}

/* Reads the next line as a string, cut to what is needed. */
static bool
next_line(char line[256])
{
    const char *text;
    size_t length;

    if (input_line(&input, &text, &length) <= 0)
        return false;
    length = length < 255 ? length : 255;
    memcpy(line, text, length);
    line[length] = '\0';
    return true;
}

/* Takes a field such as "Rss: 12 kB". */
static bool
read_field(const char *line, const char *name, uint64_t *bytes)
{
    size_t length = strlen(name);
    unsigned long kib;

    if (strncmp(line, name, length) != 0 || sscanf(line + length, ": %lu", &kib) != 1)
        return false;
    *bytes = (uint64_t)kib * 1024;
    return true;
}

/* Takes the head of a mapping, "55d0-55e0 rw-p 00000000 00:00 0 [heap]"; anonymous:
   private, and without a file's inode. */
static bool
begins_mapping(const char *line, bool *anonymous)
{
    unsigned long start, end, inode;
    char permissions[5];

    if (sscanf(line, "%lx-%lx %4s %*x %*x:%*x %lu", &start, &end, permissions, &inode)
        != 4)
        return false;
    *anonymous = permissions[3] == 'p' && inode == 0;
    return true;
}

static uint64_t
exact_bytes(void)
{
    char line[256];
    bool anonymous = false, any = false;
    uint64_t sum = 0, bytes;

    if (!open_file("/proc/self/smaps"))
        return FOOTPRINT_UNKNOWN;
    while (next_line(line)) {
        if (read_field(line, "Rss", &bytes))
            sum += anonymous ? bytes : 0;
        else if (begins_mapping(line, &anonymous))
            any = true;
    }
    close(input.fd);
    return any ? sum : FOOTPRINT_UNKNOWN;
}

struct footprint_counts {
    uint64_t peak, anonymous, file, shared;
};

static bool
read_counts(struct footprint_counts *counts)
{
    char line[256];
    unsigned found = 0;

    if (!open_file("/proc/self/status"))
        return false;
    while (next_line(line)) {
        found += read_field(line, "VmHWM", &counts->peak);
        found += read_field(line, "RssAnon", &counts->anonymous);
        found += read_field(line, "RssFile", &counts->file);
        found += read_field(line, "RssShmem", &counts->shared);
    }
    close(input.fd);
    return found == 4;
}

void
footprint_begin(struct footprint *footprint)
{
    struct footprint_counts counts;
    int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

    /* If this fails the peak is that of the whole process; start-up is small. */
    if (fd >= 0) {
        if (write(fd, "5", 1) != 1)
            (void)0;
        close(fd);
    }
    /* Called twice, because the first call makes the pages of input resident. */
    exact_bytes();
    footprint->exact = exact_bytes();
    footprint->counted = read_counts(&counts) ? counts.anonymous : FOOTPRINT_UNKNOWN;
}

uint64_t
footprint_now(const struct footprint *footprint, uint64_t own_bytes)
{
    uint64_t bytes = exact_bytes();

    if (bytes == FOOTPRINT_UNKNOWN || footprint->exact == FOOTPRINT_UNKNOWN)
        return FOOTPRINT_UNKNOWN;
    return subtract_floor(bytes, footprint->exact + own_bytes);
}

uint64_t
footprint_peak(const struct footprint *footprint, uint64_t own_bytes)
{
    struct footprint_counts counts;

    if (!read_counts(&counts) || footprint->counted == FOOTPRINT_UNKNOWN)
        return FOOTPRINT_UNKNOWN;
    return subtract_floor(counts.peak,
                          counts.file + counts.shared + footprint->counted + own_bytes);
}
