/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * To be preloaded under valgrind, which refuses mremap() with an old size of 0: that maps
 * the same part of a file once more.  Here it is done by the file's name, so that the
 * library can map shards for more than three threads.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What a line of /proc/self/maps says, as "START-END MODE OFFSET DEVICE INODE PATH". */
struct part {
    uintptr_t start, end;
    off_t offset;
    const char *path;
};

static struct part
part_of(const char *line)
{
    char *rest;
    struct part part = {.start = strtoul(line, &rest, 16)};

    part.end = strtoul(rest + 1, &rest, 16);
    part.offset = (off_t)strtoul(rest + strlen(" rw-s "), NULL, 16);
    part.path = strchr(line, '/');
    return part;
}

/* Finds where an address is mapped; text gets the file's contents.  Allocates nothing. */
static bool
find(uintptr_t address, char *text, size_t size, struct part *found)
{
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t filled = 0;
    ssize_t got;

    while ((got = read(fd, text + filled, size - 1 - filled)) > 0)
        filled += (size_t)got;
    close(fd);
    text[filled] = '\0';
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        *found = part_of(line);
        if (address >= found->start && address < found->end)
            return found->path != NULL;
    }
    return false;
}

static long
map_again(uintptr_t address, size_t size)
{
    static __thread char text[65536];
    struct part part;
    void *mapped;
    int fd;

    if (!find(address, text, sizeof text, &part))
        return -1;
    fd = open(part.path, O_RDWR | O_CLOEXEC);
    mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                  part.offset + (off_t)(address - part.start));
    close(fd);
    return (long)mapped;
}

long
syscall(long number, ...)
{
    static long (*real)(long, ...);
    long words[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        words[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_mremap && words[1] == 0)
        return map_again((uintptr_t)words[0], (size_t)words[2]);
    if (real == NULL)
        real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
