/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file for recording.  It holds complete units only, and keeps the first error. */
#ifndef MEMTOP_OUTFILE_H
#define MEMTOP_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outfile {
    int fd;
    int error;        /* -errno of the first failure, after which nothing is written */
    uint64_t written; /* bytes in complete units */
};

/* Creates path.  An existing file is -EEXIST, or emptied if replace; a device or pipe is
   written to.  Returns 0, or -errno with nothing open. */
int outfile_create(struct outfile *file, const char *path, bool replace);

/* Appends complete units of `unit` bytes each.  If a write fails, the incomplete unit is
   removed, except from a pipe.  Returns 0 or file->error. */
int outfile_append(struct outfile *file, const void *bytes, size_t size, size_t unit);

/* Closes the file.  Returns 0 or the first error. */
int outfile_close(struct outfile *file);

#endif
