/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A line that shows how much of a file has been read, on a terminal only, and only if
   reading takes a while. */
#ifndef MEMTOP_APP_PROGRESS_H
#define MEMTOP_APP_PROGRESS_H

#include <stdint.h>

struct progress {
    const char *path;
    int64_t since_ns; /* < 0: not a terminal */
    int shown;        /* percent; < 0: nothing shown yet */
};

void progress_begin(struct progress *progress, const char *path);

/* Shows that `done` of `all` is read (all 0: not known). context is the struct
   progress. */
void progress_tell(void *context, uint64_t done, uint64_t all);

/* Removes the line. */
void progress_end(const struct progress *progress);

#endif
