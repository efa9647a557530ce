/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file for the test program.  Include in one file of a test program, and pass
   file_make() and file_remove() to cmocka as set-up and tear-down of the group. */
#ifndef MEMTOP_SCRATCH_FILE_H
#define MEMTOP_SCRATCH_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/memtop-test-XXXXXX";

static int
file_make(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 || close(fd) != 0;
}

static int
file_remove(void **state)
{
    (void)state;
    return unlink(path);
}

/* Makes these bytes the file's only contents. */
static inline void
file_holds(const void *bytes, size_t size)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

#endif
