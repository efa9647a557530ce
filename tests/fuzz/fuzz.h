/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For the fuzz targets: they get an input as a file or as a string. */
#ifndef MEMTOP_TESTS_FUZZ_H
#define MEMTOP_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                               \
    do {                                                                                 \
        if (!(condition))                                                                \
            abort();                                                                     \
    } while (0)

/* The input as a file without a name, positioned at its start.  The caller closes it. */
static inline int
fuzz_descriptor(const uint8_t *data, size_t size)
{
    int fd = memfd_create("memtop-fuzz", MFD_CLOEXEC);

    REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    REQUIRE(lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

/* The input as a string: up to the first NUL.  The caller frees it. */
static inline char *
fuzz_string(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    REQUIRE(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

#endif
