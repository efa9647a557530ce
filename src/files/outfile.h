/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file that is recorded into: whole units, or the first error. */
#ifndef MEMTOP_OUTFILE_H
#define MEMTOP_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outfile {
    int fd;
    int error;        /* -errno of the first failure; nothing is written after it */
    uint64_t written; /* bytes, whole units */
};

/* Creates path.  A file that exists is -EEXIST, or emptied if replace; a device or
   pipe is written to.  0, or -errno and nothing is open. */
int outfile_create(struct outfile *file, const char *path, bool replace);

/* Appends whole units of so many bytes; what was written of one that does not fit is
   taken back, except from a pipe.  0 or file->error. */
int outfile_append(struct outfile *file, const void *bytes, size_t size, size_t unit);

/* Closes.  0 or the first error. */
int outfile_close(struct outfile *file);

#endif
